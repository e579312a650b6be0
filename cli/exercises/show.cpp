// `flashlab exercises show`: a problem's text, its machine, and how points are earned.
#include "cli/exercises/show.hpp"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/exercises/exercise_json.hpp"
#include "cli/exercises/learner.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/help/read.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/command_lines.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/markdown_text.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

using exercises::Kind;
using exercises::ProgramTask;

struct ShowFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::string id;
  bool json = false;
};

/// "LOAD, STORE, MAC_Z, MAC; and FILL".
std::string instructions_of(const ProgramTask& task) {
  std::string text, extra;
  const auto& all = toy::instruction_set();
  for (std::size_t row = 0; row < all.size(); ++row) {
    const std::string name(all[row].mnemonic);
    if (all[row].in(task.level)) {
      text += (text.empty() ? "" : ", ") + name;
    } else if (std::find(task.extra_instructions.begin(), task.extra_instructions.end(), row) !=
               task.extra_instructions.end()) {
      extra += (extra.empty() ? "" : ", ") + name;
    }
  }
  return text + (extra.empty() ? "" : "; and " + extra);
}

std::string sizes_of(const ProgramTask& task) {
  const auto text = [](const exercises::Size& size) { return exercises::to_string(size); };
  return joined(task.sizes, "; ", text) +
         (task.drawn.ranges.empty() ? "" : "; and at sizes that are drawn");
}

/// "cycles <= 3*n + 1, loads <= 2*n"; numbers at one size, if a formula is too long to be read.
std::string formulas_text(const exercises::CountFormulas& formulas, const ProgramTask& task,
                          const Terminal& terminal) {
  toy::FormulaStyle style;
  style.unicode = terminal.unicode;
  if (task.interface != nullptr) {
    for (const auto& param : task.interface->params) style.order.push_back(param.name);
  }
  constexpr std::size_t kLongest = 90;  // nobody reads a longer one
  const bool are_long = std::any_of(formulas.begin(), formulas.end(), [&](const auto& entry) {
    return display_width(toy::to_string(entry.second, style)) > kLongest;
  });
  const bool is_at_size = are_long && !task.sizes.empty();
  std::string text;
  for (const auto& [key, formula] : formulas) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + name + (terminal.unicode ? " ≤ " : " <= ") +
            (is_at_size ? exercises::value_at(formula, task.sizes.back()).get_str()
                        : toy::to_string(formula, style));
  }
  if (is_at_size) {
    text += " at " + exercises::to_string(task.sizes.back()) +
            "; at other sizes as the problem says (the formulas: --json)";
  }
  return text;
}

/// "drawn sizes, n = 1000 to 4000, space = 58112".
std::string ranges_of(const exercises::DrawnSizes& drawn) {
  std::string text = "drawn sizes";
  for (const auto& [name, range] : drawn.ranges) {
    text += ", " + name + " = " + std::to_string(range.first);
    if (range.second != range.first) text += " to " + std::to_string(range.second);
  }
  return text;
}

/// What `flashlab gpu --level` means.
std::string code_text(int level) {
  const std::string flag = " (--level " + std::to_string(level) + ")";
  return level == 0 ? ", simple code" + flag : ", on tensor cores" + flag;
}

/// The formulas of the counts that the learner need not predict first.
exercises::CountFormulas formulas_without(exercises::CountFormulas formulas,
                                          const std::vector<std::string>& predicted) {
  for (const std::string& key : predicted) formulas.erase(key);
  return formulas;
}

/// What full marks cost. Counts that the learner predicts are left out until the exercise is passed.
void cost_rows(const exercises::Exercise& exercise, bool tells_all, TextTable& table,
               const Terminal& terminal) {
  const exercises::Cost& cost = exercise.program.cost;
  const std::vector<std::string> hidden = tells_all ? std::vector<std::string>{} : cost.predict;
  if (const auto full = formulas_without(cost.full, hidden); !full.empty()) {
    table.row({"full marks", formulas_text(full, exercise.program, terminal)});
  }
  if (!hidden.empty()) {
    const bool is_first = formulas_without(cost.full, hidden).empty();
    table.row({is_first ? "full marks" : "",
               joined(hidden, ", ") + ": flashlab predict " + short_name(exercise)});
  }
  std::vector<std::string> limits;
  if (const auto most = formulas_without(cost.most, hidden); !most.empty()) {
    limits.push_back(formulas_text(most, exercise.program, terminal));
  }
  if (!cost.most_of_solution.empty()) {
    limits.push_back("no more " + joined(cost.most_of_solution, ", ") + " than the solution has");
  }
  if (limits.empty()) return;
  limits.emplace_back("what costs more gets no points, even if its result is right");
  for (const std::string& limit : limits) {
    table.row({&limit == &limits.front() ? "accepted" : "", limit});
  }
}

void program_rows(const exercises::Exercise& exercise, bool tells_all, TextTable& table,
                  const Terminal& terminal) {
  const ProgramTask& task = exercise.program;
  table.row({"level", std::string(toy::to_string(task.level))});
  table.row({"instructions", instructions_of(task)});
  table.row({"registers", task.registers.empty() ? "as many as you like" : task.registers});
  if (task.most_register_bytes) {
    table.row({"", "at most " + to_string(*task.most_register_bytes) + " bytes in them at once"});
  }
  if (task.free_tiles) table.row({"tiles", "of any size that you declare"});
  if (task.operands == toy::OperandRule::kPinned) {
    table.row({"operands", "pinned: products take R0 and R1 only"});
  }
  for (std::size_t i = 0; i < task.arrays.size(); ++i) {
    const std::string& declared = task.arrays[i];
    const std::size_t tile = task.free_tiles ? declared.find(" tile ") : std::string::npos;
    table.row({i == 0 ? "arrays" : "", printable(declared.substr(0, tile))});
  }
  if (task.temporaries) {
    table.row({"", ".temp arrays of your own" +
                       (task.most_temporary
                            ? ", at most " + to_string(*task.most_temporary) + " elements together"
                            : "")});
  }
  if (const std::string sizes = sizes_of(task); !sizes.empty()) {
    table.row({"tested at", sizes});  // not shown without parameters: there is only one size
  }
  if (!task.counted.ranges.empty()) table.row({"counted at", ranges_of(task.counted)});
  const std::string correct = "a right result: " + points_text(task.points.correct);
  if (task.speed) {
    const exercises::Speed& speed = *task.speed;
    table.row({"points", correct + "; its time: up to " + points_text(speed.points)});
    table.row({"timed at", exercises::to_string(speed.size) + ", " + "batch " +
                               std::to_string(speed.batch) + ", " + counted(speed.heads, "head") +
                               ", " + speed.dtype + code_text(speed.level) + ", " +
                               kib_text(speed.shared_bytes) + " of shared memory for a block"});
  } else if (task.cost.full.empty()) {
    table.row({"points", correct});
  } else {
    table.row({"points", correct + "; its cost: up to " + points_text(task.points.cost)});
  }
  cost_rows(exercise, tells_all, table, terminal);
}

std::string facts_table(const exercises::Exercise& exercise, bool tells_all,
                        const Terminal& terminal) {
  TextTable table({{"your machine"}, {""}});
  if (exercise.kind == Kind::kProgram) {
    program_rows(exercise, tells_all, table, terminal);
  } else {
    table = TextTable({{"your answers"}, {""}});
    table.row({"questions", std::to_string(exercise.questions.questions.size())});
    table.row({"points", points_text(exercise.max_points())});
  }
  if (!exercise.chapter.empty()) table.row({"read", reading_command(exercise.chapter)});
  return table.to_string(terminal);
}

/// The questions in the words of the answer sheet: the problem's text is only the introduction.
std::string questions_of(const exercises::Exercise& exercise) {
  std::string text;
  if (!exercise.questions.conventions.empty()) text += exercise.questions.conventions + "\n\n";
  std::size_t number = 0;
  for (const exercises::Question& question : exercise.questions.questions) {
    text += std::to_string(++number) + ". " + question.ask + "\n";
    char letter = 'a';
    for (const std::string& choice : question.choices) {
      text += std::string("   - (") + letter++ + ") " + choice + "\n";
    }
  }
  return text;
}

void print_next_command(const exercises::Exercise& exercise, const Learner& learner,
                        const Terminal& terminal) {
  const auto* entry = learner.progress().find(exercise.id);
  const std::string id = printable(exercise.id);
  if (entry != nullptr && !entry->file.empty()) {
    std::cout << "\nYour file, to edit: " << shown_path(entry->file) << "\n"
              << fitted_lines("Go on with: flashlab check " + id, terminal);
  } else {
    std::cout << "\n" << fitted_lines("Go on with: flashlab start " + id, terminal);
  }
}

int show(const ShowFlags& options) {
  Learner learner(options.exercises);
  const std::string id = options.id.empty() ? learner.next() : options.id;
  const ExercisePointer exercise = learner.find(id);
  if (options.json) {
    print_json(exercise_json(*exercise));
    return kExitGood;
  }
  show_exercise(*exercise, learner, options.terminal.terminal());
  learner.print_notes();
  return kExitGood;
}

}  // namespace

void show_exercise(const exercises::Exercise& exercise, const Learner& learner,
                   const Terminal& terminal) {
  const std::string name = printable(exercise.id);
  std::cout << styled(exercise.demo ? name + " (solved already)" : name, Style::kDim, terminal)
            << "\n\n"
            << markdown_text(exercise.problem, terminal) << "\n";
  if (exercise.kind == Kind::kQuestions) {
    std::cout << markdown_text(questions_of(exercise), terminal) << "\n";
  }
  std::cout << facts_table(exercise, learner.progress().passed(exercise.id), terminal);
  print_next_command(exercise, learner, terminal);
}

CommandAction add_exercises_show(CLI::App& exercises) {
  auto options = std::make_shared<ShowFlags>();
  CLI::App& command =
      add_command(exercises, "show", "A problem, its machine, and what earns the points",
                  "  flashlab exercises show          the next one\n"
                  "  flashlab exercises show 2\n");
  add_option(command, "id", options->id, "number or name of an exercise (the next one)")
      .type_name("ID");
  add_flag(command, "--json", options->json, "as JSON");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return show(*options); };
}

}  // namespace flashlab::cli
