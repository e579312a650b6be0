// Draws bytes counted by the toy machine against bytes counted by the hardware.
#include <algorithm>

#include "compare/picture/pictures.hpp"
#include "compare/picture/ratio_strips.hpp"
#include "compare/picture/series.hpp"
#include "compare/rows/sweep.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

constexpr RatioBand kBand{kCloseBytes};

using SomePairs = std::vector<std::pair<const Row*, BytePair>>;

struct Pairs {
  SomePairs dram, sm;
};

Pairs pairs_of(const Comparison& comparison) {
  Pairs pairs;
  for (const Row& row : comparison.rows) {
    if (const auto pair = dram_pair(row)) pairs.dram.emplace_back(&row, *pair);
    if (const auto pair = sm_pair(row)) pairs.sm.emplace_back(&row, *pair);
  }
  return pairs;
}

void draw_diagonal(picture::Svg& svg, const picture::Frame& frame) {
  const double low = std::max(frame.x.low, frame.y.low);
  const double high = std::min(frame.x.high, frame.y.high);
  svg.line(frame.at(low, low), frame.at(high, high), "ink");
  for (const double factor : {1 - kBand.tolerance, 1 + kBand.tolerance}) {
    const double first = low * std::max(1.0, 1 / factor), last = high / std::max(1.0, factor);
    svg.line(frame.at(first, first * factor), frame.at(last, last * factor), "grid");
  }
}

Picture draw_scatter(const Comparison& comparison, const Pairs& pairs) {
  picture::Extent both;
  for (const auto* some : {&pairs.dram, &pairs.sm}) {
    for (const auto& [row, pair] : *some) {
      both.include(pair.counted);
      both.include(pair.measured);
    }
  }
  const double low = both.low() / 2, high = both.high() * 2;
  const picture::Frame frame{{low, high, picture::kFrameLeft, picture::kFrameRight},
                             {low, high, picture::kFrameTop + 380, picture::kFrameTop}};
  picture::Svg svg(picture::kPictureWidth);
  picture::draw_heading(svg, "Bytes: counted against measured",
                        "the line: equal; beside it: 5 % more or less");
  picture::draw_frame(svg, frame, picture::decade_ticks(frame.x, bytes_text, 76),
                      picture::decade_ticks(frame.y, bytes_text), "counted on the toy machine",
                      "measured by the hardware");
  draw_diagonal(svg, frame);
  for (const auto& [row, pair] : pairs.dram) {
    const Look look = look_of(row->variant);
    svg.marker(look.marker, frame.at(pair.counted, pair.measured), "filled " + look.colour, 4);
  }
  for (const auto& [row, pair] : pairs.sm) {
    const Look look = look_of(row->variant);
    svg.marker(look.marker, frame.at(pair.counted, pair.measured), "hollow " + look.colour);
  }
  std::vector<picture::LegendEntry> legend;
  for (const std::string& name : variants_of(comparison)) {
    const Look look = look_of(name);
    legend.push_back({look.marker, "filled " + look.colour, "", name});
  }
  legend.push_back({picture::Marker::kCircle, "filled c7", "", "DRAM"});
  legend.push_back({picture::Marker::kCircle, "hollow c7", "", "L2 to SM"});
  const double legend_top = frame.y.from + picture::kFrameFoot;
  const double height = legend_top + picture::draw_legend(svg, legend_top, legend) + 10;
  const auto held = std::count_if(pairs.sm.begin(), pairs.sm.end(), [](const auto& entry) {
    return kBand.holds(entry.second.ratio());
  });
  return {PictureKind::kBytes, "bytes",
          svg.finish(height, "Bytes counted against bytes measured",
                     "Between L2 and the multiprocessors, " + std::to_string(held) + " of " +
                         std::to_string(pairs.sm.size()) +
                         " rows are counted within 5 % of what was measured.")};
}

/// Draws a picture for each boundary, because ratios at DRAM have a wider range.
void add_ratios(std::vector<Picture>& pictures, const Comparison& comparison,
                const SomePairs& pairs, const std::string& boundary, const std::string& name) {
  std::vector<RatioStrip> strips;
  for (const std::string& variant : variants_of(comparison)) {
    strips.push_back({variant, look_of(variant), {}});
    for (const auto& [row, pair] : pairs) {
      if (row->variant == variant) strips.back().ratios.push_back(pair.ratio());
    }
  }
  std::string svg =
      draw_ratio_strips(strips, kBand, "Bytes, " + boundary + ": counted over measured",
                        "one marker per row; the band: 5 % more or less", "counted / measured");
  if (!svg.empty()) pictures.push_back({PictureKind::kBytes, name, std::move(svg)});
}

}  // namespace

std::vector<Picture> draw_bytes(const Comparison& comparison) {
  const Pairs pairs = pairs_of(comparison);
  if (pairs.dram.empty() && pairs.sm.empty()) return {};
  std::vector<Picture> pictures = {draw_scatter(comparison, pairs)};
  add_ratios(pictures, comparison, pairs.sm, "L2 to SM", "byte_ratios_sm");
  add_ratios(pictures, comparison, pairs.dram, "DRAM", "byte_ratios_dram");
  return pictures;
}

}  // namespace flashlab::compare
