// Which values stay in registers between their uses, and which are loaded again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimal/problem/operation_order.hpp"

namespace flashlab::optimal::detail {

struct PlacedLoads {
  std::string unknown;  // the order cannot be executed with this many registers
  /// By gap: the event before which the value is loaded; kNone when it stays throughout.
  std::vector<std::int32_t> load_before;
  /// By event, pinned operands only: its result stands in R0 or R1, which no factor that stays
  /// needs.
  std::vector<char> in_factor_seat;
  std::int64_t loads = 0;
};

/// The fewest loads; see optimal/products/load_schedule.hpp. No `registers`: as many as are wanted.
PlacedLoads place_loads(const OperationOrder& order, std::optional<std::int64_t> registers,
                        toy::OperandRule rule);

}  // namespace flashlab::optimal::detail
