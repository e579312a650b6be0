// exercise.toml and the files beside it, to an Exercise.
#include <algorithm>
#include <sstream>

#include "exercises/grader/answers.hpp"
#include "exercises/grader/exercise.hpp"
#include "exercises/grader/read_parts.hpp"
#include "toymachine/assembler.hpp"

namespace flashlab::exercises {
namespace {

constexpr const char* kTomlFile = "exercise.toml";

/// "## Concept" and its three companions: the text under each.
void read_hints(const Files& files, Exercise& exercise, std::vector<ReadError>& errors) {
  static const std::vector<std::string> kTitles = {"Concept", "Place", "Operand", "Solution"};
  const auto file = files.find("hints.md");
  ErrorList list("hints.md", errors);
  if (file == files.end()) {
    list.add(toy::SourceSpan{}, "there is no hints.md", "four sections: ## Concept, ## Place, …");
    return;
  }
  std::istringstream lines(file->second);
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("## ")) {
      const std::string title = line.substr(3);
      const std::size_t level = exercise.hints.size();
      if (level >= kTitles.size() || title != kTitles[level]) {
        list.add(toy::SourceSpan{number, 1, static_cast<std::uint32_t>(line.size())},
                 "unexpected section",
                 level < kTitles.size() ? "## " + kTitles[level] : "no section after ## Solution");
      }
      exercise.hints.emplace_back();
    } else if (!exercise.hints.empty()) {
      exercise.hints.back() += line + "\n";
    }
  }
  for (std::string& hint : exercise.hints) trim_lines(hint);
  for (std::size_t i = 0; i < kTitles.size(); ++i) {
    if (i < exercise.hints.size() && !exercise.hints[i].empty()) continue;
    list.add(toy::SourceSpan{}, "the hint '" + kTitles[i] + "' is missing",
             "a section ## " + kTitles[i] + " with text in it");
  }
  exercise.hints.resize(kHintLevels);
}

void read_top(TomlTable& top, Exercise& exercise) {
  exercise.title = top.required_text("title");
  exercise.demo = top.flag("demo");
  exercise.chapter = top.text("chapter");
}

}  // namespace

void trim_lines(std::string& text) {
  const auto first = text.find_first_not_of('\n');
  text.erase(0, first == std::string::npos ? text.size() : first);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
}

ReadResult read_exercise(const std::string& id, Files files, const std::string& folder) {
  ReadResult result;
  Exercise exercise;
  exercise.id = id;
  exercise.folder = folder;
  ErrorList errors(kTomlFile, result.errors);
  const auto file = files.find(kTomlFile);
  if (file == files.end()) {
    errors.add(toy::SourceSpan{}, "there is no exercise.toml", "a folder with this file in it");
    return result;
  }
  const auto parsed = parse_toml(file->second, errors);
  if (!parsed) return result;
  TomlTable top(*parsed, "exercise.toml", errors);
  read_top(top, exercise);
  const std::vector<const toml::table*> questions = top.tables("question");
  exercise.kind = questions.empty() ? Kind::kProgram : Kind::kQuestions;
  PartReader parts{exercise, files, result.errors, errors};
  if (exercise.kind == Kind::kQuestions) {
    exercise.questions.conventions = top.text("conventions");
    for (const toml::table* question : questions) parts.read_question(*question);
  } else {
    parts.read_program(top);
  }
  parts.read_wrong(top);
  top.finish();
  if (const auto problem = files.find("problem.md"); problem != files.end()) {
    exercise.problem = problem->second;
  } else {
    ErrorList("problem.md", result.errors)
        .add(toy::SourceSpan{}, "there is no problem.md", "what the learner reads first");
  }
  read_hints(files, exercise, result.errors);
  exercise.files = std::move(files);
  if (result.errors.empty()) result.exercise = std::move(exercise);
  return result;
}

std::string format(const std::vector<ReadError>& errors, const Files& files) {
  std::string text;
  for (const ReadError& error : errors) {
    const auto file = files.find(error.file);
    text += format(error.diagnostic,
                   toy::SourceText(error.file, file == files.end() ? "" : file->second));
  }
  return text;
}

}  // namespace flashlab::exercises
