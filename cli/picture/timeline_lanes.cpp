#include <algorithm>
#include <array>

#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"

namespace flashlab::cli {
namespace {

using picture::Marker;
using toy::Cause;
using toy::Timeline;
using toy::TimelineInterval;
using toy::Unit;

constexpr double kLaneHeight = 26, kLaneLeft = 84, kLaneRight = picture::kPictureWidth - 14;

class TimelinePicture {
 public:
  TimelinePicture(const PicturedProgram& program, const std::vector<Timeline>& timelines)
      : program_(program), timelines_(timelines) {
    for (const Timeline& timeline : timelines) longest_ = std::max(longest_, timeline.cycles);
  }

  std::string draw() {
    const std::string title = program_.name + ": who works and who waits";
    picture::draw_heading(svg_, title, "cycles from left to right, to one scale");
    svg_.define_hatch();
    double y = 72;
    for (const Timeline& timeline : timelines_) y = draw_model(timeline, y);
    y += picture::draw_legend(svg_, y, legend_entries());
    return svg_.finish(y + 10, title, description());
  }

 private:
  double x(std::int64_t cycle) const {
    return kLaneLeft +
           (kLaneRight - kLaneLeft) * static_cast<double>(cycle) / static_cast<double>(longest_);
  }

  double draw_model(const Timeline& timeline, double y) {
    svg_.text(
        {10, y},
        to_string(timeline.model) + ": " + si_text(static_cast<double>(timeline.cycles), "cycles"),
        "strong");
    y += 8;
    for (const Unit unit : {Unit::kMemory, Unit::kCompute}) {
      svg_.text({kLaneLeft - 8, y + kLaneHeight / 2 + 5.5}, to_string(unit), "end");
      svg_.rect({kLaneLeft, y}, x(timeline.cycles) - kLaneLeft, kLaneHeight, "grid paper");
      for (const TimelineInterval& interval : timeline.intervals) {
        if (interval.unit == unit) draw_interval(interval, y);
      }
      y += kLaneHeight + 4;
    }
    return y + picture::kLineHeight + 4;
  }

  void draw_interval(const TimelineInterval& interval, double y) {
    if (interval.cause == Cause::kIdle) return;
    const double from = x(interval.start), width = std::max(x(interval.end) - from, 0.4);
    if (interval.cause != Cause::kBusy) {
      // What a unit waits for: data above, a free buffer below.
      const bool is_data = interval.cause == Cause::kData;
      svg_.line({from, y + kLaneHeight / 2}, {from + width, y + kLaneHeight / 2},
                is_data ? "ink dot" : "series c6 dash");
      return;
    }
    svg_.rect({from, y}, width, kLaneHeight, colour_of(interval));
    if (is_product(interval) && width > 3) svg_.rect({from, y}, width, kLaneHeight, "hatched");
  }

  const toy::InstructionSpec& spec_of(const TimelineInterval& interval) const {
    return toy::instruction_set()[program_.bound->instructions[interval.site].row];
  }
  bool is_product(const TimelineInterval& interval) const {
    return spec_of(interval).flop_kind == toy::FlopKind::kProduct;
  }
  std::string colour_of(const TimelineInterval& interval) const {
    const toy::InstructionSpec& spec = spec_of(interval);
    if (spec.is_load()) return "c5 filled";
    if (spec.is_store() || spec.is_update()) return "c2 series";  // hollow: differs without colour
    return is_product(interval) ? "band" : "muted";
  }

  static std::vector<picture::LegendEntry> legend_entries() {
    return {{Marker::kSquare, "filled c5", "", "load"},
            {Marker::kSquare, "hollow c2", "", "store"},
            {Marker::kSquare, "muted", "", "softmax"},
            {Marker::kSquare, "hatched", "", "product"},
            {Marker::kSquare, "", "ink dot", "waits for data"},
            {Marker::kSquare, "", "series c6 dash", "waits for a buffer"}};
  }

  std::string description() const {
    std::string text;
    for (const Timeline& timeline : timelines_) {
      text += (text.empty() ? "" : " ") + to_string(timeline.model) + " takes " +
              std::to_string(timeline.cycles) + " cycles;";
      for (const Unit unit : {Unit::kMemory, Unit::kCompute}) {
        const auto busy = timeline.unit(unit)[static_cast<std::size_t>(Cause::kBusy)];
        text += (unit == Unit::kMemory ? " the memory port works " : " and the compute unit ") +
                percent_text(static_cast<double>(busy) / static_cast<double>(timeline.cycles));
      }
      text += " of them.";
    }
    return text;
  }

  const PicturedProgram& program_;
  const std::vector<Timeline>& timelines_;
  std::int64_t longest_ = 1;
  picture::Svg svg_{picture::kPictureWidth};
};

}  // namespace

std::string timeline_svg(const PicturedProgram& program,
                         const std::vector<toy::Timeline>& timelines) {
  for (const Timeline& timeline : timelines) {
    if (timeline.intervals_left_out > 0 || timeline.cycles == 0) {
      throw request_failure(program.name + " has too many steps for a picture",
                            "a shorter run: set smaller parameters with -D");
    }
  }
  return TimelinePicture(program, timelines).draw();
}

}  // namespace flashlab::cli
