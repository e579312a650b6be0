#include "exercises/grader/prove/blanket_sheet.hpp"

#include <set>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/judge_answer.hpp"

namespace flashlab::exercises {
namespace {

bool is_right(const Question& question, const std::string& text) {
  const auto answer = read_answer(question, toy::SourceText("answer", text));
  const auto expected = read_answer(question, toy::SourceText("answer", question.answer));
  return answer && expected && agree(question, *answer, *expected);
}

/// The points of an answer to all choices, or to all other questions but open ones.
double points_of(const QuestionTask& task, const std::string& text, bool to_choices) {
  double points = 0;
  for (const Question& question : task.questions) {
    if (question.kind == AnswerKind::kOpen) continue;
    if ((question.kind == AnswerKind::kChoice) != to_choices) continue;
    if (is_right(question, text)) points += question.points;
  }
  return points;
}

}  // namespace

BlanketSheet best_blanket_sheet(const QuestionTask& task) {
  std::set<std::string> letters, formulas;
  BlanketSheet best;
  for (const Question& question : task.questions) {
    if (question.kind == AnswerKind::kOpen) {
      best.points += question.points;
    } else {
      (question.kind == AnswerKind::kChoice ? letters : formulas).insert(question.answer);
    }
  }
  const auto take_best = [&](const std::set<std::string>& texts, bool to_choices,
                             std::string& taken) {
    double most = 0;
    for (const std::string& text : texts) {
      const double points = points_of(task, text, to_choices);
      if (points <= most) continue;
      most = points;
      taken = text;
    }
    best.points += most;
  };
  take_best(letters, true, best.letter);
  take_best(formulas, false, best.formula);
  return best;
}

}  // namespace flashlab::exercises
