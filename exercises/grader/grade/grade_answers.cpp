// Grades a whole answer file.
#include <algorithm>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/judge_answer.hpp"
#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/submission/answer_sheet.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostSheetBytes = 1 << 16;

Verdict with_refusal(Verdict verdict, Outcome outcome, Finding finding) {
  verdict.outcome = outcome;
  verdict.findings.insert(verdict.findings.begin(), std::move(finding));
  return verdict;
}

std::uint32_t line_of(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(byte);
  return 1 + static_cast<std::uint32_t>(std::count(text.begin(), end, '\n'));
}

/// The message for a right answer.
std::string praise(const Question& question) {
  std::string text = on_one_line(question.because);
  if (question.kind == AnswerKind::kOpen) {
    text = "model answer: " + on_one_line(question.answer) + (text.empty() ? "" : " ") + text;
  } else if (!question.measured_in.empty()) {
    text = question.measured_in + " has " + question.answer + (text.empty() ? "" : "; ") + text;
  }
  return text;
}

/// The message about an answer that cannot be parsed, with its place.
Finding unreadable_answer(const Question& question, const std::vector<toy::Diagnostic>& diagnostics,
                          const toy::SourceText& submission) {
  Finding finding = finding_of(diagnostics.front(), submission);
  finding.what = question.id + ": " + printable(finding.what);
  for (std::string& line : finding.details) line = printable(line);
  return finding;
}

class SheetGrading {
 public:
  SheetGrading(const QuestionTask& task, const toy::SourceText& submission, Verdict verdict)
      : task_(task), submission_(submission), verdict_(std::move(verdict)) {}

  Verdict run() {
    Sheet sheet = read_sheet(task_.questions, submission_);
    if (!sheet.has_keys) {
      verdict_.findings = std::move(sheet.findings);
      return with_refusal(
          std::move(verdict_), Outcome::kRejected,
          {"this is not an answer sheet: none of its lines begins with a question's key",
           {"expected lines like '" + task_.questions.front().id + ": answer'"},
           0,
           0,
           {}});
    }
    for (std::size_t i = 0; i < task_.questions.size(); ++i) {
      grade(task_.questions[i], sheet.answers[i]);
    }
    verdict_.findings.insert(verdict_.findings.end(), sheet.findings.begin(), sheet.findings.end());
    const auto passed = std::count_if(verdict_.checks.begin(), verdict_.checks.end(),
                                      [](const Check& check) { return check.passed; });
    const bool all = static_cast<std::size_t>(passed) == verdict_.checks.size();
    verdict_.points = rounded_points(verdict_.points, verdict_.max_points, all);
    verdict_.outcome = all ? Outcome::kFull : passed > 0 ? Outcome::kPartial : Outcome::kWrong;
    return std::move(verdict_);
  }

 private:
  void grade(const Question& question, const SheetAnswer& answer) {
    Check check{question.id, false, 0, question.points, {}};
    const std::size_t before = verdict_.findings.size();
    if (answer.text.empty()) {
      add({question.id + ": there is no answer yet", {}, answer.line, 0, {}});
    } else {
      check.passed = judge(question, answer);
    }
    if (check.passed) {
      check.points = question.points;
      check.message = praise(question);
    } else if (verdict_.findings.size() > before) {
      check.message = verdict_.findings.back().what.substr(question.id.size() + 2);
    }
    verdict_.points = added_points(verdict_.points, check.points);
    verdict_.checks.push_back(std::move(check));
  }

  bool judge(const Question& question, const SheetAnswer& sheet_answer) {
    const auto answer = read_answer(question, sheet_answer.place);
    if (!answer) {
      add(unreadable_answer(question, answer.diagnostics, submission_));
      return false;
    }
    const auto expected = read_answer(question, toy::SourceText("answer", question.answer));
    if (expected && agree(question, *answer, *expected)) return true;
    Objection objection = expected ? object_to(question, *answer, *expected)
                                   : Objection{"the exercise's own answer cannot be read", {}};
    if (!task_.conventions.empty() && question.kind != AnswerKind::kChoice && !stated_) {
      stated_ = true;  // state the conventions once
      objection.details.push_back("conventions: " + on_one_line(task_.conventions));
    }
    add({question.id + ": " + on_one_line(objection.what),
         std::move(objection.details),
         sheet_answer.line,
         0,
         {}});
    return false;
  }

  void add(Finding finding) { verdict_.findings.push_back(std::move(finding)); }

  bool stated_ = false;  // whether the conventions were stated
  const QuestionTask& task_;
  const toy::SourceText& submission_;
  Verdict verdict_;
};

}  // namespace

Verdict grade_answers(const Exercise& exercise, const toy::SourceText& submission) {
  Verdict verdict;
  verdict.max_points = exercise.max_points();
  const std::string& text = submission.text();
  if (text.size() > kMostSheetBytes) {
    return with_refusal(std::move(verdict), Outcome::kLimit,
                        {"the answer sheet has " + std::to_string(text.size()) + " bytes",
                         {"expected at most " + std::to_string(kMostSheetBytes)},
                         0,
                         0,
                         {}});
  }
  if (const auto bad = first_unprintable(text)) {
    return with_refusal(std::move(verdict), Outcome::kRejected,
                        {"this is not an answer sheet: it holds a character that is not text",
                         {"expected UTF-8 without control characters"},
                         line_of(text, *bad),
                         0,
                         {}});
  }
  return SheetGrading(exercise.questions, submission, std::move(verdict)).run();
}

}  // namespace flashlab::exercises
