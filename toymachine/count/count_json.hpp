// Counts in JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "toymachine/count/counters.hpp"

namespace flashlab::toy {

/// Returns a number, or a string of digits beyond 2^53, so that every JSON reader keeps it exactly.
inline nlohmann::ordered_json count_json(const Count& count) {
  static const Count kLargest = Count(1) << 53;
  if (abs(count) > kLargest) return count.get_str();
  return static_cast<std::int64_t>(count.get_si());
}

}  // namespace flashlab::toy
