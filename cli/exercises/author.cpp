// `flashlab exercises new` and `flashlab exercises lint`, for authors of exercises.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/exercises/loading.hpp"
#include "cli/exercises/mutant_report.hpp"
#include "cli/exercises/red_team_report.hpp"
#include "cli/exercises/remark_report.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/gpu/speed.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/prove/lint.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using exercises::ExerciseSource;
using exercises::LintProblem;

struct NewOptions {
  std::string id;
  std::string folder = ".";
};

int make_new(const NewOptions& options) {
  if (!exercises::is_exercise_id(options.id)) {
    throw request_failure("'" + printable(options.id) + "' is not a name for an exercise",
                          "letters, digits, _ and -, at most 64: 27_running_minimum");
  }
  const std::filesystem::path folder = std::filesystem::path(options.folder) / options.id;
  if (std::filesystem::symlink_status(folder).type() != std::filesystem::file_type::not_found) {
    throw request_failure("'" + printable(folder.string()) + "' is there already",
                          "a name that is free, or another folder (--in DIR)");
  }
  std::error_code error;
  for (const auto& [name, text] : exercises::template_exercise().files) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      throw request_failure("cannot make the folder '" + printable(path.parent_path().string()) +
                            "': " + error.message());
    }
    write_file(path.string(), [&text = text](std::ostream& stream) { stream << text; });
  }
  const std::string shown = printable(folder.string());
  if (is_builtin_id(options.id)) {
    std::cerr << "flashlab: warning: there is a built-in exercise " << options.id
              << "; with --exercises, this one replaces it\n";
  }
  std::cout << "made " << shown << ", an exercise that works: a dot product\n"
            << "next: edit " << shown << "/exercise.toml and the files beside it, then\n"
            << "  flashlab exercises lint " << shown << "\n"
            << "  flashlab check " << shown << " FILE.toy\n";
  return kExitGood;
}

struct LintOptions {
  std::vector<std::string> names;
  ExerciseOptions exercises;
  bool json = false, mutants = false, red_team = false, remarks = false;
  std::size_t every = 1;
  std::optional<int> seeds;
  std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  std::uint64_t seed = exercises::GraderOptions{}.seed;
  TerminalOptions terminal;
};

ExerciseSource source_or_folder(const std::string& name, const std::vector<ExerciseSource>& all) {
  std::vector<std::string> ids;
  for (const ExerciseSource& source : all) {
    exercises::Exercise named;
    named.id = source.id;
    if (named.answers_to(name)) return source;
    ids.push_back(source.id);
  }
  if (std::filesystem::is_directory(name)) {
    const std::filesystem::path last = std::filesystem::path(name).filename();
    const bool has_no_name = last == "." || last == "..";
    try {
      return exercises::load_folder(has_no_name ? std::filesystem::canonical(name).string() : name);
    } catch (const std::runtime_error& error) {
      throw request_failure(printable(error.what()));
    }
  }
  throw request_failure("there is no exercise and no folder '" + printable(name) + "'",
                        "one that `flashlab exercises list` shows, or a folder",
                        nearest(name, ids).value_or(""));
}

std::vector<ExerciseSource> whole_course(const LintOptions& options) {
  try {
    return exercises::all_exercises(options.exercises.all_folders());
  } catch (const std::runtime_error& error) {
    throw request_failure(printable(error.what()));
  }
}

std::vector<ExerciseSource> sources_to_lint(const LintOptions& options) {
  std::vector<ExerciseSource> all = whole_course(options);
  if (options.names.empty()) {
    all.insert(all.begin(), exercises::template_exercise());
    return all;
  }
  std::vector<ExerciseSource> chosen;
  for (const std::string& name : options.names) chosen.push_back(source_or_folder(name, all));
  return chosen;
}

void print_problems(const ExerciseSource& source, const std::vector<LintProblem>& problems) {
  const std::string folder = printable(source.folder.empty() ? source.id : source.folder);
  for (const LintProblem& problem : problems) {
    const bool placed = problem.what.starts_with(problem.file + ":");  // as in the reader's errors
    std::cout << folder << "/" << (placed ? "" : problem.file + ": ") << problem.what
              << (problem.what.ends_with('\n') ? "" : "\n");
  }
}

/// The exercises with programs to write, for what is made from their solutions.
std::vector<std::shared_ptr<const exercises::Exercise>> with_solutions(const LintOptions& options) {
  std::vector<std::shared_ptr<const exercises::Exercise>> all;
  for (const ExerciseSource& source : sources_to_lint(options)) {
    exercises::ReadResult read = exercises::read_exercise(source.id, source.files, source.folder);
    if (!read.exercise) {
      throw Failure(kExitProgramWrong, exercises::format(read.errors, source.files));
    }
    all.push_back(std::make_shared<const exercises::Exercise>(std::move(*read.exercise)));
  }
  if (std::none_of(all.begin(), all.end(), [](const auto& exercise) {
        return exercise->kind == exercises::Kind::kProgram;
      })) {
    throw request_failure("nothing to change: the exercise asks questions",
                          "an exercise with a solution.toy");
  }
  return all;
}

int run_mutants(const LintOptions& options) {
  return report_mutants(with_solutions(options), options.jobs, options.seed, options.json,
                        options.terminal.terminal());
}

int run_red_team(const LintOptions& options) {
  exercises::RedTeamOptions red_team;
  red_team.first_seed = options.seed;
  red_team.seeds = static_cast<std::size_t>(options.seeds.value_or(1));
  red_team.jobs = options.jobs;
  red_team.step = add_predicted_time;
  return report_red_team(with_solutions(options), red_team, options.json,
                         options.terminal.terminal());
}

int run_lint(const LintOptions& options) {
  if (options.remarks) {
    return report_remarks(with_solutions(options), options.jobs, options.seed, options.every,
                          options.terminal.terminal());
  }
  if (options.mutants) return run_mutants(options);
  if (options.red_team) return run_red_team(options);
  if (options.seeds) throw request_failure("--seeds without --red-team", "both or none");
  const std::vector<ExerciseSource> sources = sources_to_lint(options);
  const std::vector<ExerciseSource> course = whole_course(options);
  auto list = nlohmann::ordered_json::array();
  std::size_t broken = 0, total = 0;
  for (const ExerciseSource& source : sources) {
    std::vector<LintProblem> problems = exercises::lint(source);
    for (LintProblem& problem : exercises::lint_place(source, course)) {
      problems.push_back(std::move(problem));
    }
    total += problems.size();
    broken += problems.empty() ? 0 : 1;
    if (!options.json) print_problems(source, problems);
    auto entries = nlohmann::ordered_json::array();
    for (const LintProblem& problem : problems) {
      entries.push_back({{"file", problem.file}, {"what", problem.what}});
    }
    list.push_back({{"id", printable(source.id)}, {"problems", std::move(entries)}});
  }
  if (options.json) {
    const nlohmann::ordered_json report = {{"version", 1}, {"exercises", std::move(list)}};
    print_json(report);
  } else if (total == 0) {
    std::cout << counted(sources.size(), "exercise") << ", nothing wrong\n";
  } else {
    std::cout << counted(sources.size(), "exercise") << ", " << counted(total, "problem") << " in "
              << broken << "\n";
  }
  return total == 0 ? kExitGood : kExitProgramWrong;
}

}  // namespace

CommandAction add_exercises_new(CLI::App& exercises) {
  auto options = std::make_shared<NewOptions>();
  CLI::App& command = add_command(exercises, "new", "Copy an example exercise to start from",
                                  "  flashlab exercises new 27_running_minimum\n"
                                  "  flashlab exercises new 27_running_minimum --in my_exercises");
  add_option(command, "id", options->id, "the new folder's name").type_name("ID").required();
  add_option(command, "--in", options->folder, "the folder to put it in")
      .type_name("DIR")
      .capture_default_str();
  return [options] { return make_new(*options); };
}

CommandAction add_exercises_lint(CLI::App& exercises) {
  auto options = std::make_shared<LintOptions>();
  CLI::App& command = add_command(exercises, "lint", "Report what is wrong with exercises",
                                  "  flashlab exercises lint\n"
                                  "  flashlab exercises lint my_exercises/27_running_minimum\n"
                                  "  flashlab exercises lint --mutants 8\n"
                                  "  flashlab exercises lint --red-team --seeds 20 8");
  add_option(command, "exercise", options->names, "names or folders; all exercises when left out")
      .type_name("[ID|FOLDER...]");
  options->exercises.add_to(command);
  add_flag(command, "--json", options->json, "print a JSON object");
  const Flag mutants =
      add_flag(command, "--mutants", options->mutants,
               "grade every program one edit away from a solution: each must fail or be "
               "proved equal");
  const Flag red_team =
      add_flag(command, "--red-team", options->red_team,
               "grade programs that want points without the idea of an exercise: none may gain one")
          .excludes(mutants);
  const Flag remarks = add_flag(
      command, "--remarks", options->remarks,
      "check what mutants are told, at other sizes and on other inputs: none may be false");
  remarks.excludes(mutants).excludes(red_team);
  add_option(command, "--every", options->every, "check every N-th mutant with --remarks")
      .between(std::size_t{1}, std::size_t{1000000})
      .type_name("N");
  add_option(command, "--seeds", options->seeds, "seeds of --red-team, the first is that of --seed")
      .between(1, 10000)
      .type_name("N");
  add_option(command, "-j,--jobs", options->jobs, "programs graded at once (one per processor)")
      .between(1, 1024)
      .type_name("K");
  add_option(command, "--seed", options->seed,
             "seed of what --mutants, --red-team and --remarks draw")
      .between(std::int64_t{0}, INT64_MAX)
      .type_name("N");
  options->terminal.add_to(command);
  return [options] { return run_lint(*options); };
}

}  // namespace flashlab::cli
