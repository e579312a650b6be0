// Decides which values stay in registers between their uses, and which are loaded again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimal/problem/operation_order.hpp"

namespace flashlab::optimal::detail {

struct PlacedLoads {
  std::string unknown;  // if not empty: why the order cannot be executed with these registers
  /// By gap: the event before which the value is loaded, or kNone if it stays throughout.
  std::vector<std::int32_t> load_before;
  /// By event, for pinned operands only: whether its result is in R0 or R1, where no factor
  /// needs to stay.
  std::vector<char> in_factor_seat;
  std::int64_t loads = 0;
};

/// Returns a placement with the fewest loads (see optimal/products/load_schedule.hpp). Empty
/// `registers`: as many as needed.
PlacedLoads place_loads(const OperationOrder& order, std::optional<std::int64_t> registers,
                        toy::OperandRule rule);

}  // namespace flashlab::optimal::detail
