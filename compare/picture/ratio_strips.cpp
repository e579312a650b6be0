#include "compare/picture/ratio_strips.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

constexpr double kStripsTop = 64, kStripHeight = 52, kMostFactor = 16;

/// The axis covers all dots, but at most kMostFactor; dots beyond are placed at its end.
picture::Axis axis_of(const std::vector<RatioStrip>& strips, const RatioBand& band) {
  double factor = 1 + 2 * band.tolerance;
  for (const RatioStrip& strip : strips) {
    for (const double ratio : strip.ratios) {
      if (is_drawable(ratio)) factor = std::max(factor, 1.1 * std::max(ratio, 1 / ratio));
    }
  }
  factor = std::min(factor, kMostFactor);
  return {1 / factor, factor, 16, picture::kPictureWidth - 16};
}

std::vector<double> ticks_of(const picture::Axis& axis) {
  std::vector<double> ticks;
  if (axis.high > 2.2) {
    for (const double value : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) ticks.push_back(value);
  } else {
    for (const double value : {0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0}) {
      ticks.push_back(value);
    }
  }
  std::erase_if(ticks, [&](double value) { return value < axis.low || value > axis.high; });
  return ticks;
}

/// Places equal ratios beside each other, in as many lines as the strip has room for.
void draw_dots(picture::Svg& svg, const picture::Axis& axis, const RatioStrip& strip,
               double middle) {
  constexpr std::array<double, 5> kShift = {0, -8, 8, -4, 4};
  std::vector<double> ratios;
  for (const double ratio : strip.ratios) {
    if (is_drawable(ratio)) ratios.push_back(ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  std::size_t index = 0;
  for (const double ratio : ratios) {
    svg.marker(strip.look.marker, {axis.at(ratio), middle + kShift[index++ % kShift.size()]},
               "hollow " + strip.look.colour, 4);
  }
}

std::string share_text(const RatioStrip& strip, const RatioBand& band) {
  std::size_t all = 0, held = 0;
  for (const double ratio : strip.ratios) {
    all += is_drawable(ratio) ? 1 : 0;
    held += is_drawable(ratio) && band.holds(ratio) ? 1 : 0;
  }
  return std::to_string(held) + " of " + std::to_string(all);
}

}  // namespace

std::string draw_ratio_strips(const std::vector<RatioStrip>& all, const RatioBand& band,
                              const std::string& title, const std::string& subtitle,
                              const std::string& axis_name) {
  std::vector<RatioStrip> strips = all;
  std::erase_if(strips, [](const RatioStrip& strip) {
    return std::none_of(strip.ratios.begin(), strip.ratios.end(), is_drawable);
  });
  if (strips.empty()) return {};
  const picture::Axis axis = axis_of(strips, band);
  const double bottom = kStripsTop + kStripHeight * static_cast<double>(strips.size());
  const double low = axis.at(1 - band.tolerance), high = axis.at(1 + band.tolerance);
  picture::Svg svg(picture::kPictureWidth);
  picture::draw_heading(svg, title, subtitle);
  svg.rect({low, kStripsTop}, high - low, bottom - kStripsTop, "band");
  double last_label = -100;
  for (const double value : ticks_of(axis)) {
    const double x = axis.at(value);
    svg.line({x, kStripsTop}, {x, bottom}, value == 1 ? "ink" : "grid");
    if (x - last_label < 36) continue;
    last_label = x;
    svg.text({x, bottom + picture::kLineHeight - 2}, ratio_text(value), "soft middle");
  }
  std::string description = "Within " + percent_text(band.tolerance);
  const char* separator = ": ";
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const double top = kStripsTop + kStripHeight * static_cast<double>(i);
    const std::string share = share_text(strips[i], band);
    svg.line({axis.from, top + kStripHeight}, {axis.to, top + kStripHeight}, "grid");
    svg.text({axis.from, top + 17}, strips[i].name, "halo");
    svg.text({axis.to, top + 17}, share + " inside", "soft end halo");
    draw_dots(svg, axis, strips[i], top + 34);
    description += separator + strips[i].name + " " + share;
    separator = ", ";
  }
  svg.text({axis.to, bottom + 2 * picture::kLineHeight - 2}, axis_name, "soft end");
  return svg.finish(bottom + 2 * picture::kLineHeight + 8, title, description + ".");
}

}  // namespace flashlab::compare
