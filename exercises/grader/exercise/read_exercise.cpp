// Reads exercise.toml and the files beside it into an Exercise.
#include <algorithm>
#include <cctype>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/proven.hpp"
#include "exercises/grader/exercise/read_program.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

constexpr const char* kTomlFile = "exercise.toml";
constexpr const char* kProvenFile = "proven.json";
constexpr std::size_t kMostQuestions = 100;
constexpr std::size_t kMostTextBytes = 1 << 20;
constexpr std::size_t kLongestTitle = 100;

void read_top(TomlTable& top, Exercise& exercise) {
  exercise.title = top.required_line("title");
  if (exercise.title.size() > kLongestTitle) {
    top.wrong("title", std::to_string(exercise.title.size()) + " bytes long", "at most 100");
  }
  exercise.demo = top.flag("demo");
  exercise.chapter = top.line("chapter");
  exercise.after = top.line("after");
  if (exercise.after == exercise.id && !exercise.after.empty()) {
    top.wrong("after", "an exercise cannot follow itself", "the id of another exercise");
  } else if (!exercise.after.empty() && !is_exercise_id(exercise.after)) {
    top.wrong("after", "'" + printable(exercise.after) + "' is not the id of an exercise",
              "the name of an exercise's folder");
  }
}

void check_id(const std::string& id, ErrorList& errors) {
  if (is_exercise_id(id)) return;
  errors.add(toy::SourceSpan{}, "'" + printable(id) + "' is not a name for an exercise's folder",
             "letters, digits, _ and -, at most 64");
}

/// Checks texts that are shown to learners unchanged.
void check_texts(const Files& files, std::vector<ReadError>& errors) {
  for (const auto& [name, text] : files) {
    ErrorList list(printable(name), text, errors);
    if (text.size() > kMostTextBytes) {
      list.add(toy::SourceSpan{}, std::to_string(text.size()) + " bytes", "at most 1 MiB");
    } else if (name == "problem.md" || name == "hints.md") {
      const auto bad = first_unprintable(text);
      if (!bad) continue;
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(*bad);
      const auto line = static_cast<std::uint32_t>(1 + std::count(text.begin(), end, '\n'));
      list.add(toy::SourceSpan{line, 1, 1}, "a character that is not text",
               "UTF-8 without control characters");
    }
  }
}

void read_problem(const Files& files, Exercise& exercise, std::vector<ReadError>& errors) {
  const auto file = files.find("problem.md");
  if (file != files.end()) exercise.problem = file->second;
  if (on_one_line(exercise.problem).empty()) {
    ErrorList("problem.md", "", errors)
        .add(toy::SourceSpan{},
             file == files.end() ? "there is no problem.md" : "the file is empty",
             "the text that the learner reads first");
  }
}

/// Runs last: only a task without errors can be compared with the proof.
void read_proven(const Files& files, Exercise& exercise, std::vector<ReadError>& errors) {
  const auto file = files.find(kProvenFile);
  if (file == files.end() || exercise.kind != Kind::kProgram) return;
  auto proven = parse_proven(file->second);
  for (const toy::Diagnostic& diagnostic : proven.diagnostics) {
    errors.push_back({kProvenFile, diagnostic});
  }
  if (!errors.empty() || !proven->in_step_with(exercise.program)) return;
  exercise.proven = std::make_shared<const Proven>(std::move(*proven));
}

void read_task(TomlTable& top, PartReader& parts) {
  parts.read_figures(top);
  const auto questions = top.tables("question", kMostQuestions);
  if (top.has("question")) {
    parts.exercise.kind = Kind::kQuestions;
    if (questions.empty()) top.wrong("question", "no question at all", "[[question]]");
    parts.read_questions(top, questions);
  } else {
    parts.read_program(top);
    parts.read_beside(top);
    parts.read_accepted(top);
    parts.read_equivalents(top);
    parts.read_excused(top);
  }
  parts.read_wrong(top);
  parts.read_avoiding(top);
  top.finish();
}

}  // namespace

bool is_exercise_id(std::string_view id) {
  constexpr std::size_t kLongest = 64;
  return !id.empty() && id.size() <= kLongest && std::all_of(id.begin(), id.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
}

ReadResult read_exercise(const std::string& id, Files files, const std::string& folder,
                         const Files& measurements) {
  ReadResult result;
  Exercise exercise;
  exercise.id = id;
  exercise.folder = folder;
  const auto file = files.find(kTomlFile);
  const bool found = file != files.end();
  ErrorList errors(kTomlFile, found ? file->second : "", result.errors);
  check_id(id, errors);
  if (!found) {
    errors.add(toy::SourceSpan{}, "there is no exercise.toml", "a folder with this file in it");
    return result;
  }
  check_texts(files, result.errors);
  if (!result.errors.empty()) return result;  // everything further is unsafe to show
  Measurements data(measurements);
  std::map<std::string, Figure> figures;
  PartReader parts{exercise, files, result.errors, errors, data, figures};
  const auto parsed = parse_toml(errors);
  if (parsed) {
    TomlTable top(*parsed, kTomlFile, errors);
    read_top(top, exercise);
    read_task(top, parts);
  }
  read_problem(files, exercise, result.errors);
  read_hints(files, exercise, result.errors);
  if (const auto answers = files.find("afterwards.md"); answers != files.end()) {
    exercise.afterwards = answers->second;
  }
  if (parsed) parts.fill_texts(*parsed);
  read_proven(files, exercise, result.errors);
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
