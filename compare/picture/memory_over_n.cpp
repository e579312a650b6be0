// Draws memory over N: tensors and workspace; and for one N as areas to scale.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "compare/picture/pictures.hpp"
#include "compare/picture/series.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

/// Variants that store n x n several times, fewer times, and never.
constexpr std::array<std::string_view, 3> kShown = {"naive", "fused-softmax", "flash2"};

double memory_of(const Row& row) {
  return static_cast<double>(row.tensor_bytes) + static_cast<double>(row.workspace_bytes);
}

bool is_row_shown(const Row& row) {
  return std::find(kShown.begin(), kShown.end(), row.variant) != kShown.end() &&
         is_drawable(memory_of(row)) && row.tensor_bytes >= 0 && row.workspace_bytes >= 0 &&
         length_of(row) > 0;
}

std::vector<Series> memory_series_of(const Panel& panel) {
  std::vector<Series> result;
  for (Series series : panel.series) {
    std::erase_if(series.rows, [](const Row* row) { return !is_row_shown(*row); });
    if (!series.rows.empty()) result.push_back(std::move(series));
  }
  return result;
}

/// Masks do not change memory, so equal lines are drawn only once.
std::string fingerprint(const std::vector<Series>& all) {
  std::string text;
  for (const Series& series : all) {
    text += series.name;
    for (const Row* row : series.rows) {
      text += " " + std::to_string(length_of(*row)) + ":" + bytes_text(memory_of(*row));
    }
  }
  return text;
}

Picture draw_lines(const Panel& panel, const std::vector<Series>& all) {
  picture::Extent x, y;
  for (const Series& series : all) {
    for (const Row* row : series.rows) {
      x.include(static_cast<double>(length_of(*row)));
      y.include(memory_of(*row));
    }
  }
  const picture::Frame frame{
      {x.low() / 1.25, x.high() * 1.25, picture::kFrameLeft, picture::kFrameRight},
      {y.low() / 1.6, y.high() * 1.6, picture::kFrameTop + 280, picture::kFrameTop}};
  picture::Svg svg(picture::kPictureWidth);
  picture::draw_heading(svg, "Memory over N: tensors and workspace", panel.text);
  picture::draw_frame(svg, frame, picture::length_ticks(frame.x),
                      picture::decade_ticks(frame.y, bytes_text), "N (1k is 1024)", "memory");
  std::vector<picture::LegendEntry> legend;
  std::string description;
  double radius = picture::kMarkerRadius + 3;  // decreasing: equal markers appear as rings
  for (const Series& series : all) {
    std::vector<picture::Point> points;
    for (const Row* row : series.rows) {
      points.push_back(frame.at(static_cast<double>(length_of(*row)), memory_of(*row)));
    }
    svg.polyline(points, "series " + series.look.colour);
    for (const picture::Point& point : points) {
      svg.marker(series.look.marker, point, "filled " + series.look.colour, radius);
    }
    radius = std::max(3.0, radius - 3);
    legend.push_back({series.look.marker, "filled " + series.look.colour,
                      "series " + series.look.colour, series.name});
    const Row& last = *series.rows.back();
    description += (description.empty() ? "" : "; ") + series.name + " takes " +
                   bytes_text(memory_of(last)) + " at N " + std::to_string(length_of(last));
  }
  const double legend_top = frame.y.from + picture::kFrameFoot;
  const double height = legend_top + picture::draw_legend(svg, legend_top, legend) + 10;
  return {PictureKind::kMemory, "memory_" + panel.name,
          svg.finish(height, "Memory over N: " + panel.text, description + ".")};
}

/// The longest N that all series have; 0: none.
std::int64_t shared_length(const std::vector<Series>& all) {
  std::set<std::int64_t> lengths;
  for (const Row* row : all[0].rows) lengths.insert(length_of(*row));
  std::erase_if(lengths, [&](std::int64_t length) {
    return !std::all_of(all.begin(), all.end(), [&](const Series& series) {
      return std::any_of(series.rows.begin(), series.rows.end(),
                         [&](const Row* row) { return length_of(*row) == length; });
    });
  });
  return lengths.empty() ? 0 : *lengths.rbegin();
}

struct Square {
  std::string name, colour;
  double bytes = 0;
};

std::vector<Square> squares_at(const std::vector<Series>& all, std::int64_t length) {
  std::vector<Square> squares;
  for (const Series& series : all) {
    for (const Row* row : series.rows) {
      if (length_of(*row) != length) continue;
      squares.push_back({series.name, series.look.colour, memory_of(*row)});
      break;
    }
  }
  return squares;
}

/// Draws squares with areas proportional to the bytes, side by side.
Picture draw_areas(const Panel& panel, const std::vector<Square>& squares, std::int64_t length) {
  constexpr double kGap = 14, kLeft = 10, kTop = 62;
  double sides = 0, most = 0;
  for (const Square& square : squares) {
    sides += std::sqrt(square.bytes);
    most = std::max(most, square.bytes);
  }
  const double room =
      picture::kPictureWidth - 2 * kLeft - kGap * static_cast<double>(squares.size() - 1);
  const double scale = std::min(room / sides, 220 / std::sqrt(most));
  const double bottom = kTop + scale * std::sqrt(most);
  picture::Svg svg(picture::kPictureWidth);
  picture::draw_heading(
      svg, "Memory at N " + std::to_string(length) + ", areas to scale",
      panel.text + ", from left to right as listed");  // without colour they look alike
  double x = kLeft, y = bottom + picture::kLineHeight + 4;
  std::string description;
  for (const Square& square : squares) {
    const double side = scale * std::sqrt(square.bytes);
    svg.rect({x, bottom - side}, side, side, "filled " + square.colour);
    svg.rect({kLeft, y - 12}, 12, 12, "filled " + square.colour);
    const std::string text = square.name + ": " + bytes_text(square.bytes);
    svg.text({kLeft + 22, y},
             text + (square.bytes < most ? ", 1/" + ratio_text(most / square.bytes) : ""));
    description += (description.empty() ? "" : "; ") + text;
    x += side + kGap;
    y += picture::kLineHeight + 3;
  }
  return {PictureKind::kMemory, "memory_to_scale_" + panel.name,
          svg.finish(y - 6, "Memory at N " + std::to_string(length) + ", to scale: " + panel.text,
                     description + ".")};
}

}  // namespace

std::vector<Picture> draw_memory(const Comparison& comparison) {
  std::vector<Picture> pictures;
  std::set<std::string> drawn;
  for (const Panel& panel : panels_of(comparison.rows, SplitBy::kDtype)) {
    const std::vector<Series> all = memory_series_of(panel);
    if (all.size() < 2 || !drawn.insert(fingerprint(all)).second) continue;
    pictures.push_back(draw_lines(panel, all));
    const std::int64_t length = shared_length(all);
    if (length > 0) pictures.push_back(draw_areas(panel, squares_at(all, length), length));
  }
  return pictures;
}

}  // namespace flashlab::compare
