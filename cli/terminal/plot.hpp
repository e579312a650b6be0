// Draws a plot in the terminal: braille lines if it supports them, otherwise plain letters.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by ascending x
};

struct PlotOptions {
  std::string x_label;
  std::size_t height = 16;  // lines of the drawing alone
  bool log_x = false;       // needs positive values; otherwise the axis is linear
  bool log_y = false;
};

/// Draws points with marks, joined by straight lines, axes with round numbers, and a legend if
/// there are several series. Skips series without points.
std::string plot(const std::vector<Series>& series, const PlotOptions& options,
                 const Terminal& terminal);

/// Returns whether the values grow by factors rather than by steps, so that a logarithmic
/// axis is better.
bool looks_geometric(const std::vector<double>& values);

/// Returns "950", "12k", "3.4M", "2e+21": short labels for an axis.
std::string short_number(double value);

}  // namespace flashlab::cli
