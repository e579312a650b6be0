// Points as they are shown, written and added up.
#pragma once

#include <cmath>

namespace flashlab::exercises {

/// Rounds points to hundredths, so that every report and the screen say the same. Less than `most` stays
/// less.
inline double rounded_points(double points, double most) {
  const double rounded = std::round(points * 100 + 1e-7) / 100;  // 12.555 is a little less
  return points < most && rounded >= most ? std::ceil(most * 100 - 1) / 100 : rounded;
}

}  // namespace flashlab::exercises
