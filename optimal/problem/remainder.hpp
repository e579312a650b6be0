// What is left to pay from where a program stands.
#pragma once

#include <cstdint>

namespace flashlab::optimal {

/// The cost of the cheapest completion, or what is known of it.
struct Remainder {
  bool is_possible = true;  // false: proved that there is none
  bool is_proved = false;   // otherwise `cycles` is a lower bound
  std::int64_t cycles = 0;
  bool operator==(const Remainder&) const = default;
};

}  // namespace flashlab::optimal
