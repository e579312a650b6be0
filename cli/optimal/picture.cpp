#include "cli/optimal/picture.hpp"

#include <algorithm>
#include <optional>

#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"

namespace flashlab::cli {
namespace {

constexpr double kPlotHeight = 250;

/// The first rule's markers are larger, so that both are visible if cycles are equal.
struct RuleLook {
  toy::OperandRule rule;
  picture::Marker marker;
  std::string colour;
  double radius;
};
const RuleLook kLooks[] = {{toy::OperandRule::kAny, picture::Marker::kCircle, "c5", 7},
                           {toy::OperandRule::kPinned, picture::Marker::kUp, "c6", 5}};

const RuleLook& look_of(toy::OperandRule rule) {
  return *std::find_if(std::begin(kLooks), std::end(kLooks),
                       [&](const RuleLook& look) { return look.rule == rule; });
}

std::vector<const Solved*> with_program(const std::vector<Solved>& all, toy::OperandRule rule) {
  std::vector<const Solved*> result;
  for (const Solved& solved : all) {
    if (solved.rule == rule && solved.answer.program) result.push_back(&solved);
  }
  return result;
}

double cycles_of(const Solved& solved) {
  return static_cast<double>(solved.answer.program->cycles);
}

/// The cost of every product once, one load of every input, and one store of every output.
std::optional<double> compulsory_cycles(const OptimalRequest& request) {
  const auto* product = request.computation.product();
  if (product == nullptr) return {};
  const optimal::ProductCosts costs = optimal::product_costs(request.costs);
  return static_cast<double>(product->num_inputs() * costs.load +
                             product->num_outputs() * (costs.first_product + costs.store) +
                             (product->num_terms() - product->num_outputs()) * costs.next_product);
}

class FrontierPicture {
 public:
  FrontierPicture(const std::vector<Solved>& all, const OptimalRequest& request,
                  const OptimalOptions& options)
      : all_(all), request_(request), options_(options), floor_(compulsory_cycles(request)) {
    set_axes();
  }

  std::string draw() {
    const std::string name = request_.computation.name;
    picture::draw_heading(svg_, name + ": cycles of the cheapest programs", subtitle());
    shade_impossible();
    picture::draw_frame(svg_, frame_, picture::whole_ticks(frame_.x),
                        picture::whole_ticks(frame_.y), "registers", "cycles");
    draw_floor();
    for (const toy::OperandRule rule : request_.rules) draw_rule(rule);
    const double legend_top = frame_.y.from + picture::kFrameFoot;
    const double height = legend_top + picture::draw_legend(svg_, legend_top, legend_) + 10;
    return svg_.finish(height, name + ": cycles of the cheapest programs over registers",
                       description());
  }

 private:
  void set_axes() {
    double least = floor_.value_or(1e300), most = floor_.value_or(0);
    for (const Solved& solved : all_) {
      if (solved.answer.verdict == optimal::Verdict::kInfeasible) continue;
      const auto lower = static_cast<double>(solved.answer.lower_cycles);
      least = std::min(least, lower);
      most = std::max({most, lower, solved.answer.program ? cycles_of(solved) : 0});
    }
    if (most <= 0) least = 0;
    const double room = std::max(1.0, 0.15 * (most - least));
    frame_.x = {request_.registers.front() - 0.5, request_.registers.back() + 0.5,
                picture::kFrameLeft, picture::kFrameRight, picture::AxisScale::kLinear};
    frame_.y = {std::max(0.0, least - room), most + room, picture::kFrameTop + kPlotHeight,
                picture::kFrameTop, picture::AxisScale::kLinear};
  }

  std::string subtitle() const {
    const bool all_proved = std::all_of(all_.begin(), all_.end(), [](const Solved& solved) {
      return solved.answer.verdict != optimal::Verdict::kBounded;
    });
    std::string text =
        all_proved ? "proved" : "filled: proved; hollow: the best known; dash: no less";
    if (!options_.costs.empty()) text += "; " + options_.costs;
    return text + (options_.spills ? "; with spills" : "");
  }

  /// Shades registers for which all rules are proved to have no program.
  void shade_impossible() {
    for (const int registers : request_.registers) {
      const auto is_possible = [&](const Solved& solved) {
        return solved.registers == registers &&
               solved.answer.verdict != optimal::Verdict::kInfeasible;
      };
      if (std::any_of(all_.begin(), all_.end(), is_possible)) continue;
      const picture::Point from{frame_.x.at(registers - 0.5), frame_.y.to};
      const double width = frame_.x.at(registers + 0.5) - from.x;
      svg_.rect(from, width, frame_.y.from - frame_.y.to, "band");
      const std::string words = "proved impossible";
      svg_.text({from.x + width / 2 + 5, from.y + picture::text_width(words) + 24}, words, "soft",
                -90);
    }
  }

  void draw_floor() {
    if (!floor_) return;
    svg_.line(frame_.at(frame_.x.low, *floor_), frame_.at(frame_.x.high, *floor_), "ink dash");
    legend_.push_back({picture::Marker::kCircle, "", "ink dash", "compulsory"});
  }

  /// Draws a line of steps, because an additional register costs nothing.
  void draw_rule(toy::OperandRule rule) {
    const RuleLook& look = look_of(rule);
    const std::vector<const Solved*> points = with_program(all_, rule);
    std::vector<picture::Point> line;
    for (const Solved* solved : points) {
      if (!line.empty()) line.push_back({frame_.x.at(solved->registers), line.back().y});
      line.push_back(frame_.at(solved->registers, cycles_of(*solved)));
    }
    if (line.size() > 1) svg_.polyline(line, "series " + look.colour);
    for (const Solved& solved : all_) {
      if (solved.rule == rule && solved.answer.verdict == optimal::Verdict::kBounded)
        draw_bound(solved);
    }
    for (const Solved* solved : points) draw_point(*solved, look);
    const std::string name = request_.computation.product() != nullptr
                                 ? "operands " + rule_name(rule)
                                 : "cheapest program";
    legend_.push_back({look.marker, "filled " + look.colour, "series " + look.colour, name});
  }

  /// Draws a bar at the bound, and a dotted line up to the best program.
  void draw_bound(const Solved& solved) {
    const std::string colour = look_of(solved.rule).colour;
    const picture::Point at =
        frame_.at(solved.registers, static_cast<double>(solved.answer.lower_cycles));
    svg_.line({at.x - 8, at.y}, {at.x + 8, at.y}, "series " + colour);
    if (!solved.answer.program) return;
    svg_.line(at, frame_.at(solved.registers, cycles_of(solved)), "series dot " + colour);
  }

  void draw_point(const Solved& solved, const RuleLook& look) {
    const bool is_proved = solved.answer.verdict == optimal::Verdict::kOptimal;
    svg_.marker(look.marker, frame_.at(solved.registers, cycles_of(solved)),
                (is_proved ? "filled " : "hollow ") + look.colour, look.radius);
  }

  std::string description() const {
    std::string text;
    for (const toy::OperandRule rule : request_.rules) {
      if (request_.rules.size() > 1) text += "Operands " + rule_name(rule) + ": ";
      bool is_first = true;
      for (const Solved& solved : all_) {
        if (solved.rule != rule) continue;
        text += (is_first ? "" : ", ") + point_text(solved);
        is_first = false;
      }
      text += ". ";
    }
    return text;
  }

  static std::string point_text(const Solved& solved) {
    const std::string with = " with " + std::to_string(solved.registers) + " registers";
    const optimal::Answer& answer = solved.answer;
    if (answer.verdict == optimal::Verdict::kInfeasible) return "impossible" + with;
    if (answer.verdict == optimal::Verdict::kOptimal)
      return std::to_string(answer.lower_cycles) + with;
    if (!answer.program) return "at least " + std::to_string(answer.lower_cycles) + with;
    return "between " + std::to_string(answer.lower_cycles) + " and " +
           std::to_string(answer.program->cycles) + with;
  }

  const std::vector<Solved>& all_;
  const OptimalRequest& request_;
  const OptimalOptions& options_;
  std::optional<double> floor_;
  picture::Frame frame_;
  picture::Svg svg_{picture::kPictureWidth};
  std::vector<picture::LegendEntry> legend_;
};

}  // namespace

std::string frontier_svg(const std::vector<Solved>& all, const OptimalRequest& request,
                         const OptimalOptions& options) {
  return FrontierPicture(all, request, options).draw();
}

}  // namespace flashlab::cli
