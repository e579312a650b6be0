// What is said of a wrong value.
#include <string>

#include "exercises/grader/explain/wrong_value.hpp"
#include "text/numbers.hpp"

namespace flashlab::exercises {
namespace {

std::string step_text(std::uint64_t step, std::uint32_t line) {
  return "step " + std::to_string(step) + " (line " + std::to_string(line) + ")";
}

std::string shape_text(const TileShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

}  // namespace

Claim claim_of(const WrongValue& wrong) {
  return {Claim::Kind::kValues, wrong.line, wrong.solution_line, "", ""};
}

std::string wrong_value_text(const WrongValue& wrong) {
  const std::string at = step_text(wrong.step, wrong.line);
  const auto number = [](double value) { return short_text(value, 7); };
  const bool is_tile = !(wrong.shape == TileShape{});
  if (wrong.solution_line == 0) {
    if (!is_tile) {
      return at + " is the first that computes what no step of the exercise's solution computes: " +
             wrong.name + " is " + number(wrong.value);
    }
    return at + " is the first whose values no step of the exercise's solution has: they are in " +
           wrong.name + ", a " + shape_text(wrong.shape) + " tile";
  }
  if (!(wrong.shape == wrong.should_have)) {
    const std::string own = wrong.name + " a " + shape_text(wrong.shape) + " tile";
    return wrong_step_text(wrong, "makes " + own, "it should be " + shape_text(wrong.should_have));
  }
  const std::string element = is_tile ? "[" + std::to_string(wrong.row) + "][" +
                                            std::to_string(wrong.col) + "] of " + wrong.name
                                      : wrong.name;
  return wrong_step_text(wrong, "makes " + element + " " + number(wrong.value),
                         "it should be " + number(wrong.should_be));
}

std::string wrong_step_text(const WrongValue& wrong, const std::string& does,
                            const std::string& should) {
  const std::string at = step_text(wrong.step, wrong.line);
  if (wrong.is_first) return at + " is the first wrong step: it " + does + "; " + should;
  return at + " " + does + "; " + should + "; with the right values in all steps of line " +
         std::to_string(wrong.line) + " all results are right";
}

}  // namespace flashlab::exercises
