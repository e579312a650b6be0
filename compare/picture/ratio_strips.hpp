// Draws ratios as dots on strips, one below the other, with the band of accepted ratios.
#pragma once

#include <string>
#include <vector>

#include "compare/picture/series.hpp"

namespace flashlab::compare {

struct RatioStrip {
  std::string name;
  Look look;
  std::vector<double> ratios;  // values that do not fit an axis are left out
};

/// The accepted distance of a ratio from 1: 0.25 means from 0.75 to 1.25.
struct RatioBand {
  double tolerance = 0.25;
  bool holds(double ratio) const { return ratio >= 1 - tolerance && ratio <= 1 + tolerance; }
};

/// Draws a whole picture. Returns an empty text if there are no dots.
std::string draw_ratio_strips(const std::vector<RatioStrip>& strips, const RatioBand& band,
                              const std::string& title, const std::string& subtitle,
                              const std::string& axis_name);

}  // namespace flashlab::compare
