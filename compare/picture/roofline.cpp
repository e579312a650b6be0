// Draws the roofline: the limits of memory and arithmetic units, and the place of each row.
//
// The y value of a row is its usual FLOPs (4 or 10 per visible pair and element of head_dim) over
// its time. The x value divides them by the bytes that it must move: filled markers use DRAM, every
// array once; hollow ones the kernel's traffic between L2 and the multiprocessors.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "compare/picture/pictures.hpp"
#include "compare/picture/roofs.hpp"
#include "compare/picture/series.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

struct Spot {
  double dram_x = 0, sm_x = 0, y = 0;  // 0: unknown
  const Row* row = nullptr;
};

struct Line {
  const Series* series = nullptr;
  std::vector<Spot> spots;
  std::string stroke;  // a class for each type; a variant looks the same in all types
};

Spot spot_of(const Row& row, bool is_measured) {
  const double ms = is_measured ? measured_ms_of(row).value_or(0) : predicted_ms_of(row);
  const auto flops = static_cast<double>(row.usual_flops);
  const double dram = bytes_of(row.work.dram), sm = row.work.sm ? bytes_of(*row.work.sm) : 0;
  if (!is_drawable(ms) || !is_drawable(flops)) return {};
  const auto over = [&](double bytes) { return is_drawable(bytes) ? flops / bytes : 0; };
  const bool is_other = sm > 1.1 * dram;  // otherwise the markers overlap
  return {over(dram), is_other ? over(sm) : 0, flops / (ms / 1e3), &row};
}

std::vector<Line> lines_of(const Panel& panel, bool is_measured) {
  constexpr std::array<const char*, 4> kStrokes = {"plain", "dash", "dot", "dashdot"};
  std::vector<Line> lines;
  std::vector<std::string> types;
  for (const Series& series : panel.series) {
    auto type = std::find(types.begin(), types.end(), series.dtype);
    if (type == types.end()) type = types.insert(types.end(), series.dtype);
    const auto index = static_cast<std::size_t>(type - types.begin());
    Line line{&series, {}, kStrokes[std::min(index, kStrokes.size() - 1)]};
    for (const Row* row : series.rows) {
      const Spot spot = spot_of(*row, is_measured);
      if (is_drawable(spot.y) && is_drawable(spot.dram_x)) line.spots.push_back(spot);
    }
    if (!line.spots.empty()) lines.push_back(line);
  }
  return lines;
}

picture::Frame roofline_frame(const std::vector<Line>& lines, const Roofs& roofs) {
  picture::Extent x, y;
  for (const Line& line : lines) {
    for (const Spot& spot : line.spots) {
      x.include(spot.dram_x);
      x.include(spot.sm_x);
      y.include(spot.y);
    }
  }
  for (const Roof& roof : roofs.products) y.include(roof.per_s);
  for (const Roof& memory : roofs.memories) {  // a segment of the diagonal left of its ridge
    for (const Roof& roof : roofs.products) x.include(roof.per_s / memory.per_s / 12);
  }
  constexpr double kFrameHeight = 330, kMargin = 1.7;
  const double headroom = kMargin + 0.6 * static_cast<double>(roofs.products.size());  // for labels
  return {{x.low() / kMargin, x.high() * kMargin, picture::kFrameLeft, picture::kFrameRight},
          {y.low() / kMargin, y.high() * headroom, picture::kFrameTop + kFrameHeight,
           picture::kFrameTop}};
}

std::vector<picture::Point> marker_places(const picture::Frame& frame,
                                          const std::vector<Line>& lines) {
  std::vector<picture::Point> places;
  for (const Line& line : lines) {
    for (const Spot& spot : line.spots) {
      places.push_back(frame.at(spot.dram_x, spot.y));
      if (is_drawable(spot.sm_x)) places.push_back(frame.at(spot.sm_x, spot.y));
    }
  }
  return places;
}

/// A roof's label ends at its place.
struct RoofLabel {
  picture::Point end;
  const Roof* roof = nullptr;
  bool is_short = false;  // only the name, left of the ridge; the legend has the rest
  std::string text() const { return is_short ? roof->name : roof->text("FLOP/s"); }
};

bool is_crossed(const RoofLabel& label, const std::vector<picture::Point>& markers) {
  constexpr double kHeight = 17, kBelow = 4;
  const double width = picture::wide_text_width(label.text());
  return std::any_of(markers.begin(), markers.end(), [&](const picture::Point& marker) {
    return marker.x > label.end.x - width && marker.y > label.end.y - kHeight &&
           marker.y < label.end.y + kBelow;
  });
}

/// Draws from the lowest roof up, so that labels of nearby roofs are placed above each other. A
/// label that would be crossed by markers stands left of the roof, where no row can be.
std::vector<RoofLabel> draw_products(picture::Svg& svg, const picture::Frame& frame,
                                     const Roofs& roofs,
                                     const std::vector<picture::Point>& markers) {
  constexpr double kLeftOfRidge = 10;
  std::vector<RoofLabel> labels;
  double highest = 1e9;
  for (auto roof = roofs.products.rbegin(); roof != roofs.products.rend(); ++roof) {
    const double fastest = roofs.memories.empty() ? 0 : roof->per_s / roofs.memories.back().per_s;
    const picture::Point from = frame.at(std::max(frame.x.low, fastest), roof->per_s);
    svg.line(from, frame.at(frame.x.high, roof->per_s), "roof");
    for (const Roof& memory : roofs.memories) {
      const double ridge = roof->per_s / memory.per_s;
      if (ridge > frame.x.low)
        svg.marker(picture::Marker::kDiamond, frame.at(ridge, roof->per_s), "ink", 4);
    }
    RoofLabel label{{picture::kFrameRight - 2, std::min(from.y - 7, highest)}, &*roof};
    const RoofLabel beside{{from.x - kLeftOfRidge, from.y}, &*roof, true};
    const double room = beside.end.x - frame.x.from;
    if (is_crossed(label, markers) && picture::wide_text_width(roof->name) < room) {
      label = beside;
    } else {
      highest = label.end.y - picture::kLineHeight;
    }
    svg.text(label.end, label.text(), "end halo");
    labels.push_back(label);
  }
  return labels;
}

/// The slower memory's line is solid, the faster one's dashed.
std::string memory_classes(std::size_t index) { return index == 0 ? "roof" : "roof dash"; }

void draw_memories(picture::Svg& svg, const picture::Frame& frame, const Roofs& roofs) {
  double top = 0;
  for (const Roof& roof : roofs.products) top = std::max(top, roof.per_s);
  if (top == 0) top = frame.y.high;
  for (std::size_t i = 0; i < roofs.memories.size(); ++i) {
    const double per_s = roofs.memories[i].per_s;
    const double first = std::max(frame.x.low, frame.y.low / per_s);
    const double last = std::min(frame.x.high, top / per_s);
    if (first >= last) continue;
    svg.line(frame.at(first, first * per_s), frame.at(last, last * per_s), memory_classes(i));
  }
}

void draw_line(picture::Svg& svg, const picture::Frame& frame, const Line& line) {
  const Look& look = line.series->look;
  std::vector<picture::Point> dram, sm;
  for (const Spot& spot : line.spots) {
    dram.push_back(frame.at(spot.dram_x, spot.y));
    if (is_drawable(spot.sm_x)) sm.push_back(frame.at(spot.sm_x, spot.y));
  }
  const std::string classes = "thin " + line.stroke + " " + look.colour;
  svg.polyline(sm, classes);
  svg.polyline(dram, classes);
  for (const picture::Point& point : sm) svg.marker(look.marker, point, "hollow " + look.colour);
  for (const picture::Point& point : dram) svg.marker(look.marker, point, "filled " + look.colour);
}

bool has_types(const std::vector<Line>& lines) {
  return std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
    return line.series->dtype != lines[0].series->dtype;
  });
}

/// Places that labels must avoid: markers, and the labels of roofs.
std::vector<picture::Point> taken_places(const std::vector<picture::Point>& markers,
                                         const std::vector<RoofLabel>& roof_labels) {
  std::vector<picture::Point> taken = markers;
  for (const RoofLabel& label : roof_labels) {
    const double width = picture::wide_text_width(label.text());
    for (double x = 0; x < width; x += picture::kLineHeight)
      taken.push_back({label.end.x - x, label.end.y - 6});
  }
  return taken;
}

/// Draws a label above or below the place. Returns false if both are taken.
bool draw_label(picture::Svg& svg, const picture::Frame& frame, picture::Point at,
                const std::string& text, std::vector<picture::Point>& taken) {
  constexpr double kAway = 17, kHeight = 15, kMarker = 6;
  const double half = picture::text_width(text) / 2;
  const double x = std::clamp(at.x, frame.x.from + half, frame.x.to - half);
  for (const double y : {at.y - kAway, at.y + kAway}) {
    const bool is_near = std::any_of(taken.begin(), taken.end(), [&](const picture::Point& other) {
      return std::fabs(other.x - x) < half + kMarker && std::fabs(other.y - y) < kHeight;
    });
    if (is_near || y > frame.y.from - 10 || y < frame.y.to + 10) continue;
    for (double part = -half; part <= half; part += kMarker) taken.push_back({x + part, y});
    svg.text({x, y + 5}, text, "soft halo middle");
    return true;
  }
  return false;
}

/// Labels both ends of a line with N. The far end also names the type if a panel has several.
void label_ends(picture::Svg& svg, const picture::Frame& frame, const std::vector<Line>& lines,
                std::vector<picture::Point> taken) {
  for (const Line& line : lines) {
    const Spot& first = line.spots.front();
    const Spot& last = line.spots.back();
    const picture::Point end = frame.at(last.dram_x, last.y);
    const std::string length = length_text(length_of(*last.row));
    if (!has_types(lines) ||
        !draw_label(svg, frame, end, line.series->dtype + " " + length, taken)) {
      draw_label(svg, frame, end, length, taken);
    }
    if (line.spots.size() == 1) continue;
    draw_label(svg, frame, frame.at(first.dram_x, first.y), length_text(length_of(*first.row)),
               taken);
  }
}

std::string roofline_description(const std::vector<Line>& lines, const Roofs& roofs,
                                 bool is_measured) {
  const Line* best = nullptr;
  const Spot* top = nullptr;
  for (const Line& line : lines) {
    for (const Spot& spot : line.spots) {
      if (top == nullptr || spot.y > top->y) top = &spot, best = &line;
    }
  }
  std::string text = "Fastest: " + best->series->name + " in " + best->series->dtype + " with " +
                     si_text(top->y, "FLOP/s") + (is_measured ? " measured" : " predicted") +
                     " at N " + std::to_string(length_of(*top->row));
  for (const Roof& roof : roofs.products) {
    if (roof.name != dtype_text(*top->row)) continue;
    text += ", " + percent_text(top->y / roof.per_s) + " of the roof of " + roof.text("FLOP/s");
  }
  return text + ".";
}

/// One marker for each variant, one stroke for each type.
std::vector<picture::LegendEntry> roofline_legend(const std::vector<Line>& lines,
                                                  const Roofs& roofs,
                                                  const std::vector<RoofLabel>& labels) {
  std::vector<picture::LegendEntry> entries;
  for (const Line& line : lines) {
    const Series& series = *line.series;
    const bool is_there =
        std::any_of(entries.begin(), entries.end(),
                    [&](const picture::LegendEntry& entry) { return entry.text == series.name; });
    if (!is_there) {
      entries.push_back({series.look.marker, "filled " + series.look.colour, "", series.name});
    }
  }
  std::set<std::string> strokes;
  for (const Line& line : lines) {
    if (!has_types(lines) || !strokes.insert(line.stroke).second) continue;
    entries.push_back({picture::Marker::kCircle, "", "thin c0 " + line.stroke, line.series->dtype});
  }
  entries.push_back({picture::Marker::kCircle, "filled c7", "", "over DRAM bytes"});
  entries.push_back(
      {picture::Marker::kCircle, "hollow c7", "", "over L2-to-SM bytes (where more)"});
  entries.push_back({picture::Marker::kDiamond, "ink", "", "ridge"});
  for (const RoofLabel& label : labels) {
    if (label.is_short)
      entries.push_back({picture::Marker::kCircle, "", "roof", label.roof->text("FLOP/s")});
  }
  for (std::size_t i = 0; i < roofs.memories.size(); ++i) {
    entries.push_back(
        {picture::Marker::kCircle, "", memory_classes(i), roofs.memories[i].text("B/s")});
  }
  return entries;
}

}  // namespace

std::vector<Picture> draw_rooflines(const Comparison& comparison, const MachineModel& machine) {
  std::vector<Picture> pictures;
  for (const Panel& panel : panels_of(comparison.rows, SplitBy::kWidth)) {
    std::vector<Line> lines = lines_of(panel, true);
    const bool is_measured = !lines.empty();
    if (!is_measured) lines = lines_of(panel, false);
    if (lines.empty()) continue;
    const Roofs roofs = roofs_of(panel, machine);
    const picture::Frame frame = roofline_frame(lines, roofs);
    const auto plain = [](double value) { return si_text(value, ""); };
    picture::Svg svg(picture::kPictureWidth);
    picture::draw_heading(svg,
                          "Roofline, " + (machine.gpu.name.empty() ? "GPU" : machine.gpu.name) +
                              (is_measured ? "" : ": predicted times"),
                          panel.text);
    picture::draw_frame(svg, frame, picture::decade_ticks(frame.x, ratio_text, 60),
                        picture::decade_ticks(frame.y, plain), "FLOP per byte", "FLOP/s");
    draw_memories(svg, frame, roofs);
    const std::vector<picture::Point> markers = marker_places(frame, lines);
    const std::vector<RoofLabel> labels = draw_products(svg, frame, roofs, markers);
    for (const Line& line : lines) draw_line(svg, frame, line);
    label_ends(svg, frame, lines, taken_places(markers, labels));
    const double legend_top = frame.y.from + picture::kFrameFoot;
    const double height =
        legend_top + picture::draw_legend(svg, legend_top, roofline_legend(lines, roofs, labels)) +
        10;
    pictures.push_back({PictureKind::kRoofline, "roofline_" + panel.name,
                        svg.finish(height, "Roofline: " + panel.text,
                                   roofline_description(lines, roofs, is_measured))});
  }
  return pictures;
}

}  // namespace flashlab::compare
