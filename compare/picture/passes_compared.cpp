// Compares the backward pass in one pass with atomic additions to the one in two passes.
#include <algorithm>
#include <map>

#include "compare/picture/pictures.hpp"
#include "compare/picture/series.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

constexpr std::string_view kOnePass = "bwd-onepass", kTwoPass = "bwd-twopass";
constexpr double kTimesHeight = 240, kGapAboveRatio = 50, kRatioHeight = 110;

struct Times {
  double one_ms = 0, two_ms = 0;
  double ratio() const { return two_ms / one_ms; }
};

/// Times by N, where both passes are known: measured or predicted.
std::map<std::int64_t, Times> times_of(const Panel& panel, bool is_measured) {
  std::map<std::int64_t, Times> times;
  for (const Series& series : panel.series) {
    for (const Row* row : series.rows) {
      const double ms = is_measured ? measured_ms_of(*row).value_or(0) : predicted_ms_of(*row);
      if (!is_drawable(ms) || length_of(*row) <= 0) continue;
      if (row->variant == kOnePass) times[length_of(*row)].one_ms = ms;
      if (row->variant == kTwoPass) times[length_of(*row)].two_ms = ms;
    }
  }
  std::erase_if(times, [](const auto& entry) {
    return !is_drawable(entry.second.one_ms) || !is_drawable(entry.second.two_ms);
  });
  return times;
}

struct Frames {
  picture::Frame times, ratios;
};

Frames frames_of(const std::map<std::int64_t, Times>& all) {
  picture::Extent x, ms, ratio;
  ratio.include(1);
  for (const auto& [length, times] : all) {
    x.include(static_cast<double>(length));
    ms.include(times.one_ms);
    ms.include(times.two_ms);
    ratio.include(times.ratio());
  }
  const picture::Axis lengths{x.low() / 1.35, x.high() * 1.35, picture::kFrameLeft,
                              picture::kFrameRight};
  const double middle = picture::kFrameTop + kTimesHeight,
               bottom = middle + kGapAboveRatio + kRatioHeight;
  return {{lengths, {ms.low() / 1.6, ms.high() * 1.6, middle, picture::kFrameTop}},
          {lengths, {ratio.low() / 1.5, ratio.high() * 1.5, bottom, bottom - kRatioHeight}}};
}

void draw_pairs(picture::Svg& svg, const Frames& frames, const std::map<std::int64_t, Times>& all,
                const std::string& fill) {
  const Look one = look_of(std::string(kOnePass)), two = look_of(std::string(kTwoPass));
  std::vector<picture::Point> one_points, two_points;
  const double equal = frames.ratios.y.at(1);
  svg.line({frames.ratios.x.from, equal}, {frames.ratios.x.to, equal}, "ink");
  for (const auto& [length, times] : all) {
    const auto x = static_cast<double>(length);
    one_points.push_back(frames.times.at(x, times.one_ms));
    two_points.push_back(frames.times.at(x, times.two_ms));
    const picture::Point ratio = frames.ratios.at(x, times.ratio());
    svg.line(frames.ratios.at(x, 1), ratio, "series " + two.colour);
    svg.marker(picture::Marker::kCircle, ratio, "filled " + two.colour, 4);
    svg.text({ratio.x, ratio.y + (times.ratio() < 1 ? 20 : -9)}, ratio_text(times.ratio()),
             "halo middle");
  }
  svg.polyline(one_points, "thin " + one.colour);
  svg.polyline(two_points, "thin dash " + two.colour);
  for (const picture::Point& point : one_points) svg.marker(one.marker, point, fill + one.colour);
  for (const picture::Point& point : two_points) svg.marker(two.marker, point, fill + two.colour);
}

std::string passes_description(const std::map<std::int64_t, Times>& all, bool is_measured) {
  const auto& [length, times] = *all.rbegin();
  return std::string(is_measured ? "Measured" : "Predicted; nothing was measured") + ": at N " +
         std::to_string(length) + " one pass takes " + time_text(times.one_ms) +
         " and two passes take " + time_text(times.two_ms) + ", " + ratio_text(times.ratio()) +
         " times as long.";
}

}  // namespace

std::vector<Picture> draw_passes(const Comparison& comparison) {
  std::vector<Picture> pictures;
  for (const Panel& panel : panels_of(comparison.rows, SplitBy::kDtype)) {
    std::map<std::int64_t, Times> all = times_of(panel, true);
    const bool is_measured = !all.empty();
    if (!is_measured) all = times_of(panel, false);
    if (all.empty()) continue;
    const Frames frames = frames_of(all);
    const std::string fill = is_measured ? "filled " : "hollow ";
    const Look one = look_of(std::string(kOnePass)), two = look_of(std::string(kTwoPass));
    picture::Svg svg(picture::kPictureWidth);
    picture::draw_heading(
        svg, is_measured ? "One pass against two" : "One pass against two: predicted", panel.text);
    picture::draw_frame(svg, frames.times, picture::length_ticks(frames.times.x),
                        picture::decade_ticks(frames.times.y, time_text), "", "time");
    picture::draw_frame(svg, frames.ratios, picture::length_ticks(frames.ratios.x), {{1, "1"}},
                        "N (1k is 1024)", "two passes / one pass");
    draw_pairs(svg, frames, all, fill);
    const double legend_top = frames.ratios.y.from + picture::kFrameFoot;
    const std::vector<picture::LegendEntry> legend = {
        {one.marker, fill + one.colour, "thin " + one.colour, std::string(kOnePass)},
        {two.marker, fill + two.colour, "thin dash " + two.colour, std::string(kTwoPass)}};
    const double height = legend_top + picture::draw_legend(svg, legend_top, legend) + 10;
    pictures.push_back({PictureKind::kPasses, "passes_" + panel.name,
                        svg.finish(height, "One pass against two: " + panel.text,
                                   passes_description(all, is_measured))});
  }
  return pictures;
}

}  // namespace flashlab::compare
