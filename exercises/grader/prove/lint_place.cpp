// Checks where an exercise stands in the course, and what its text tells.
#include <cctype>
#include <map>
#include <string>

#include "exercises/grader/prove/lint.hpp"
#include "exercises/grader/prove/told_counts.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::exercises {
namespace {

/// The text on one line, with formulas as "11n-1": no signs of multiplication, and no blanks beside
/// other signs.
std::string with_close_formulas(std::string_view text) {
  std::string result;
  const auto is_blank = [](char c) { return c == ' ' || c == '\n'; };
  const auto is_sign = [](char c) { return c == '+' || c == '-'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') continue;
    if (!is_blank(text[i])) {
      result += text[i];
      continue;
    }
    const bool follows = !result.empty() && (is_sign(result.back()) || result.back() == ' ');
    const bool is_before = i + 1 < text.size() && (is_sign(text[i + 1]) || is_blank(text[i + 1]));
    if (!follows && !is_before) result += ' ';
  }
  return result;
}

/// Whether the text has the words, not behind a letter or digit.
bool tells(const std::string& text, const std::string& words) {
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<LintProblem> lint_told_counts(const Exercise& exercise) {
  std::vector<LintProblem> problems;
  const std::string text = with_close_formulas(exercise.problem);
  for (const std::string& key : exercise.program.cost.predict) {
    const std::string formula = toy::to_string(exercise.program.cost.full.at(key));
    if (!tells(text, with_close_formulas(formula) + " " + key)) continue;
    problems.push_back(
        {"problem.md", "it tells the " + key + " that the learner predicts: " + formula});
  }
  return problems;
}

std::vector<LintProblem> lint_place(const ExerciseSource& source,
                                    const std::vector<ExerciseSource>& all) {
  std::map<std::string, std::string> after;  // by id
  for (const ExerciseSource& one : all) after[one.id] = course_place(one).after;
  after[source.id] = course_place(source).after;
  const std::string& first = after[source.id];
  if (first.empty() || first == source.id) return {};  // the reader reports the latter
  if (!after.contains(first)) {
    std::vector<std::string> ids;
    for (const auto& entry : after) ids.push_back(entry.first);
    const auto near = nearest(first, ids);
    return {{"exercise.toml", "'after' names '" + printable(first) + "', which is no exercise" +
                                  (near ? "; did you mean '" + *near + "'?" : "")}};
  }
  std::string chain = source.id;
  std::string one = first;
  for (std::size_t steps = 0; steps < after.size() && after.contains(one); ++steps) {
    chain += " after " + one;
    if (one == source.id) {
      return {{"exercise.toml", "the exercise follows itself: " + printable(chain)}};
    }
    one = after[one];
  }
  return {};
}

}  // namespace flashlab::exercises
