#include <algorithm>

#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"
#include "toymachine/history/register_lives.hpp"

namespace flashlab::cli {
namespace {

using picture::Marker;
using toy::RegisterLife;

constexpr std::size_t kMostCellSteps = 120;
constexpr std::size_t kMostCellRegisters = 16;
constexpr double kCellLane = 30, kCellGap = 8, kCellsTop = 66, kCellsLeast = 64;
constexpr double kMostOfName = 400;  // width of a register's name

class LiveCellsPicture {
 public:
  explicit LiveCellsPicture(const PicturedProgram& program)
      : program_(program), lives_(toy::register_lives(program.run)) {
    for (const RegisterLife& life : lives_) registers_.push_back(life.register_number);
    std::sort(registers_.begin(), registers_.end());
    registers_.erase(std::unique(registers_.begin(), registers_.end()), registers_.end());
    check_size();
    for (const std::int64_t number : registers_) {
      left_ = std::max(left_, picture::text_room(shown_name(number)) + 14);
    }
    width_ = (picture::kPictureWidth - kCellsLeast - 14) / static_cast<double>(num_steps());
    svg_ = picture::Svg(picture::kPictureWidth + left_ - kCellsLeast);
  }

  std::string draw() {
    const std::string title = program_.name + ": live cells";
    picture::draw_heading(svg_, title, counts_text());
    for (const std::int64_t number : registers_) {
      svg_.text({left_ - 8, middle(number) + 5.5}, shown_name(number), "end");
    }
    for (const RegisterLife& life : lives_) draw_life(life);
    const double bottom = draw_traffic();
    const double legend = bottom + picture::draw_legend(svg_, bottom, legend_entries());
    return svg_.finish(legend + 10, title, description());
  }

 private:
  std::size_t num_steps() const { return program_.run.steps.size(); }

  std::string shown_name(std::int64_t number) const {
    return picture::fitted_to_room(program_.bound->register_name(number), kMostOfName);
  }

  void check_size() const {
    if (num_steps() > kMostCellSteps) {
      throw request_failure(
          program_.name + " takes " + std::to_string(num_steps()) +
              " steps, and the picture would be too fine to read",
          "at most " + std::to_string(kMostCellSteps) + " steps: set smaller parameters with -D");
    }
    if (registers_.size() > kMostCellRegisters) {
      throw request_failure(
          program_.name + " writes " + std::to_string(registers_.size()) + " registers",
          "at most " + std::to_string(kMostCellRegisters));
    }
  }

  double x(std::size_t step) const { return left_ + width_ * static_cast<double>(step); }
  double top(std::int64_t number) const {
    const auto at = std::lower_bound(registers_.begin(), registers_.end(), number);
    return kCellsTop + (kCellLane + kCellGap) * static_cast<double>(at - registers_.begin());
  }
  double middle(std::int64_t number) const { return top(number) + kCellLane / 2; }

  /// A filled box up to the last use, then a line for the leftover.
  void draw_life(const RegisterLife& life) {
    // A step writes after it has read, so a box begins and ends in the middle of a step.
    const double from = x(life.written) + width_ / 2;
    const double to = std::max(x(life.last_used) + width_ / 2, from + width_ / 2);
    const double y = top(life.register_number);
    svg_.rect({from, y}, to - from, kCellLane, life.is_loaded ? "band" : "paper");
    svg_.rect({from, y}, to - from, kCellLane, "ink");
    if (!life.is_loaded) svg_.line({from, y + kCellLane - 3}, {to, y + kCellLane - 3}, "roof");
    const double end = std::min(x(life.replaced) + width_ / 2, x(num_steps()));
    if (end > to + 1) {
      const double at = middle(life.register_number);
      svg_.line({to, at}, {end, at}, "ink dot");
    }
    std::string text = toy::to_string(life.content, {true, nullptr});
    if (picture::text_width(text) <= to - from - 4)
      svg_.text({(from + to) / 2, y + kCellLane / 2 + 5.5}, text, "middle");
  }

  /// Marks the steps that move a value between DRAM and a register. Returns the lower end.
  double draw_traffic() {
    const double bottom =
        kCellsTop + (kCellLane + kCellGap) * static_cast<double>(registers_.size());
    const double y = bottom + 8;
    svg_.text({left_ - 8, y + 5.5}, "DRAM", "end");
    for (const RegisterLife& life : lives_) {
      if (!life.is_loaded) continue;
      const double at = x(life.written) + width_ / 2;
      svg_.marker(life.is_loaded_again ? Marker::kDown : Marker::kUp, {at, y},
                  life.is_loaded_again ? "filled c6" : "hollow c5", radius());
    }
    for (std::size_t step = 0; step < num_steps(); ++step) {
      if (program_.run.steps[step].stored)
        svg_.marker(Marker::kSquare, {x(step) + width_ / 2, y}, "filled c2", radius());
    }
    const double axis = y + 16;
    svg_.line({left_, axis}, {x(num_steps()), axis}, "ink");
    const picture::Axis steps{0, static_cast<double>(num_steps()), left_, x(num_steps()),
                              picture::AxisScale::kLinear};
    for (const picture::Tick& tick : picture::whole_ticks(steps, 44)) {
      if (tick.value < 1) continue;
      svg_.text({steps.at(tick.value - 0.5), axis + picture::kLineHeight - 3}, tick.label,
                "soft middle");
    }
    svg_.text({left_ - 8, axis + picture::kLineHeight - 3}, "step", "soft end");
    return axis + picture::kLineHeight + 10;
  }
  double radius() const { return std::min(picture::kMarkerRadius, width_ * 0.45); }

  std::vector<picture::LegendEntry> legend_entries() const {
    std::vector<picture::LegendEntry> entries{{Marker::kUp, "hollow c5", "", "load"}};
    if (num_loads_again() > 0)
      entries.push_back({Marker::kDown, "filled c6", "", "load of a value loaded before"});
    entries.push_back({Marker::kSquare, "filled c2", "", "store"});
    entries.push_back({Marker::kSquare, "", "roof", "computed"});
    entries.push_back({Marker::kSquare, "", "ink dot", "leftover, not read again"});
    return entries;
  }

  std::int64_t num_loads() const {
    return std::count_if(lives_.begin(), lives_.end(),
                         [](const auto& life) { return life.is_loaded; });
  }
  std::int64_t num_loads_again() const {
    return std::count_if(lives_.begin(), lives_.end(),
                         [](const auto& life) { return life.is_loaded_again; });
  }
  std::int64_t num_stores() const {
    const auto& steps = program_.run.steps;
    return std::count_if(steps.begin(), steps.end(),
                         [](const auto& step) { return step.stored.has_value(); });
  }

  std::string counts_text() const {
    return std::to_string(num_steps()) + " steps, " + std::to_string(num_loads()) + " loads (" +
           std::to_string(num_loads_again()) + " of values loaded before), " +
           std::to_string(num_stores()) + " stores";
  }

  std::string description() const {
    std::string text = counts_text() + ".";
    for (const std::int64_t number : registers_) {
      std::size_t live = 0, values = 0;
      for (const RegisterLife& life : lives_) {
        if (life.register_number != number) continue;
        live += life.last_used - life.written;
        ++values;
      }
      text += " " + program_.bound->register_name(number) + " holds " + std::to_string(values) +
              (values == 1 ? " value" : " values") + " in turn and is in use for " +
              std::to_string(live) + " steps.";
    }
    return text;
  }

  const PicturedProgram& program_;
  std::vector<RegisterLife> lives_;
  std::vector<std::int64_t> registers_;
  double left_ = kCellsLeast, width_ = 0;  // of the steps, and of one step
  picture::Svg svg_{picture::kPictureWidth};
};

}  // namespace

std::string live_cells_svg(const PicturedProgram& program) {
  return LiveCellsPicture(program).draw();
}

}  // namespace flashlab::cli
