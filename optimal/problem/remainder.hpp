// The cost that remains for a partly executed program.
#pragma once

#include <cstdint>

namespace flashlab::optimal {

/// The cost of the cheapest completion (the rest of a program), or a lower bound on this cost.
struct Remainder {
  bool is_possible = true;  // false: proved that no completion exists
  bool is_proved = false;   // false: `cycles` is a lower bound
  std::int64_t cycles = 0;
  bool operator==(const Remainder&) const = default;
};

}  // namespace flashlab::optimal
