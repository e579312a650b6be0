// Draws time over N. Markers are measured, with bars from the fastest to the slowest run. Lines are
// predicted: solid the prediction, dashed by the roofline.
#include <algorithm>
#include <array>

#include "compare/picture/pictures.hpp"
#include "compare/picture/series.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

constexpr double kTimeFrameHeight = 320;

/// The peers that measured the panel's calls.
std::vector<const PeerSeries*> peers_of(const Panel& panel, const std::vector<PeerSeries>& peers) {
  const Row& row = *panel.series[0].rows[0];
  std::vector<const PeerSeries*> result;
  for (const PeerSeries& peer : peers) {
    if (peer.pass == row.pass && peer.dtype == row.dtype && row.products == "native" &&
        peer.head_dim == row.head_dim && peer.is_causal == (row.mask != "none")) {
      result.push_back(&peer);
    }
  }
  return result;
}

picture::Frame time_frame(const Panel& panel, const std::vector<const PeerSeries*>& peers) {
  picture::Extent x, y;
  for (const Series& series : panel.series) {
    for (const Row* row : series.rows) {
      if (does_not_fit(*row)) continue;
      x.include(static_cast<double>(length_of(*row)));
      for (const double ms : {predicted_ms(row->predicted), row->predicted.roofline_ms,
                              measured_ms_of(*row).value_or(0)}) {
        y.include(ms);
      }
      if (measured_ms_of(*row)) {
        y.include(row->measured->least_ms.value_or(0));
        y.include(row->measured->most_ms.value_or(0));
      }
    }
  }
  if (x.is_empty() || y.is_empty()) return {{1, 1, 0, 0}, {}};
  for (const PeerSeries* peer : peers) {
    for (const auto& [length, ms] : peer->ms_at_length) {
      if (is_drawable(static_cast<double>(length)) && is_drawable(ms)) {
        x.include(static_cast<double>(length));
        y.include(ms);
      }
    }
  }
  return {
      {x.low() / 1.25, x.high() * 1.25, picture::kFrameLeft, picture::kFrameRight},
      {y.low() / 1.6, y.high() * 1.6, picture::kFrameTop + kTimeFrameHeight, picture::kFrameTop}};
}

std::vector<picture::Point> predicted_line(const picture::Frame& frame, const Series& series,
                                           double (*ms_of)(const Prediction&)) {
  std::vector<picture::Point> points;
  for (const Row* row : series.rows) {
    const double length = static_cast<double>(length_of(*row)), ms = ms_of(row->predicted);
    const bool has_time = !does_not_fit(*row);
    if (has_time && is_drawable(length) && is_drawable(ms)) points.push_back(frame.at(length, ms));
  }
  return points;
}

/// A single point is a short line, wider than its marker.
void draw_predicted(picture::Svg& svg, const std::vector<picture::Point>& points,
                    const std::string& classes) {
  constexpr double kHalf = 16;
  if (points.size() == 1) {
    const auto [x, y] = points[0];
    svg.line({x - kHalf, y}, {x + kHalf, y}, classes);
  }
  svg.polyline(points, classes);
}

void draw_measured(picture::Svg& svg, const picture::Frame& frame, const Series& series) {
  const std::string& colour = series.look.colour;
  for (const Row* row : series.rows) {
    const auto ms = measured_ms_of(*row);
    const auto length = static_cast<double>(length_of(*row));
    if (!ms || !is_drawable(length)) continue;
    const double least = row->measured->least_ms.value_or(*ms);
    const double most = row->measured->most_ms.value_or(*ms);
    if (is_drawable(least) && is_drawable(most)) {
      const picture::Point low = frame.at(length, least), high = frame.at(length, most);
      svg.line(low, high, "series " + colour);
      for (const picture::Point end : {low, high}) {
        svg.line({end.x - 4, end.y}, {end.x + 4, end.y}, "series " + colour);
      }
    }
    svg.marker(series.look.marker, frame.at(length, *ms), "filled " + colour);
  }
}

void draw_series(picture::Svg& svg, const picture::Frame& frame, const Series& series,
                 bool is_measured) {
  const std::string& colour = series.look.colour;
  const auto predicted = predicted_line(frame, series, predicted_ms);
  const auto roofline = [](const Prediction& p) { return p.roofline_ms; };
  draw_predicted(svg, predicted, "thin " + colour);
  draw_predicted(svg, predicted_line(frame, series, roofline), "thin dash " + colour);
  if (is_measured) {
    draw_measured(svg, frame, series);
  } else {
    for (const picture::Point& point : predicted)
      svg.marker(series.look.marker, point, "hollow " + colour);
  }
}

/// How a peer is drawn: hollow and broken, unlike the variants, and unlike the other peers.
struct PeerLook {
  picture::Marker marker = picture::Marker::kCircle;
  std::string hollow, line;
};

PeerLook look_of_peer(std::size_t index) {
  static const std::array<PeerLook, 4> kLooks = {
      {{picture::Marker::kCircle, "hollow c7", "series dot c7"},
       {picture::Marker::kSquare, "hollow c8", "series dashdot c8"},
       {picture::Marker::kDiamond, "hollow c9", "series dash c9"},
       {picture::Marker::kDown, "hollow c3", "series dot c3"}}};
  return kLooks[index % kLooks.size()];
}

void draw_peer(picture::Svg& svg, const picture::Frame& frame, const PeerSeries& peer,
               const PeerLook& look) {
  std::vector<picture::Point> points;
  for (const auto& [length, ms] : peer.ms_at_length) {
    if (is_drawable(static_cast<double>(length)) && is_drawable(ms)) {
      points.push_back(frame.at(static_cast<double>(length), ms));
    }
  }
  svg.polyline(points, look.line);
  for (const picture::Point& point : points) svg.marker(look.marker, point, look.hollow, 3);
}

std::vector<picture::LegendEntry> time_legend(const Panel& panel,
                                              const std::vector<const PeerSeries*>& peers,
                                              bool is_measured) {
  std::vector<picture::LegendEntry> entries;
  const std::string fill = is_measured ? "filled " : "hollow ";
  for (const Series& series : panel.series) {
    entries.push_back({series.look.marker, fill + series.look.colour, "", series.name});
  }
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const PeerLook look = look_of_peer(i);
    entries.push_back({look.marker, look.hollow, look.line, peers[i]->name});
  }
  entries.push_back({picture::Marker::kCircle, "", "thin c0", "predicted"});
  entries.push_back({picture::Marker::kCircle, "", "thin dash c0", "roofline"});
  return entries;
}

/// The fastest and the slowest series at the longest N that both have.
std::string time_description(const Panel& panel, bool is_measured) {
  const auto ms_of = [&](const Row& row) {
    return is_measured ? measured_ms_of(row).value_or(0) : predicted_ms_of(row);
  };
  const Row *fastest = nullptr, *slowest = nullptr;
  std::int64_t longest = 0;
  for (const Series& series : panel.series) {
    for (const Row* row : series.rows) {
      if (is_drawable(ms_of(*row))) longest = std::max(longest, length_of(*row));
    }
  }
  for (const Series& series : panel.series) {
    for (const Row* row : series.rows) {
      if (length_of(*row) != longest || !is_drawable(ms_of(*row))) continue;
      if (fastest == nullptr || ms_of(*row) < ms_of(*fastest)) fastest = row;
      if (slowest == nullptr || ms_of(*row) > ms_of(*slowest)) slowest = row;
    }
  }
  if (fastest == nullptr) return "No times.";
  std::string text = std::string(is_measured ? "Measured" : "Predicted; nothing was measured") +
                     ": at N " + std::to_string(longest) + ", " + fastest->variant + " takes " +
                     time_text(ms_of(*fastest));
  if (slowest != fastest) text += " and " + slowest->variant + " " + time_text(ms_of(*slowest));
  return text + ".";
}

}  // namespace

std::vector<Picture> draw_times(const Comparison& comparison,
                                const std::vector<PeerSeries>& all_peers) {
  std::vector<Picture> pictures;
  for (const Panel& panel : panels_of(comparison.rows, SplitBy::kDtype)) {
    const std::vector<const PeerSeries*> peers = peers_of(panel, all_peers);
    const picture::Frame frame = time_frame(panel, peers);
    if (frame.x.to <= frame.x.from) continue;  // nothing to draw
    const bool is_measured =
        std::any_of(panel.series.begin(), panel.series.end(), [](const Series& series) {
          return std::any_of(series.rows.begin(), series.rows.end(),
                             [](const Row* row) { return measured_ms_of(*row).has_value(); });
        });
    picture::Svg svg(picture::kPictureWidth);
    picture::draw_heading(svg, is_measured ? "Time over N" : "Time over N: predicted, not measured",
                          panel.text);
    picture::draw_frame(svg, frame, picture::length_ticks(frame.x),
                        picture::decade_ticks(frame.y, time_text), "N (1k is 1024)", "time");
    for (std::size_t i = 0; i < peers.size(); ++i)
      draw_peer(svg, frame, *peers[i], look_of_peer(i));
    for (const Series& series : panel.series) draw_series(svg, frame, series, is_measured);
    const double legend_top = frame.y.from + picture::kFrameFoot;
    const auto legend = time_legend(panel, peers, is_measured);
    const double height = legend_top + picture::draw_legend(svg, legend_top, legend) + 10;
    pictures.push_back(
        {PictureKind::kTime, "time_" + panel.name,
         svg.finish(height, "Time over N: " + panel.text, time_description(panel, is_measured))});
  }
  return pictures;
}

}  // namespace flashlab::compare
