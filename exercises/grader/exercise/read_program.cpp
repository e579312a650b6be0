// Reads a program exercise: the tables of exercise.toml in turn, and the programs beside it.
#include "exercises/grader/exercise/read_program.hpp"

#include <algorithm>

#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {

const std::string* PartReader::find_text(const std::string& file) const {
  const auto found = files.find(file);
  return found == files.end() ? nullptr : &found->second;
}

const std::string* PartReader::text(const std::string& file, TomlTable* table,
                                    std::string_view key) {
  const std::string* found = find_text(file);
  if (found == nullptr && table != nullptr) {
    table->wrong(key, "there is no file '" + file + "'", "a file of the exercise's folder",
                 near_file(file));
  } else if (found == nullptr) {
    ErrorList(file, "", read_errors)
        .add(toy::SourceSpan{}, "there is no " + file, "a file of the exercise's folder");
  }
  return found;
}

std::string PartReader::near_file(const std::string& file) const {
  std::vector<std::string> names;
  for (const auto& entry : files) names.push_back(entry.first);
  return printable(nearest(file, names).value_or(""));
}

std::shared_ptr<const toy::Program> PartReader::program(const std::string& file, TomlTable* table,
                                                        std::string_view key) {
  const std::string* source = text(file, table, key);
  if (source == nullptr) return nullptr;
  if (!file.ends_with(".toy")) {
    if (table != nullptr) table->wrong(key, "'" + file + "' is not a program", "a .toy file");
    return nullptr;
  }
  const toy::Limits limits;
  auto assembled = toy::assemble(std::make_shared<toy::SourceText>(file, *source), limits);
  for (const toy::Diagnostic& diagnostic : assembled.diagnostics) {
    if (assembled || errors.full()) break;
    read_errors.push_back({file, diagnostic});
  }
  if (!assembled) return nullptr;
  return std::make_shared<const toy::Program>(std::move(*assembled));
}

void PartReader::read_part(TomlTable& top, const char* key, void (PartReader::*read)(TomlTable&)) {
  static const toml::table kNone;
  const toml::table* found = top.table(key);
  TomlTable table(found != nullptr ? *found : kNone, "[" + std::string(key) + "]", errors);
  if (found == nullptr &&
      (std::string_view(key) == "machine" || std::string_view(key) == "expect")) {
    return;  // reported already
  }
  (this->*read)(table);
  table.finish();
}

void PartReader::read_program(TomlTable& top) {
  if (!top.has("machine")) top.missing("machine", "[machine] with level, arrays, sizes");
  if (!top.has("expect")) top.missing("expect", "[expect] with a reference");
  read_part(top, "limits", &PartReader::read_limits);
  read_part(top, "machine", &PartReader::read_machine);
  read_part(top, "inputs", &PartReader::read_inputs);
  read_part(top, "expect", &PartReader::read_expect);
  read_part(top, "cost", &PartReader::read_cost);
  if (top.has("speed")) read_part(top, "speed", &PartReader::read_speed);
  read_part(top, "points", &PartReader::read_points);
  read_solution();
  read_starter();
}

void PartReader::read_solution() {
  constexpr const char* kFile = "solution.toy";
  ProgramTask& task = exercise.program;
  task.solution = program(kFile);
  if (task.solution == nullptr || task.interface == nullptr) return;
  const auto& mine = task.solution->arrays;
  for (const toy::ArrayDeclaration& wanted : task.interface->arrays) {
    if (std::any_of(mine.begin(), mine.end(), [&](const toy::ArrayDeclaration& array) {
          return array.name == wanted.name && array.role == wanted.role;
        })) {
      continue;
    }
    const bool input = wanted.role == toy::ArrayRole::kInput;
    ErrorList(kFile, *find_text(kFile), read_errors)
        .add(
            toy::SourceSpan{1, 1, 1}, "the array " + wanted.name + " is not declared",
            std::string(input ? ".input " : ".output ") + wanted.name + ", as in [machine] arrays");
  }
}

void PartReader::read_starter() {
  constexpr const char* kFile = "starter.toy";
  if (!exercise.demo) {
    if (const std::string* starter = text(kFile)) exercise.program.starter = *starter;
    if (find_text(kFile) != nullptr) program(kFile);
    return;
  }
  if (const std::string* solution = find_text("solution.toy")) {
    exercise.program.starter = *solution;
  }
  if (find_text(kFile) != nullptr) {
    ErrorList(kFile, "", read_errors)
        .add(toy::SourceSpan{}, "a demonstration has no starter of its own",
             "no such file: learners begin with solution.toy");
  }
}

void PartReader::read_wrong(TomlTable& top) {
  constexpr std::size_t kMost = 100;
  std::vector<WrongSubmission>& all = exercise.program.wrong;
  const bool is_program = exercise.kind == Kind::kProgram;
  for (const toml::table* entry : top.tables("wrong", kMost)) {
    TomlTable table(*entry, "[[wrong]]", errors);
    WrongSubmission wrong;
    wrong.file = table.required_line("file");
    wrong.line = static_cast<std::uint32_t>(table.whole("line", 0, 0, 1'000'000));
    wrong.says = table.line("says");
    const std::string ending = is_program ? ".toy" : ".txt";
    if (wrong.file.empty()) {
    } else if (!wrong.file.starts_with("wrong/") || !wrong.file.ends_with(ending)) {
      table.wrong("file", "'" + wrong.file + "'", "wrong/NAME" + ending);
    } else if (std::any_of(all.begin(), all.end(), [&](const WrongSubmission& other) {
                 return other.file == wrong.file;
               })) {
      table.wrong("file", "'" + wrong.file + "' is listed twice", "one [[wrong]] for each file");
    } else if (const std::string* found = text(wrong.file, &table, "file")) {
      const std::size_t lines = toy::SourceText(wrong.file, *found).num_lines();
      if (wrong.line > lines) {
        table.wrong("line", "there is no line " + std::to_string(wrong.line),
                    "one of the " + std::to_string(lines) + " lines of " + wrong.file);
      }
    }
    table.finish();
    all.push_back(std::move(wrong));
  }
  if (is_program && !exercise.demo && !top.has("wrong")) {
    top.missing("wrong", "at least one [[wrong]] with file = \"wrong/NAME.toy\"");
  }
}

void PartReader::read_avoiding(TomlTable& top) {
  constexpr std::size_t kMost = 100;
  ProgramTask& task = exercise.program;
  task.unavoidable = top.line("unavoidable");
  const std::string ending = exercise.kind == Kind::kProgram ? ".toy" : ".txt";
  for (const toml::table* entry : top.tables("avoids", kMost)) {
    TomlTable table(*entry, "[[avoids]]", errors);
    AvoidingSubmission avoiding;
    avoiding.file = table.required_line("file");
    avoiding.says = table.required_line("says");
    const bool twice =
        std::any_of(task.avoiding.begin(), task.avoiding.end(),
                    [&](const AvoidingSubmission& other) { return other.file == avoiding.file; });
    if (avoiding.file.empty()) {
    } else if (!avoiding.file.starts_with("avoids/") || !avoiding.file.ends_with(ending)) {
      table.wrong("file", "'" + avoiding.file + "'", "avoids/NAME" + ending);
    } else if (twice) {
      table.wrong("file", "'" + avoiding.file + "' is listed twice",
                  "one [[avoids]] for each file");
    } else {
      text(avoiding.file, &table, "file");
    }
    table.finish();
    task.avoiding.push_back(std::move(avoiding));
  }
}

void PartReader::read_accepted(TomlTable& top) {
  constexpr std::size_t kMost = 20;
  for (const toml::table* entry : top.tables("accepted", kMost)) {
    TomlTable table(*entry, "[[accepted]]", errors);
    AcceptedSubmission accepted;
    accepted.file = table.required_line("file");
    accepted.because = table.required_line("because");
    if (accepted.file.empty()) {
    } else if (!accepted.file.starts_with("accepted/") || !accepted.file.ends_with(".toy")) {
      table.wrong("file", "'" + accepted.file + "'", "accepted/NAME.toy");
    } else {
      text(accepted.file, &table, "file");
    }
    table.finish();
    exercise.program.accepted.push_back(std::move(accepted));
  }
}

void PartReader::read_beside(TomlTable& top) {
  constexpr std::size_t kMost = 8;
  for (const toml::table* entry : top.tables("beside", kMost)) {
    TomlTable table(*entry, "[[beside]]", errors);
    RankedProgram beside;
    beside.name = table.required_line("name");
    const std::string file = table.required_line("file");
    if (!file.empty() && !file.starts_with("beside/")) {
      table.wrong("file", "'" + file + "'", "beside/NAME.toy");
    } else if (!file.empty()) {
      beside.program = program(file, &table, "file");
    }
    if (exercise.program.counted.ranges.empty()) {
      table.wrong("file",
                  "programs are compared at the sizes of [machine] counted, and it has none",
                  "counted = { n = [1000, 2000] }");
    }
    table.finish();
    if (beside.program != nullptr) exercise.program.beside.push_back(std::move(beside));
  }
}

void PartReader::read_excused(TomlTable& top) {
  constexpr std::size_t kMost = 20;
  for (const toml::table* entry : top.tables("excused", kMost)) {
    TomlTable table(*entry, "[[excused]]", errors);
    const std::string family = table.required_line("family");
    const std::string because = table.required_line("because");
    if (exercise.program.excused.contains(family)) {
      table.wrong("family", "'" + family + "' is listed twice", "one [[excused]] for each family");
    }
    table.finish();
    if (!family.empty()) exercise.program.excused[family] = because;
  }
}

void PartReader::read_equivalents(TomlTable& top) {
  constexpr std::size_t kMost = 50;
  for (const toml::table* entry : top.tables("equivalent", kMost)) {
    TomlTable table(*entry, "[[equivalent]]", errors);
    Equivalent equivalent;
    equivalent.line = static_cast<std::uint32_t>(table.whole("line", 0, 1, 1'000'000));
    equivalent.change = table.required_line("change");
    equivalent.because = table.required_line("because");
    if (!table.has("line")) table.missing("line", "a line of solution.toy");
    table.finish();
    exercise.program.equivalents.push_back(std::move(equivalent));
  }
}

}  // namespace flashlab::exercises
