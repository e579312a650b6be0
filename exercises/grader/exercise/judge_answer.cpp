#include "exercises/grader/exercise/judge_answer.hpp"

#include <algorithm>
#include <cctype>

#include "exercises/grader/exercise/rational.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The place of the first character that is not blank.
toy::SourceSpan first_place(const toy::SourceText& text) {
  for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
    const std::string_view content = text.line(line);
    const std::size_t first = content.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    const std::size_t last = content.find_last_not_of(" \t");
    return {line, static_cast<std::uint32_t>(first + 1),
            static_cast<std::uint32_t>(last - first + 1)};
  }
  return {1, 1, 1};
}

/// Accepts "b", "B", "b)", "(b)", or the choice's whole text in either case.
toy::Result<Answer> read_choice(const Question& question, const toy::SourceText& text,
                                Answer answer) {
  std::string letter = lower_case(answer.text);
  if (letter.starts_with('(')) letter.erase(0, 1);
  if (letter.ends_with(')') || letter.ends_with('.')) letter.pop_back();
  const std::size_t count = question.choices.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool by_letter = letter == std::string(1, static_cast<char>('a' + i));
    if (!by_letter && lower_case(answer.text) != lower_case(on_one_line(question.choices[i])))
      continue;
    answer.choice = i;
    return answer;
  }
  constexpr std::size_t kShown = 40;
  return toy::Diagnostic{
      toy::Severity::kError,
      toy::Fault::kProgram,
      first_place(text),
      "'" + printable(answer.text.substr(0, kShown)) + "' is none of the choices",
      count == 0 ? std::string("a choice")
                 : "a letter from a to " + std::string(1, static_cast<char>('a' + count - 1)),
      {}};
}

}  // namespace

toy::Result<Answer> read_answer(const Question& question, const toy::SourceText& text) {
  Answer answer;
  answer.text = on_one_line(text.text());
  if (answer.text.empty()) {
    return toy::Diagnostic{toy::Severity::kError, toy::Fault::kProgram, {1, 1, 1},
                           "there is no answer",  "an answer",          {}};
  }
  switch (question.kind) {
    case AnswerKind::kOpen:
      return answer;
    case AnswerKind::kChoice:
      return read_choice(question, text, std::move(answer));
    case AnswerKind::kNumber:
    case AnswerKind::kFormula:
      break;
  }
  static const std::vector<std::string> kNone;
  const bool number = question.kind == AnswerKind::kNumber;
  auto formula = parse_formula(text, number ? kNone : question.variables, question.reals);
  if (!formula) return std::move(formula.diagnostics);
  answer.formula = std::move(*formula);
  return answer;
}

bool agree(const Question& question, const Answer& answer, const Answer& expected) {
  switch (question.kind) {
    case AnswerKind::kOpen:
      return true;
    case AnswerKind::kChoice:
      return answer.choice == expected.choice;
    case AnswerKind::kFormula:
      return equal(answer.formula, expected.formula) ||
             (question.leading && equal_to_leading_order(answer.formula, expected.formula));
    case AnswerKind::kNumber:
      break;
  }
  const mpq_class value = value_at(answer.formula, {}).value_or(0);
  const mpq_class right = value_at(expected.formula, {}).value_or(0);
  if (question.within > 1) {
    const mpq_class within(question.within);
    return sgn(value) == sgn(right) && abs(value) <= within * abs(right) &&
           abs(right) <= within * abs(value);
  }
  return abs(value - right) <= mpq_class(question.tolerance) * abs(right);
}

}  // namespace flashlab::exercises
