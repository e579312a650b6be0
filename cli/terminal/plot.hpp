// A plot in the terminal: braille lines where it can show them, plain letters otherwise.
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
  std::size_t height = 16;  // lines of the drawing itself
  bool log_x = false;       // logarithmic axes need positive values; otherwise they stay linear
  bool log_y = false;
};

/// Points joined by straight lines on the screen, a mark on each point, axes with round numbers,
/// and a legend when there are several series. Series with no point are left out.
std::string plot(const std::vector<Series>& series, const PlotOptions& options,
                 const Terminal& terminal);

/// True when the values grow by factors rather than by steps: a logarithmic axis shows them better.
bool looks_geometric(const std::vector<double>& values);

/// "950", "12k", "3.4M", "2e+21": short enough for an axis.
std::string short_number(double value);

}  // namespace flashlab::cli
