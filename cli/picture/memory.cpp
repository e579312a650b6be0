#include <algorithm>
#include <cmath>

#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"
#include "text/width.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {
namespace {

constexpr double kLargestSide = 132, kSlotGap = 14;

/// A rectangle of elements, or of the same area if it has no shape.
struct MemoryBox {
  std::string name;
  double rows = 0, columns = 0;
  std::string classes;
};

std::string classes_of(toy::ArrayRole role) {
  if (role == toy::ArrayRole::kInput) return "band";
  return role == toy::ArrayRole::kOutput ? "filled c5" : "hatched";
}

struct MemoryPanel {
  std::string title, widest;
  std::vector<MemoryBox> boxes;
  std::string description;
};

/// The largest value that is neither an input nor an output, in DRAM or in a register at the moment
/// when the registers hold the most.
struct Widest {
  std::string place;
  std::int64_t rows = 0, columns = 0;

  void include(const Widest& other) {
    if (other.rows * other.columns > rows * columns) *this = other;
  }
  std::string text() const {
    if (place.empty()) return "none";
    return std::to_string(rows) + " x " + std::to_string(columns) + ", " + place;
  }
};

Widest widest_temporary(const toy::BoundProgram& program) {
  Widest widest;
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kTemp || array.extents.empty()) continue;
    const std::int64_t rows = std::max<std::int64_t>(array.extents[0], 1);
    widest.include({array.name + " in DRAM", rows, array.size / rows});
  }
  return widest;
}

MemoryPanel panel_of(const PicturedProgram& program) {
  const auto float_bytes = static_cast<double>(toy::register_element_bytes(*program.bound));
  MemoryPanel panel;
  double stored = 0;
  for (const toy::BoundArray& array : program.bound->arrays) {
    const std::int64_t rows = array.extents.empty() ? 1 : array.extents[0];
    const std::int64_t columns = array.size / std::max<std::int64_t>(rows, 1);
    const auto element_bytes = static_cast<double>(toy::element_bytes(array.element_type));
    const double scale = std::sqrt(element_bytes / float_bytes);
    panel.boxes.push_back({array.name, scale * static_cast<double>(rows),
                           scale * static_cast<double>(columns), classes_of(array.role)});
    panel.description += (panel.description.empty() ? "" : ", ") + array.name + " " +
                         std::to_string(rows) + " x " + std::to_string(columns);
    if (array.role != toy::ArrayRole::kInput)
      stored += static_cast<double>(array.size) * element_bytes;
  }
  panel.title = program.name + ": temporaries and outputs " + bytes_text(stored);
  Widest widest = widest_temporary(*program.bound);
  if (const auto peak = toy::peak_register_bytes(*program.bound)) {
    const auto bytes = static_cast<double>(peak->bytes);
    const double side = std::sqrt(bytes / float_bytes);
    panel.boxes.push_back({"registers", side, side, "muted"});
    panel.description += ", registers " + bytes_text(bytes);
    for (const auto& holder : peak->holders) {
      widest.include({"register " + program.bound->register_name(holder.register_number),
                      holder.rows, holder.cols});
    }
  }
  panel.widest = "widest intermediate: " + widest.text();
  panel.description += "; " + panel.widest;
  panel.description = panel.title + " (" + panel.description + ").";
  return panel;
}

class MemoryPicture {
 public:
  explicit MemoryPicture(const std::vector<PicturedProgram>& programs) {
    double largest = 1;
    for (const PicturedProgram& program : programs) {
      panels_.push_back(panel_of(program));
      for (const MemoryBox& box : panels_.back().boxes)
        largest = std::max({largest, box.rows, box.columns});
    }
    scale_ = kLargestSide / largest;
  }

  std::string draw() {
    picture::draw_heading(svg_, "Memory to scale", "all areas are in proportion to the bytes");
    svg_.define_hatch();
    double y = 84;
    std::string description;
    for (const MemoryPanel& panel : panels_) {
      y = draw_panel(panel, y);
      description += (description.empty() ? "" : " ") + panel.description;
    }
    y += picture::draw_legend(svg_, y, legend_entries());
    return svg_.finish(y + 10, "Memory to scale", description);
  }

 private:
  /// Draws a row of boxes that stand on one line; a row that is full continues below.
  double draw_panel(const MemoryPanel& panel, double y) {
    y = draw_lines(panel.title, y, "strong");
    y = draw_lines(panel.widest, y, "soft") - picture::kLineHeight;
    std::vector<const MemoryBox*> row;
    double x = 10;
    y += 10;
    for (const MemoryBox& box : panel.boxes) {
      if (x > 10 && x + slot(box) > picture::kPictureWidth - 10) {
        y = draw_row(row, y);
        row.clear();
        x = 10;
      }
      row.push_back(&box);
      x += slot(box) + kSlotGap;
    }
    return draw_row(row, y) + 16;
  }

  /// Returns where the line below stands.
  double draw_lines(const std::string& text, double y, const char* classes) {
    const auto columns =
        static_cast<std::size_t>((picture::kPictureWidth - 10) / picture::text_room("x"));
    for (const std::string& line : wrap(text, columns)) {
      svg_.text({10, y}, line, classes);
      y += picture::kLineHeight;
    }
    return y;
  }

  double slot(const MemoryBox& box) const {
    return std::max(box.columns * scale_, picture::text_width(box.name));
  }

  double draw_row(const std::vector<const MemoryBox*>& row, double y) {
    double height = 0, x = 10;
    for (const MemoryBox* box : row) height = std::max(height, box->rows * scale_);
    for (const MemoryBox* box : row) {
      const double rows = box->rows * scale_, columns = std::max(box->columns * scale_, 1.0);
      const double left = x + (slot(*box) - columns) / 2;
      svg_.rect({left, y + height - rows}, columns, rows, box->classes);
      svg_.rect({left, y + height - rows}, columns, rows, "ink");
      svg_.text({x + slot(*box) / 2, y + height + 17}, box->name, "middle");
      x += slot(*box) + kSlotGap;
    }
    return y + height + 30;
  }

  static std::vector<picture::LegendEntry> legend_entries() {
    using picture::Marker;
    return {{Marker::kSquare, "band c0", "", "input"},
            {Marker::kSquare, "filled c5", "", "output"},
            {Marker::kSquare, "muted", "", "registers at most"},
            {Marker::kSquare, "hatched", "", "temporary"}};
  }

  std::vector<MemoryPanel> panels_;
  double scale_ = 1;
  picture::Svg svg_{picture::kPictureWidth};
};

}  // namespace

std::string memory_svg(const std::vector<PicturedProgram>& programs) {
  return MemoryPicture(programs).draw();
}

}  // namespace flashlab::cli
