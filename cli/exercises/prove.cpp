// `flashlab exercises prove`: proves the minimum cost of exercises and writes their proven.json.
#include "exercises/grader/prove/prove.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "cli/exercises/loading.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using exercises::Exercise;
using exercises::Proven;
using exercises::ProvenSize;

constexpr const char* kFile = "proven.json";

struct ProveFlags {
  std::vector<std::string> names;
  ExerciseOptions exercises;
  double most_seconds = 60, recorded_below = 0;
  std::size_t jobs = 1;
  std::string most_bytes = "4GiB";
  bool check = false, times = false;
  TerminalOptions terminal;
};

std::vector<std::shared_ptr<const Exercise>> chosen(const ProveFlags& options) {
  std::vector<std::shared_ptr<const Exercise>> result;
  for (const std::string& name : options.names) {
    result.push_back(find_exercise(name, options.exercises));
    if (result.back()->kind == exercises::Kind::kProgram) continue;
    throw request_failure("the exercise " + printable(result.back()->id) +
                              " asks questions: there is nothing to prove",
                          "an exercise with a program to write");
  }
  if (!options.names.empty()) return result;
  for (const auto& exercise : load_exercises(options.exercises)) {
    if (exercise->kind == exercises::Kind::kProgram) result.push_back(exercise);
  }
  return result;
}

/// Returns the committed proof, or null.
std::unique_ptr<const Proven> committed(const Exercise& exercise) {
  const auto file = exercise.files.find(kFile);
  if (file == exercise.files.end()) return nullptr;
  auto proven = exercises::parse_proven(file->second);
  if (!proven) {
    throw request_failure(
        printable(exercise.id) + "/" + kFile + ": " + printable(proven.diagnostics.front().what),
        "what `flashlab exercises prove` writes");
  }
  return std::make_unique<const Proven>(std::move(*proven));
}

std::string cycles_range(const ProvenSize& size) {
  const std::string least = size.at_least_cycles.get_str(), most = size.at_most_cycles.get_str();
  return least == most ? least : least + ".." + most;
}

void add_rows(const Exercise& exercise, const Proven& proven, bool times, TextTable& table) {
  for (const ProvenSize& size : proven.sizes) {
    std::vector<std::string> cells{exercise.id,
                                   exercises::to_string(size.size),
                                   std::string(exercises::to_string(size.verdict)),
                                   cycles_range(size),
                                   size.floor_cycles.get_str(),
                                   std::to_string(size.states)};
    if (times) cells.push_back(fixed_text(size.seconds, 2));
    table.row(std::move(cells));
  }
}

/// Prints the contradictions between the proof and the committed one. Returns their number.
std::size_t check_against(const Exercise& exercise, const Proven* known, const Proven& now) {
  std::vector<std::string> found;
  if (known == nullptr) {
    found.push_back("there is no such file");
  } else if (!known->in_step_with(exercise.program)) {
    found.push_back("it is the proof of another state of the exercise");
  } else {
    found = exercises::contradictions(exercise, *known, now);
  }
  for (const std::string& what : found) {
    std::cout << printable(exercise.id) << "/" << kFile << ": " << what << "\n";
  }
  return found.size();
}

void write_proof(const Exercise& exercise, const Proven& proven) {
  const auto path = std::filesystem::path(exercise.folder) / kFile;
  write_file(path.string(), [&](std::ostream& out) { out << exercises::to_json(proven); });
}

/// The programs in the committed proofs of this exercise and of others with the same arrays.
std::vector<std::string> known_programs(const Exercise& exercise, const ProveFlags& options) {
  std::vector<std::string> result;
  const auto add = [&](const Exercise& other) {
    const auto proven = committed(other);
    if (proven == nullptr) return;
    for (const ProvenSize& size : proven->sizes) {
      if (!size.program.empty()) result.push_back(size.program);
    }
  };
  add(exercise);
  for (const auto& other : load_exercises(options.exercises)) {
    const bool is_program = other->kind == exercises::Kind::kProgram;
    if (!is_program || other->id == exercise.id) continue;
    if (other->program.arrays == exercise.program.arrays) add(*other);
  }
  return result;
}

Proven proof_of(const std::shared_ptr<const Exercise>& exercise, const ProveFlags& options,
                const Proven* known) {
  exercises::ProveOptions how;
  if (!options.check) how.programs = known_programs(*exercise, options);
  how.most_seconds = options.most_seconds;
  how.most_bytes = parse_memory(options.most_bytes);
  how.jobs = options.jobs;
  how.count_programs = !options.check;
  if (options.recorded_below > 0) how.recorded = known;
  how.recorded_below_seconds = options.recorded_below;
  how.done = [&](const ProvenSize& size) {
    std::cerr << "flashlab: " << printable(exercise->id)
              << (size.size.empty() ? "" : " at " + exercises::to_string(size.size)) << ": "
              << exercises::to_string(size.verdict) << ", " << cycles_range(size) << " cycles\n";
  };
  try {
    return exercises::prove(exercise, how);
  } catch (const std::runtime_error& error) {
    throw Failure(kExitRequestWrong, "flashlab: error: " + printable(exercise->id) + ": " +
                                         printable(error.what()) + "\n");
  }
}

int run_prove(const ProveFlags& options) {
  const auto all = chosen(options);
  for (const auto& exercise : all) {
    if (options.check || !exercise->folder.empty()) continue;
    throw request_failure("the exercise " + printable(exercise->id) +
                              " is built into the command: its proof cannot be written",
                          "its folder, exercises/" + printable(exercise->id) + ", or --check");
  }
  std::vector<Column> columns{{"exercise"},
                              {"size"},
                              {"verdict"},
                              {"cycles", Align::kRight},
                              {"floor", Align::kRight},
                              {"states", Align::kRight}};
  if (options.times) columns.push_back({"seconds", Align::kRight});
  TextTable table(std::move(columns));
  std::size_t wrong = 0;
  for (const auto& exercise : all) {
    const auto known = committed(*exercise);
    const Proven proven = proof_of(exercise, options, known.get());
    add_rows(*exercise, proven, options.times, table);
    if (options.check) {
      wrong += check_against(*exercise, known.get(), proven);
    } else {
      write_proof(*exercise, proven);
    }
  }
  if (!options.check) std::cout << table.to_string(options.terminal.terminal());
  if (options.check && wrong == 0) std::cout << "all as committed\n";
  return wrong == 0 ? kExitGood : kExitProgramWrong;
}

}  // namespace

CommandAction add_exercises_prove(CLI::App& exercises) {
  auto options = std::make_shared<ProveFlags>();
  CLI::App& command =
      add_command(exercises, "prove", "Prove what the cheapest programs of exercises cost",
                  "  flashlab exercises prove exercises/03_full_product   writes its proven.json\n"
                  "  flashlab exercises prove exercises/*_softmax --most-seconds 600\n"
                  "  flashlab exercises prove --check --recorded-below 1  is what is committed "
                  "right?\n");
  add_option(command, "exercise", options->names,
             "folders, or names for --check; all when left out")
      .type_name("[ID|FOLDER...]");
  options->exercises.add_to(command);
  add_option(command, "--most-seconds", options->most_seconds, "longest search for each size")
      .between(0.0, 1e9)
      .capture_default_str()
      .type_name("S");
  add_option(command, "--most-bytes", options->most_bytes, "memory that each search may take")
      .capture_default_str()
      .type_name("SIZE");
  add_option(command, "-j,--jobs", options->jobs, "sizes searched at once")
      .between(1, 1024)
      .capture_default_str()
      .type_name("K");
  add_flag(command, "--check", options->check,
           "write nothing; report where the committed file is wrong, and fail then");
  add_option(command, "--recorded-below", options->recorded_below,
             "only sizes whose recorded proof took fewer than this many seconds")
      .between(0.0, 1e9)
      .type_name("S");
  add_flag(command, "--times", options->times, "how long each search took");
  options->terminal.add_to(command);
  return [options] { return run_prove(*options); };
}

}  // namespace flashlab::cli
