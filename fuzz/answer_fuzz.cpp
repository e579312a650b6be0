// Grades any formula and any answer sheet. Besides crashes, it detects wrong results: a formula
// that changes when it is printed and read again or that differs from itself, a rejection without a
// reason, unexplained points, text that must not be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/rational.hpp"
#include "text/visible.hpp"

using namespace flashlab::exercises;
using flashlab::toy::SourceText;

namespace {

const std::vector<std::string> kNames = {"n", "d", "B", "nk"};

void expect(bool good, const char* claim, std::string_view details) {
  if (good) return;
  std::cerr << "not true: " << claim << '\n' << details << std::endl;
  std::abort();
}

Question question(const char* id, AnswerKind kind, const char* answer) {
  Question result;
  result.id = id;
  result.ask = "What is it?";
  result.kind = kind;
  result.answer = answer;
  if (kind == AnswerKind::kFormula) result.variables = kNames;
  return result;
}

const Exercise& quiz() {
  static const Exercise kQuiz = [] {
    Exercise exercise;
    exercise.id = "quiz";
    exercise.kind = Kind::kQuestions;
    std::vector<Question>& questions = exercise.questions.questions;
    questions.push_back(question("f", AnswerKind::kFormula, "2*n^2*d + ceil(n/B)"));
    questions.back().mistakes = {{"n^2*d", "half of it"}};
    questions.push_back(question("o", AnswerKind::kFormula, "n*d/(n + d)"));
    questions.back().leading = true;
    questions.push_back(question("v", AnswerKind::kNumber, "1.25"));
    questions.back().tolerance = 0.01;
    questions.push_back(question("c", AnswerKind::kChoice, "b"));
    questions.back().choices = {"one", "other"};
    questions.push_back(question("t", AnswerKind::kOpen, "because"));
    exercise.questions.conventions = "An element has b bytes.";
    return exercise;
  }();
  return kQuiz;
}

void check_formula(const std::string& text) {
  const SourceText source("formula", text);
  const auto formula = parse_formula(source, kNames);
  if (!formula) {
    expect(!formula.diagnostics.empty(), "a refusal has a reason", text);
    expect(!format(formula.diagnostics, source).empty(), "a reason can be printed", text);
    return;
  }
  expect(!formula->denominator.is_zero(), "nothing is divided by 0", text);
  const std::string printed = to_string(*formula);
  const auto again = parse_formula(SourceText("printed", printed), kNames);
  if (!again && printed.size() > 2000) return;  // longer than the reader accepts
  expect(static_cast<bool>(again), "a printed formula can be read", text + "\n" + printed);
  expect(equal(*formula, *again), "a printed formula is the same", text + "\n" + printed);
}

void check_sheet(const std::string& text) {
  const Verdict verdict = grade_answers(quiz(), SourceText("sheet", text));
  expect(verdict.points >= 0 && verdict.points <= verdict.max_points, "points are in range", text);
  expect(verdict.outcome == Outcome::kFull || !verdict.findings.empty(), "a loss has a reason",
         text);
  for (const Finding& finding : verdict.findings) {
    expect(!flashlab::first_unprintable(finding.what), "a finding can be shown", finding.what);
    for (const std::string& line : finding.details) {
      expect(!flashlab::first_unprintable(line), "details can be shown", line);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_formula(text);
  check_sheet(text);
  check_sheet("f: " + text);
  return 0;
}
