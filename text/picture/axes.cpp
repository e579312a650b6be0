#include "text/picture/axes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "text/numbers.hpp"

namespace flashlab::picture {
namespace {

constexpr double kTickGap = 8;     // between a label and the frame
constexpr double kTextRise = 5.5;  // from the middle of a line of text to its baseline

bool is_within(const Axis& axis, double value) {
  return value >= axis.low * 0.999 && value <= axis.high * 1.001;
}

}  // namespace

void Extent::include(double value) {
  if (!is_drawable(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

double Axis::at(double value) const {
  const double inside = std::isnan(value) ? low : std::clamp(value, low, high);
  if (scale == AxisScale::kLinear) return from + (to - from) * (inside - low) / (high - low);
  return from + (to - from) * std::log(inside / low) / std::log(high / low);
}

double Axis::decade() const { return std::fabs(to - from) / std::log10(high / low); }

std::vector<Tick> decade_ticks(const Axis& axis, const TickText& text, double room) {
  std::vector<Tick> ticks;
  const bool is_short = axis.decade() > 5 * room;
  const auto step = std::max(1, static_cast<int>(std::ceil(room / axis.decade())));
  const auto first = static_cast<int>(std::floor(std::log10(axis.low)));
  const auto last = static_cast<int>(std::ceil(std::log10(axis.high)));
  for (int power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, power);
      if ((factor > 1 && !is_short) || !is_within(axis, value)) continue;
      ticks.push_back({value, (power - first) % step == 0 ? text(value) : ""});
    }
  }
  return ticks;
}

std::vector<Tick> whole_ticks(const Axis& axis, double room) {
  const double unit = std::fabs(axis.to - axis.from) / (axis.high - axis.low);
  double step = 1;
  for (int i = 0; step * unit < room; ++i) step *= i % 3 == 1 ? 2.5 : 2;  // 1 2 5 10 20 50
  std::vector<Tick> ticks;
  for (double value = std::ceil(axis.low / step) * step; value <= axis.high; value += step) {
    ticks.push_back({value, std::to_string(std::llround(value))});
  }
  return ticks;
}

std::vector<Tick> length_ticks(const Axis& axis) {
  constexpr double kRoom = 44;  // for a label and a gap
  const double octave = axis.decade() * std::log10(2.0);
  const int step = std::max(1, static_cast<int>(std::ceil(kRoom / octave)));
  std::vector<Tick> ticks;
  int count = 0;
  for (double length = 16; length <= axis.high * 1.001 && length < 1e15; length *= 2) {
    if (!is_within(axis, length)) continue;
    ticks.push_back(
        {length, count++ % step == 0 ? length_text(static_cast<std::int64_t>(length)) : ""});
  }
  return ticks;
}

void draw_frame(Svg& svg, const Frame& frame, const std::vector<Tick>& x_ticks,
                const std::vector<Tick>& y_ticks, std::string_view x_name,
                std::string_view y_name) {
  const double left = frame.x.from, right = frame.x.to, bottom = frame.y.from, top = frame.y.to;
  for (const Tick& tick : x_ticks) {
    const double x = frame.x.at(tick.value);
    svg.line({x, top}, {x, bottom}, "grid");
    if (!tick.label.empty()) svg.text({x, bottom + kLineHeight - 2}, tick.label, "soft middle");
  }
  for (const Tick& tick : y_ticks) {
    const double y = frame.y.at(tick.value);
    svg.line({left, y}, {right, y}, "grid");
    if (!tick.label.empty()) svg.text({left - kTickGap, y + kTextRise}, tick.label, "soft end");
  }
  svg.line({left, bottom}, {right, bottom}, "ink");
  svg.text({right, bottom + 2 * kLineHeight - 2}, x_name, "soft end");
  svg.text({10, top - 12}, y_name, "soft");
}

void draw_heading(Svg& svg, std::string_view title, std::string_view subtitle) {
  svg.text({10, 22}, title, "strong");
  svg.text({10, 22 + kLineHeight}, subtitle, "soft");
}

double draw_legend(Svg& svg, double top, const std::vector<LegendEntry>& entries) {
  constexpr double kLeft = 10, kSwatch = 30, kGap = 18;
  double x = kLeft, y = top + kLineHeight / 2;
  for (const LegendEntry& entry : entries) {
    const double width = kSwatch + 6 + wide_text_width(entry.text);
    if (x > kLeft && x + width > svg.width() - kLeft) {
      x = kLeft;
      y += kLineHeight + 3;
    }
    if (!entry.line_classes.empty()) svg.line({x, y}, {x + kSwatch, y}, entry.line_classes);
    if (!entry.marker_classes.empty()) {
      svg.marker(entry.marker, {x + kSwatch / 2, y}, entry.marker_classes);
    }
    svg.text({x + kSwatch + 6, y + kTextRise}, entry.text);
    x += width + kGap;
  }
  return entries.empty() ? 0 : y - top + kLineHeight / 2;
}

}  // namespace flashlab::picture
