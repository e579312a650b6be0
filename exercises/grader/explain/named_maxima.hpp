// Two formulas with a letter for each maximum in them, so that there is room for what differs.
#pragma once

#include <string>

namespace flashlab::exercises {

struct NamedMaxima {
  std::string one, other;
  std::string where;  // "m = max(x[0], x[1])"; empty: nothing was named
};

/// Names the maxima in formulas as "e^(x[0] - max(x[0], x[1]))": m, or m and m'. Leaves formulas with more maxima, and
/// with an array m, as they are.
NamedMaxima name_maxima(const std::string& one, const std::string& other);

}  // namespace flashlab::exercises
