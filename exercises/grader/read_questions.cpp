// Questions, as exercise.toml states them.
#include <algorithm>
#include <map>

#include "exercises/grader/read_parts.hpp"

namespace flashlab::exercises {
namespace {

const std::map<std::string, AnswerKind> kAnswerKinds = {{"number", AnswerKind::kNumber},
                                                        {"formula", AnswerKind::kFormula},
                                                        {"choice", AnswerKind::kChoice},
                                                        {"open", AnswerKind::kOpen}};

}  // namespace

void PartReader::read_question(const toml::table& table) {
  TomlTable question(table, "[[question]]", errors);
  Question result;
  result.id = question.required_text("id");
  for (const Question& other : exercise.questions.questions) {
    if (other.id == result.id) question.wrong("id", "'" + result.id + "' is there twice");
  }
  result.ask = question.required_text("ask");
  const std::string kind = question.required_text("kind");
  if (const auto known = kAnswerKinds.find(kind); known != kAnswerKinds.end()) {
    result.kind = known->second;
  } else if (question.has("kind")) {
    question.wrong("kind", "unknown kind '" + kind + "'", "number, formula, choice or open");
  }
  result.answer = question.required_text("answer");
  result.because = question.text("because");
  result.choices = question.texts("choices");
  result.variables = question.texts("variables");
  result.leading = question.flag("leading");
  result.tolerance = question.number("tolerance", 0);
  result.points = question.number("points", 1);
  read_mistakes(question, result);
  question.finish();
  exercise.questions.questions.push_back(std::move(result));
}

void PartReader::read_mistakes(TomlTable& question, Question& result) {
  for (const toml::table* entry : question.tables("mistakes")) {
    TomlTable mistake(*entry, "mistakes", errors);
    result.mistakes.push_back({mistake.required_text("answer"), mistake.required_text("says")});
    mistake.finish();
  }
}

}  // namespace flashlab::exercises
