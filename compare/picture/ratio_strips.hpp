// Ratios as dots on strips, one under the other, and the band that they should be in.
#pragma once

#include <string>
#include <vector>

#include "compare/picture/series.hpp"

namespace flashlab::compare {

struct RatioStrip {
  std::string name;
  Look look;
  std::vector<double> ratios;  // those that no axis takes are left out
};

/// How far from 1 a ratio may be: 0.25 is from 0.75 to 1.25.
struct RatioBand {
  double tolerance = 0.25;
  bool holds(double ratio) const { return ratio >= 1 - tolerance && ratio <= 1 + tolerance; }
};

/// A whole picture. No strip, or none with a dot: empty.
std::string draw_ratio_strips(const std::vector<RatioStrip>& strips, const RatioBand& band,
                              const std::string& title, const std::string& subtitle,
                              const std::string& axis_name);

}  // namespace flashlab::compare
