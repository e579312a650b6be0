// Reads questions from exercise.toml.
#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "exercises/grader/exercise/judge_answer.hpp"
#include "exercises/grader/exercise/read_program.hpp"

namespace flashlab::exercises {
namespace {

const std::map<std::string, AnswerKind> kAnswerKinds = {{"number", AnswerKind::kNumber},
                                                        {"formula", AnswerKind::kFormula},
                                                        {"choice", AnswerKind::kChoice},
                                                        {"open", AnswerKind::kOpen}};
constexpr std::size_t kMostChoices = 26;
constexpr std::size_t kMostVariables = 16;
constexpr std::size_t kMostMistakes = 50;

bool is_key(std::string_view id) {
  constexpr std::size_t kLongest = 40;
  return id.size() <= kLongest && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// Parses "B divides n" or "s <= n".
std::optional<Condition> parse_condition(const std::string& text) {
  std::istringstream words(text);
  std::string left, relation, right, more;
  if (!(words >> left >> relation >> right) || words >> more) return std::nullopt;
  if (!is_name(left) || !is_name(right) || left == right) return std::nullopt;
  if (relation == "divides") return Condition{left, right, Condition::Relation::kDivides};
  if (relation == "<=") return Condition{left, right, Condition::Relation::kAtMost};
  return std::nullopt;
}

/// Parses the answer for its question. Reports an error at the key.
std::optional<Answer> read_or_complain(TomlTable& table, const Question& question,
                                       const std::string& text) {
  if (text.empty()) return std::nullopt;
  const toy::SourceText source("answer", text);
  auto answer = read_answer(question, source);
  if (answer) return std::move(*answer);
  const toy::Diagnostic& error = answer.diagnostics.front();
  table.wrong("answer", error.what, error.expected, error.suggestion);
  return std::nullopt;
}

}  // namespace

void PartReader::read_questions(TomlTable& top, const std::vector<const toml::table*>& tables) {
  exercise.questions.conventions = filled(top, "conventions", top.text("conventions"));
  if (exercise.demo) top.wrong("demo", "questions cannot be a demonstration", "a program to write");
  for (const toml::table* question : tables) read_question(*question);
  read_conditions(top);
}

void PartReader::read_conditions(TomlTable& top) {
  for (const std::string& text : top.texts("conditions")) {
    const std::optional<Condition> condition = parse_condition(text);
    if (!condition) {
      top.wrong("conditions", "'" + text + "' cannot be read", "'B divides n' or 's <= n'");
      continue;
    }
    bool used = false;
    for (Question& question : exercise.questions.questions) {
      const auto& names = question.variables;
      const auto has = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      if (!has(condition->left) || !has(condition->right)) continue;
      question.conditions.push_back(*condition);
      used = true;
    }
    if (!used) {
      top.wrong("conditions", "no question has the variables of '" + text + "'",
                "two variables of one question");
    }
  }
}

void PartReader::read_question(const toml::table& table) {
  TomlTable question(table, "[[question]]", errors);
  Question result;
  result.id = question.required_line("id");
  if (!is_key(result.id)) {
    question.wrong("id", "'" + result.id + "' is not a key", "a to z, 0 to 9 and _, at most 40");
  }
  for (const Question& other : exercise.questions.questions) {
    if (!result.id.empty() && other.id == result.id) {
      question.wrong("id", "'" + result.id + "' is used twice", "another key");
    }
  }
  result.ask = filled(question, "ask", question.required_text("ask"));
  const std::string kind = question.required_line("kind");
  const auto known = kAnswerKinds.find(kind);
  if (known == kAnswerKinds.end()) {
    if (!kind.empty()) {
      question.wrong("kind", "unknown kind '" + kind + "'", "number, formula, choice or open");
    }
  } else {
    result.kind = known->second;
    read_answer_rules(question, result);
    question.finish();
  }
  exercise.questions.questions.push_back(std::move(result));
}

void PartReader::read_answer_rules(TomlTable& question, Question& result) {
  const auto only = [&](const char* key, AnswerKind kind, const char* what) {
    if (question.has(key) && result.kind != kind) question.wrong(key, what, "no such key here");
  };
  only("choices", AnswerKind::kChoice, "only a choice has them");
  only("variables", AnswerKind::kFormula, "only a formula has them");
  only("leading", AnswerKind::kFormula, "only a formula has it");
  only("tolerance", AnswerKind::kNumber, "only a number has it");
  only("within", AnswerKind::kNumber, "only a number has it");
  only("measured", AnswerKind::kNumber, "only a number is measured");
  result.because = filled(question, "because", question.text("because"));
  for (const std::string& choice : question.texts("choices", kMostChoices)) {
    result.choices.push_back(filled(question, "choices", choice));
  }
  if (result.kind == AnswerKind::kChoice && result.choices.size() < 2) {
    question.wrong("choices", "fewer than two", "a list of texts: [\"…\", \"…\"]");
  }
  result.variables = question.texts("variables", kMostVariables);
  for (const std::string& name : result.variables) {
    if (is_name(name) && name != "ceil" && name != "floor") continue;
    question.wrong("variables", "'" + name + "' is not a name for a variable",
                   "letters, digits and _, except ceil and floor");
  }
  only("reals", AnswerKind::kFormula, "only a formula has them");
  result.reals = question.texts("reals", kMostVariables);
  for (const std::string& name : result.reals) {
    const auto& known = result.variables;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    question.wrong("reals", "'" + name + "' is none of the variables", "some of 'variables'");
  }
  result.leading = question.flag("leading");
  read_number_rules(question, result);
  result.points = question.number("points", 1);
  if (!(result.points >= 0 && result.points <= 1e6)) {
    question.wrong("points", "out of range", "0 to 1000000");
  }
  read_answer(question, result);
  read_mistakes(question, result);
}

void PartReader::read_number_rules(TomlTable& question, Question& result) {
  constexpr double kLargestFactor = 1000;
  result.tolerance = question.number("tolerance", 0);
  if (!(result.tolerance >= 0 && result.tolerance < 1)) {
    question.wrong("tolerance", "not from 0 to below 1", "such as 0.01, relative");
  }
  result.within = question.number("within", 0);
  if (question.has("within") && !(result.within > 1 && result.within <= kLargestFactor)) {
    question.wrong("within", "not above 1 and at most 1000", "a factor such as 2");
  }
  if (question.has("within") && question.has("tolerance")) {
    question.wrong("within", "there is a tolerance, too", "one of the two");
  }
}

void PartReader::read_answer(TomlTable& question, Question& result) {
  const toml::table* measured = question.table("measured");
  if (measured == nullptr) {
    result.answer = filled(question, "answer", question.required_text("answer"));
    return;
  }
  if (question.has("answer")) {
    question.wrong("answer", "there is a measured one, too", "one of the two");
    question.node("answer");
  }
  if (result.tolerance == 0 && result.within == 0) {
    question.wrong("measured", "a measured number needs a tolerance or a factor",
                   "tolerance = 0.1, or within = 2");
  }
  if (const auto found = figure(*measured, "measured")) {
    result.answer = *found;
    result.measured_in = (*measured)["file"].value_or(std::string());
  }
}

void PartReader::read_mistakes(TomlTable& question, Question& result) {
  const std::optional<Answer> right = read_or_complain(question, result, result.answer);
  if (result.kind == AnswerKind::kOpen && question.has("mistakes")) {
    question.wrong("mistakes", "any answer to an open question counts", "no such key here");
  }
  std::vector<Answer> before;
  for (const toml::table* entry : question.tables("mistakes", kMostMistakes)) {
    TomlTable mistake(*entry, "mistakes", errors);
    const std::string answer = filled(mistake, "answer", mistake.required_text("answer"));
    result.mistakes.push_back({answer, filled(mistake, "says", mistake.required_text("says"))});
    mistake.finish();
    if (result.kind == AnswerKind::kOpen) continue;
    const std::optional<Answer> wrong = read_or_complain(mistake, result, answer);
    if (!wrong) continue;
    if (right && agree(result, *wrong, *right)) {
      mistake.wrong("answer", "this is the right answer", "a wrong one");
    } else if (std::any_of(before.begin(), before.end(),
                           [&](const Answer& other) { return agree(result, *wrong, other); })) {
      mistake.wrong("answer", "a mistake above is the same answer", "another one");
    }
    before.push_back(*wrong);
  }
}

}  // namespace flashlab::exercises
