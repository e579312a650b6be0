// Formulas as people type them, and answer sheets graded.
#include "exercises/grader/exercise/answers.hpp"

#include <algorithm>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/rational.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;
using namespace flashlab::test;
using flashlab::toy::SourceText;

const std::vector<std::string> kNames = {"n", "d", "B", "nk"};

RationalFunction formula(const std::string& text) {
  const auto result = parse_formula(SourceText("formula", text), kNames);
  INFO(text << "\n" << flashlab::toy::format(result.diagnostics, SourceText("formula", text)));
  REQUIRE(result);
  return *result;
}

std::string formula_error(const std::string& text) {
  const auto result = parse_formula(SourceText("formula", text), kNames);
  INFO(text);
  REQUIRE_FALSE(result);
  return flashlab::toy::format(result.diagnostics, SourceText("f", text));
}

bool same_formula(const std::string& a, const std::string& b) {
  return equal(formula(a), formula(b));
}
bool same_order(const std::string& a, const std::string& b) {
  return equal_to_leading_order(formula(a), formula(b));
}

Question question(AnswerKind kind, const std::string& answer) {
  Question result;
  result.id = "loads";
  result.ask = "How many?";
  result.kind = kind;
  result.answer = answer;
  result.because = "So it is.";
  result.points = 2;
  if (kind == AnswerKind::kFormula) result.variables = {"n", "d"};
  return result;
}

Exercise quiz_of(std::vector<Question> questions) {
  Exercise result;
  result.id = "quiz";
  result.kind = Kind::kQuestions;
  result.questions.questions = std::move(questions);
  return result;
}

Verdict graded_sheet(const Exercise& task, const std::string& sheet) {
  return grade_answers(task, SourceText("quiz.txt", sheet));
}

/// What is said about one answer to one question.
std::string said_of_answer(const Question& asked, const std::string& answer) {
  const Verdict verdict = graded_sheet(quiz_of({asked}), "loads: " + answer + "\n");
  return verdict.findings.empty() ? "" : verdict.findings.front().what;
}

}  // namespace

TEST_CASE("products need no sign, powers have two forms", "[answers]") {
  CHECK(same_formula("2n d", "2*n*d"));
  CHECK(same_formula("d(n - 1)", "d*n - d"));
  CHECK(same_formula("(n + 1)(n − 1)", "n² - 1"));
  CHECK(same_formula("n^2", "n**2"));
  CHECK(same_formula("2·n×d", "2 n d"));
  CHECK(same_formula("2nk", "2*nk"));
  CHECK_FALSE(same_formula("2nk", "2n"));
  CHECK(same_formula("-n^2", "-(n^2)"));
  CHECK(same_formula("(-n)^2", "n^2"));
  CHECK(same_formula("n¹⁰", "n^10"));
}

TEST_CASE("numbers are exact", "[answers]") {
  CHECK(same_formula("0.5n", "n/2"));
  CHECK(same_formula("1e3", "1000"));
  CHECK(same_formula("1.5e-1", "3/20"));
  CHECK(same_formula(".1 + .2", "0.3"));
  CHECK_FALSE(same_formula("0.3333333333333333", "1/3"));
}

TEST_CASE("quotients of polynomials are compared by cross products", "[answers]") {
  CHECK(same_formula("(n^2 - 1)/(n + 1)", "n - 1"));
  CHECK(same_formula("1/n + 1/d", "(n + d)/(n*d)"));
  CHECK(same_formula("2*n*n*d/(2*n*d + n*d)", "2n/3"));
  CHECK(same_formula("n/d/B", "n/(d*B)"));
  CHECK_FALSE(same_formula("1/n + 1/d", "1/(n + d)"));
}

TEST_CASE("rounded quotients are equal when their quotients are", "[answers]") {
  CHECK(same_formula("⌈n/B⌉", "ceil(n/B)"));
  CHECK(same_formula("⌊n/2⌋", "floor(2n/4)"));
  CHECK(same_formula("ceil((n d)/(d B))", "ceil(n/B)"));
  CHECK(same_formula("floor((n + B - 1)/B)", "ceil(n/B)"));
  CHECK(same_formula("ceil(7/2)", "4"));
  CHECK(same_formula("ceil(n/2 + 1/2)", "ceil((n + 1)/2)"));
  CHECK_FALSE(same_formula("ceil(n/B)", "floor(n/B)"));
}

TEST_CASE("leading order is the part of highest degree in all variables together", "[answers]") {
  CHECK(same_order("2n^2 d + n d", "2n^2 d"));
  CHECK(same_order("n d/(n + 1)", "d"));
  CHECK(same_order("ceil(n^2/d) n", "n^3/d"));
  CHECK(same_order("n^2 + n d + n", "n (n + d)"));
  CHECK_FALSE(same_order("n^2 + n d", "n^2"));
  CHECK_FALSE(same_order("2n^2", "n^2"));
  CHECK_FALSE(same_order("ceil(n/B) n", "n^2/B"));  // n/B does not grow when n and B do
  CHECK_FALSE(same_order("n", "0"));
}

TEST_CASE("a formula that cannot be read says where and what was expected", "[answers]") {
  CHECK(formula_error("2*n +") ==
        "f:1:6: error: unexpected the end\n  1 | 2*n +\n    |      ^\n"
        "  expected a formula in n, d, B, nk, such as 2*n + 1\n");
  CHECK_THAT(formula_error("2*m"), contains("f:1:3: error: unknown name 'm'"));
  CHECK_THAT(formula_error("n*dd"), contains("did you mean d*d?"));
  CHECK_THAT(formula_error("cel(n/B)"), contains("did you mean ceil?"));
  CHECK_THAT(formula_error("(n + 1"), contains("f:1:1: error: '(' is not closed"));
  CHECK_THAT(formula_error("n)"), contains("f:1:2: error: unexpected ')'"));
  CHECK_THAT(formula_error("n \uFF0B 1"), contains("unexpected U+FF0B, a full-width '+'"));
  CHECK_THAT(formula_error("n\u200B+1"), contains("unexpected U+200B, a zero-width space"));
  CHECK_THAT(formula_error("1 000"), contains("unexpected number '000'"));
  CHECK_THAT(formula_error("1,000"), contains("1000 without separators"));
  CHECK_THAT(formula_error("loads = 2n"), contains("unknown name 'loads'"));
  CHECK_THAT(formula_error("n = 2"), contains("the right-hand side alone"));
  CHECK_THAT(formula_error(""), contains("there is no formula"));
}

TEST_CASE("a formula with two readings or an exponent that is no number is refused", "[answers]") {
  CHECK_THAT(formula_error("1/2n"), contains("can be read in two ways"));
  CHECK_THAT(formula_error("n/2 d"), contains("1/(2*n) or (1/2)*n"));
  CHECK_THAT(formula_error("n^-1"), contains("1/n instead of n^-1"));
  CHECK_THAT(formula_error("2^n"), contains("an exponent that is not a number"));
  CHECK_THAT(formula_error("n^(1/2)"), contains("the exponent 1/2"));
  CHECK_THAT(formula_error("n^65"), contains("a whole number from 0 to 64"));
  CHECK_THAT(formula_error("n^2^3"), contains("a power of a power"));
  CHECK_THAT(formula_error("n/(d - d)"), contains("division by 0"));
}

TEST_CASE("whole-number functions of variables that need not be whole are refused", "[answers]") {
  const auto refused = [](const std::string& text) {
    const auto result = parse_formula(SourceText("f", text), {"s", "f", "n"}, {"s", "f"});
    return result ? "" : flashlab::toy::format(result.diagnostics, SourceText("f", text));
  };
  CHECK_THAT(refused("floor(s)*floor(f) + n"), contains("f:1:1") && contains("floor of 's'"));
  CHECK_THAT(refused("n + ceil(n*f/2)"), contains("ceil of 'f'"));
  CHECK_THAT(refused("⌊n/s⌋"), contains("floor of 's', which is not always a whole number"));
  CHECK(refused("s*f + floor(n/2)") == "");
  Question sum = question(AnswerKind::kFormula, "s*f + t");
  sum.variables = sum.reals = {"s", "f", "t"};
  CHECK(graded_sheet(quiz_of({sum}), "loads: s*f + t\n").points == 2);
  CHECK(graded_sheet(quiz_of({sum}), "loads: floor(s)*floor(f) + ceil(t)\n").points == 0);
}

TEST_CASE("a formula that would take all memory is refused", "[answers]") {
  CHECK_THAT(formula_error("(n + d + B + 1)^64"), contains("too large to be multiplied out"));
  CHECK_THAT(formula_error("((9^64)^64)^64"), contains("too large to be multiplied out"));
  CHECK_THAT(formula_error(std::string(100, '(') + "n"), contains("parentheses or signs"));
  CHECK_THAT(formula_error(std::string(100, '-') + "n"), contains("parentheses or signs"));
  CHECK_THAT(formula_error(std::string(5000, 'n')), contains("the formula has 5000 bytes"));
  CHECK_THAT(formula_error("1" + std::string(1300, '0')), contains("too long"));
  std::string nested = "n";
  for (int i = 0; i < 20; ++i) nested = "ceil((" + nested + " + 1)^3/B)";
  CHECK_THAT(formula_error(nested), contains("too large to be multiplied out"));
}

TEST_CASE("a printed formula reads as the same formula", "[answers]") {
  for (const char* text : {"n^2 - 3/2*n*d", "(n + 1)/(n - d)", "2*ceil(n/B)*nk", "0", "-n",
                           "floor(n/(B + 1))/3", "n/(2*d)", "0.1"}) {
    INFO(text << " prints as " << to_string(formula(text)));
    CHECK(equal(formula(to_string(formula(text))), formula(text)));
  }
}

TEST_CASE("a right sheet earns full marks and shows why", "[answers]") {
  const Exercise quiz = quiz_of({question(AnswerKind::kFormula, "2*n^2*d")});
  const Verdict verdict = graded_sheet(quiz, "# a comment\nloads: 2 d\n  n^2\n");
  CHECK(verdict.outcome == Outcome::kFull);
  CHECK(verdict.points == 2);
  CHECK(verdict.max_points == 2);
  REQUIRE(verdict.checks.size() == 1);
  CHECK(verdict.checks[0].name == "loads");
  CHECK(verdict.checks[0].message == "So it is.");
  CHECK(verdict.findings.empty());
}

TEST_CASE("a wrong formula is refuted without giving the right one away", "[answers]") {
  const Question asked = question(AnswerKind::kFormula, "n^2*d + n");
  CHECK(said_of_answer(asked, "n*d + d^2") ==
        "loads: at n = 2, d = 3 it is 15, which is not right");
  CHECK(said_of_answer(asked, "2n^2 d + 2n") == "loads: 2 times too large");
  CHECK(said_of_answer(asked, "(n^2*d + n)/3") == "loads: 3 times too small");
  CHECK(said_of_answer(asked, "-n^2 d - n") == "loads: the sign is wrong");
  CHECK(said_of_answer(asked, "1.5(n^2 d + n)") == "loads: right except for a constant factor");
  CHECK(said_of_answer(asked, "n^2*d - 5") ==
        "loads: right to leading order, but the other terms count, too");
}

TEST_CASE("a counterexample keeps the conditions of its question", "[answers]") {
  Question tiles = question(AnswerKind::kFormula, "n*d/B");
  tiles.variables = {"n", "d", "B"};
  tiles.conditions = {{"B", "n", Condition::Relation::kDivides},
                      {"d", "B", Condition::Relation::kAtMost}};
  const auto finding = [&] {
    return graded_sheet(quiz_of({tiles}), "loads: n*d - B + 1\n").findings.front().what;
  };
  CHECK_THAT(finding(), contains("at n = 10, d = 3, B = 5 it is "));
  tiles.conditions.clear();
  CHECK_THAT(finding(), contains("at n = 2, d = 3, B = 5 it is "));
}

TEST_CASE("an answer in other variables is told which matter", "[answers]") {
  const Exercise quiz = quiz_of({question(AnswerKind::kFormula, "n^2")});
  const Verdict verdict = graded_sheet(quiz, "loads: d^2\n");
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].details ==
        std::vector<std::string>{"the right answer depends on n",
                                 "the right answer does not depend on d"});
}

TEST_CASE("a listed mistake is answered with its own words", "[answers]") {
  Question asked = question(AnswerKind::kFormula, "2*n^2*d");
  asked.mistakes = {{"n^2*d", "That is K alone."}};
  CHECK(said_of_answer(asked, "d n²") == "loads: That is K alone.");
  CHECK(said_of_answer(asked, "3 n d") == "loads: at n = 2, d = 3 it is 18, which is not right");
}

TEST_CASE("leading order is accepted where the question says so", "[answers]") {
  Question asked = question(AnswerKind::kFormula, "2*n^2*d");
  CHECK(said_of_answer(asked, "2n^2 d + n") != "");
  asked.leading = true;
  CHECK(said_of_answer(asked, "2n^2 d + n") == "");
  CHECK(said_of_answer(asked, "n^2 d + n") == "loads: not right, not even to leading order");
}

TEST_CASE("numbers are right within their tolerance", "[answers]") {
  Question asked = question(AnswerKind::kNumber, "1.31");
  CHECK(said_of_answer(asked, "131/100") == "");
  CHECK(said_of_answer(asked, "1.311") == "loads: close, but not within the tolerance");
  asked.tolerance = 0.01;
  CHECK(said_of_answer(asked, "1.32") == "");
  CHECK(said_of_answer(asked, "1.33") == "loads: close, but not within the tolerance");
  CHECK(said_of_answer(asked, "2.62") == "loads: 2 times too large");
  CHECK(said_of_answer(asked, "7") == "loads: 7 is not right");
  CHECK(said_of_answer(asked, "2^64^2").starts_with("loads: a power of a power"));
  CHECK(said_of_answer(asked, "3 ms") == "loads: unknown name 'ms'");
  asked.answer = "1024";
  CHECK(said_of_answer(asked, "2^10") == "");
}

TEST_CASE("a choice is a letter or the whole text", "[answers]") {
  Question asked = question(AnswerKind::kChoice, "b");
  asked.choices = {"inner product", "outer product"};
  for (const char* right : {"b", "B", "b)", "(b)", "Outer  product"})
    CHECK(said_of_answer(asked, right) == "");
  CHECK(said_of_answer(asked, "a") == "loads: this choice is not right");
  CHECK(said_of_answer(asked, "c") == "loads: 'c' is none of the choices");
}

TEST_CASE("any text answers an open question, and the model answer is shown", "[answers]") {
  const Exercise quiz = quiz_of({question(AnswerKind::kOpen, "The running mean.")});
  const Verdict verdict = graded_sheet(quiz, "loads:\n  something: else\n");
  CHECK(verdict.outcome == Outcome::kFull);
  CHECK(verdict.checks[0].message == "model answer: The running mean. So it is.");
  CHECK(graded_sheet(quiz, "loads:\n").outcome == Outcome::kWrong);
}

TEST_CASE("keys that are unknown, doubled or missing are findings with their line", "[answers]") {
  Question second = question(AnswerKind::kNumber, "1");
  second.id = "second";
  const Exercise quiz = quiz_of({question(AnswerKind::kNumber, "1"), second});
  const Verdict verdict = graded_sheet(quiz, "loads: 1\nlaods: 1\nloads: 2\njust text\n");
  CHECK(verdict.outcome == Outcome::kWrong);
  REQUIRE(verdict.findings.size() == 5);
  CHECK(verdict.findings[0].what == "loads: there is no answer yet");
  CHECK(verdict.findings[1].what == "second: there is no answer yet");
  CHECK(verdict.findings[2].what == "there is no question 'laods'");
  CHECK(verdict.findings[2].line == 2);
  CHECK(verdict.findings[2].details.back() == "did you mean loads?");
  CHECK(verdict.findings[3].what == "'loads' is answered twice, first in line 1");
  CHECK(verdict.findings[3].line == 3);
  CHECK(verdict.findings[4].what == "this line is not an answer");
  CHECK(verdict.findings[4].line == 4);
}

TEST_CASE("an unreadable answer is shown at its place in the sheet", "[answers]") {
  const Exercise quiz = quiz_of({question(AnswerKind::kFormula, "n")});
  const Verdict verdict = graded_sheet(quiz, "# sheet\nloads: n +\n  # not yet\n  2*x\n");
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].line == 4);
  CHECK(verdict.findings[0].what.find("unknown name 'x'") != std::string::npos);
  CHECK(verdict.findings[0].details.front() == "  4 |   2*x");
}

TEST_CASE("what is no answer sheet is rejected", "[answers]") {
  const Exercise quiz = quiz_of({question(AnswerKind::kFormula, "n")});
  CHECK(graded_sheet(quiz, "").outcome == Outcome::kRejected);
  CHECK(graded_sheet(quiz,
                     "\x7f"
                     "ELF")
            .outcome == Outcome::kRejected);
  CHECK(graded_sheet(quiz, "loads: n\xff\n").outcome == Outcome::kRejected);
  CHECK(graded_sheet(quiz, "loads: n \x1b[31m\n").outcome == Outcome::kRejected);
  CHECK(graded_sheet(quiz, "other: n\n").outcome == Outcome::kRejected);
  CHECK(graded_sheet(quiz, "loads: n\n" + std::string(70'000, '\n')).outcome == Outcome::kLimit);
}

TEST_CASE("half of the answers earn half of the points", "[answers]") {
  Question second = question(AnswerKind::kNumber, "1");
  second.id = "second";
  const Exercise quiz = quiz_of({question(AnswerKind::kNumber, "1"), second});
  const Verdict verdict = graded_sheet(quiz, "loads: 1\nsecond: 3\n");
  CHECK(verdict.outcome == Outcome::kPartial);
  CHECK(verdict.points == 2);
  CHECK(verdict.max_points == 4);
}

TEST_CASE("the answer sheet fits 78 columns and lists the choices", "[answers]") {
  Question asked = question(AnswerKind::kChoice, "b");
  asked.ask =
      "Which of these two orders of the loops, given that registers are scarce, stores each "
      "output once?";
  asked.choices = {"inner product", "outer product"};
  QuestionTask task{{asked}, "A multiply-accumulate is 2 FLOPs."};
  CHECK(answer_sheet(task) ==
        "# Conventions: A multiply-accumulate is 2 FLOPs.\n\n"
        "# Which of these two orders of the loops, given that registers are scarce,\n"
        "# stores each output once?\n"
        "# a) inner product\n"
        "# b) outer product\n"
        "# One letter.\n"
        "loads:\n\n");
}

TEST_CASE("the empty sheet is wrong and the model answers are right", "[answers]") {
  Question open = question(AnswerKind::kOpen, "loads: # 1. " + std::string(200, 'x') + " loads: y");
  open.id = "other";
  const Exercise quiz = quiz_of({question(AnswerKind::kFormula, "n"), open});
  CHECK(graded_sheet(quiz, answer_sheet(quiz.questions)).outcome == Outcome::kWrong);
  CHECK(graded_sheet(quiz, model_answers(quiz.questions)).outcome == Outcome::kFull);
}

TEST_CASE("the model answers of every built-in exercise with questions are right", "[answers]") {
  std::size_t programs = 0;
  for (const ExerciseSource& source : builtin_exercises()) {
    INFO(source.id);
    const ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    if (read.exercise->kind == Kind::kProgram) {
      ++programs;
      continue;
    }
    const Verdict verdict = graded_sheet(*read.exercise, model_answers(read.exercise->questions));
    CHECK(verdict.outcome == Outcome::kFull);
    CHECK(verdict.points == verdict.max_points);
  }
  CHECK(programs <= builtin_exercises().size());
}
