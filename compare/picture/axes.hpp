// Axes, and the frame of a picture that stands between two of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/picture/svg.hpp"

namespace flashlab::compare {

inline constexpr double kLineHeight = 21;  // of text, in the picture's units

/// The smallest and largest of what was seen, of values that a logarithm takes.
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

/// Values onto a stretch of the picture; what lies outside lands on the ends. A logarithmic one
/// takes values above zero.
struct Axis {
  double low = 1, high = 10;
  double from = 0, to = 1;  // where low and high are, in the picture's units
  AxisScale scale = AxisScale::kLogarithmic;
  double at(double value) const;
  /// Units of the picture that a factor of ten takes: of a logarithmic axis.
  double decade() const;
};

struct Tick {
  double value = 0;
  std::string label;  // empty: a line only
};

using TickText = std::function<std::string(double)>;

/// Powers of ten; of a short axis 2 and 5 as well; of a long one not all.
/// room: what a label takes along the axis, in the picture's units
std::vector<Tick> decade_ticks(const Axis& axis, const TickText& text,
                               double room = kLineHeight + 7);
/// Whole numbers of a linear axis, at steps of 1, 2, 5, 10, ...: as many labels as there is room
/// for.
std::vector<Tick> whole_ticks(const Axis& axis, double room = kLineHeight + 7);
/// Powers of two from 16 on, with room for their labels ("4k").
std::vector<Tick> length_ticks(const Axis& axis);

struct Frame {
  Axis x, y;
  Point at(double x_value, double y_value) const { return {x.at(x_value), y.at(y_value)}; }
};

inline constexpr double kPictureWidth = 480;
/// Room around the frame.
inline constexpr double kFrameLeft = 74, kFrameRight = kPictureWidth - 14, kFrameTop = 84;

/// Lines of the grid and their labels; the axes' names: y's above the frame, x's below it.
void draw_frame(Svg& svg, const Frame& frame, const std::vector<Tick>& x_ticks,
                const std::vector<Tick>& y_ticks, std::string_view x_name, std::string_view y_name);
/// How far below the frame draw_frame() writes.
inline constexpr double kFrameFoot = 2 * kLineHeight + 6;

/// Two lines on top of the picture.
void draw_heading(Svg& svg, std::string_view title, std::string_view subtitle);

struct LegendEntry {
  Marker marker = Marker::kCircle;
  std::string marker_classes;  // empty: no marker
  std::string line_classes;    // empty: no line
  std::string text;
};

/// In rows from `top` on; how high it is.
double draw_legend(Svg& svg, double top, const std::vector<LegendEntry>& entries);

}  // namespace flashlab::compare
