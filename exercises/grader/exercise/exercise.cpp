#include "exercises/grader/exercise/exercise.hpp"

#include <algorithm>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/points.hpp"
#include "text/lists.hpp"
#include "text/utf8.hpp"

namespace flashlab::exercises {
namespace {

/// Splits "07_online_softmax" into "07" and "online_softmax".
std::pair<std::string_view, std::string_view> split_id(std::string_view id) {
  const std::size_t bar = id.find('_');
  const std::string_view number = id.substr(0, bar);
  if (bar == std::string_view::npos || !std::all_of(number.begin(), number.end(), is_digit)) {
    return {{}, id};
  }
  return {number, id.substr(bar + 1)};
}

std::string_view without_zeros(std::string_view number) {
  const std::size_t first = number.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view("0") : number.substr(first);
}

}  // namespace

std::string to_string(const Size& size) {
  return joined(size, ", ", [](const auto& parameter) {
    return parameter.first + " = " + std::to_string(parameter.second);
  });
}

double Exercise::max_points() const {
  if (kind == Kind::kProgram) {
    return added_points(added_points(program.points.correct, program.points.cost),
                        program.speed ? program.speed->points : 0);
  }
  double points = 0;
  for (const Question& question : questions.questions) {
    points = added_points(points, question.points);
  }
  return points;
}

std::string Exercise::work_file() const { return id + (kind == Kind::kProgram ? ".toy" : ".txt"); }

std::string Exercise::starter() const {
  return kind == Kind::kProgram ? program.starter : answer_sheet(questions);
}

bool Exercise::answers_to(std::string_view name) const {
  if (name == id) return true;
  const auto [number, rest] = split_id(id);
  if (name == rest) return true;
  return !number.empty() && !name.empty() && std::all_of(name.begin(), name.end(), is_digit) &&
         without_zeros(name) == without_zeros(number);
}

}  // namespace flashlab::exercises
