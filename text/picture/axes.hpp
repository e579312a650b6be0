// Axes, and the frame of a picture with two of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/picture/svg.hpp"

namespace flashlab::picture {

inline constexpr double kLineHeight = 21;  // of text, in the picture's units

/// The smallest and largest positive values that were included.
class Extent {
 public:
  void include(double value);
  bool is_empty() const { return !(low_ <= high_); }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_ = 1e300, high_ = 0;
};

enum class AxisScale : std::uint8_t { kLogarithmic, kLinear };

/// Maps values to a range of the picture. Values outside are placed at its ends. A logarithmic axis
/// takes values above zero.
struct Axis {
  double low = 1, high = 10;
  double from = 0, to = 1;  // positions of low and high, in the picture's units
  AxisScale scale = AxisScale::kLogarithmic;
  double at(double value) const;
  /// Returns the length of a factor of ten on a logarithmic axis, in the picture's units.
  double decade() const;
};

struct Tick {
  double value = 0;
  std::string label;  // empty: only a line
};

using TickText = std::function<std::string(double)>;

/// Returns powers of ten; on a short axis also 2 and 5; on a long axis only some. `room`: length of
/// a label along the axis, in the picture's units.
std::vector<Tick> decade_ticks(const Axis& axis, const TickText& text,
                               double room = kLineHeight + 7);
/// Returns integers on a linear axis, in steps of 1, 2, 5, 10, ...: as many labels as fit.
std::vector<Tick> whole_ticks(const Axis& axis, double room = kLineHeight + 7);
/// Returns powers of two from 16 on, as many as their labels ("4k") fit.
std::vector<Tick> length_ticks(const Axis& axis);

struct Frame {
  Axis x, y;
  Point at(double x_value, double y_value) const { return {x.at(x_value), y.at(y_value)}; }
};

inline constexpr double kPictureWidth = 480;
/// Room around the frame.
inline constexpr double kFrameLeft = 74, kFrameRight = kPictureWidth - 14, kFrameTop = 84;

/// Draws the grid, its labels and the names of the axes: y's above the frame, x's below it.
void draw_frame(Svg& svg, const Frame& frame, const std::vector<Tick>& x_ticks,
                const std::vector<Tick>& y_ticks, std::string_view x_name, std::string_view y_name);
/// Height of the text that draw_frame() writes below the frame.
inline constexpr double kFrameFoot = 2 * kLineHeight + 6;

/// Draws two lines at the top of the picture.
void draw_heading(Svg& svg, std::string_view title, std::string_view subtitle);

struct LegendEntry {
  Marker marker = Marker::kCircle;
  std::string marker_classes;  // empty: no marker
  std::string line_classes;    // empty: no line
  std::string text;
};

/// Draws the legend in rows from `top` on. Returns its height.
double draw_legend(Svg& svg, double top, const std::vector<LegendEntry>& entries);

}  // namespace flashlab::picture
