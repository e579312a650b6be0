// Points: rounded down to tenths, and added without the digits that doubles add.
#pragma once

#include <algorithm>
#include <cmath>

namespace flashlab::exercises {

/// Returns all of `most` for full marks. Rounds all other points down to tenths, below `most`, so that
/// nobody reads 10 of 10 without full marks. Everything that states points states these.
inline double rounded_points(double points, double most, bool is_full) {
  // A sum of a thousand doubles is off by less than this part of itself: 3 * 0.1 is 0.3. It gives at most
  // 1e-12 of its points to somebody who is that close to the next tenth.
  constexpr double kError = 1e-12;
  if (is_full) return most;
  const double tenths = std::floor(points * 10 * (1 + kError));
  const double below_most = std::ceil(most * 10 * (1 - kError)) - 1;
  return std::max(0.0, std::min(tenths, below_most)) / 10;
}

/// Returns the sum of points as they would be added by hand: 0.1 + 0.2 is 0.3, and no double close to it.
inline double added_points(double a, double b) {
  constexpr double kParts = 1e6;  // of a point: finer than the points of any exercise
  return std::round((a + b) * kParts) / kParts;
}

}  // namespace flashlab::exercises
