#include "exercises/grader/answers.hpp"

namespace flashlab::exercises {

Verdict grade_answers(const Exercise&, const toy::SourceText&) { return {}; }

std::string answer_sheet(const QuestionTask& task) {
  std::string text;
  for (const Question& question : task.questions) {
    text += "# " + question.ask + "\n" + question.id + ":\n\n";
  }
  return text;
}

std::string model_answers(const QuestionTask& task) {
  std::string text;
  for (const Question& question : task.questions) {
    text += "# " + question.ask + "\n" + question.id + ": " + question.answer + "\n\n";
  }
  return text;
}

}  // namespace flashlab::exercises
