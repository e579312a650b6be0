// `flashlab exercises history` and `board`: the learner's own results.
#include <algorithm>
#include <array>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/exercises/learner.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/gpu/speed.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/judge/records.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/count/count_json.hpp"

namespace flashlab::cli {
namespace {

using exercises::ProgressResult;

struct HistoryFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::string id;
  bool json = false;
};

/// "2026-11-28 11:00" where the learner is, for "2026-11-28T10:00:00Z".
std::string local_time(const std::string& when) {
  std::tm parts{};
  if (strptime(when.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return printable(when);
  const std::time_t time = timegm(&parts);
  std::tm local{};
  localtime_r(&time, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local);
  return {text.data(), size};
}

std::string file_name(const ProgressResult& result) {
  return result.file.empty() ? "" : shown_path(result.file);
}

/// The first of the best results; none of no results.
const ProgressResult* best_of_results(const std::vector<ProgressResult>& results) {
  const ProgressResult* best = nullptr;
  for (const ProgressResult& result : results) {
    if (best == nullptr || exercises::is_better(result, *best)) best = &result;
  }
  return best;
}

std::set<std::string> keys_of(const std::vector<ProgressResult>& results) {
  std::set<std::string> keys;
  for (const ProgressResult& result : results) {
    for (const auto& entry : result.costs) keys.insert(entry.first);
  }
  return keys;
}

/// The columns of a table. Registers are one if they differ: nearly all programs use all of them.
std::set<std::string> shown_keys(const std::vector<ProgressResult>& results) {
  const std::string registers(exercises::kRegisters);
  std::set<toy::Count> counts;
  for (const ProgressResult& result : results) {
    const auto found = result.costs.find(registers);
    if (found != result.costs.end()) counts.insert(found->second);
  }
  std::set<std::string> keys = keys_of(results);
  if (counts.size() < 2) keys.erase(registers);
  return keys;
}

/// The count without its unit, which the head of the column has; a time has its own.
std::string cell_of(const ProgressResult& result, const std::string& key) {
  const auto found = result.costs.find(key);
  if (found == result.costs.end()) return "";
  const bool is_time = key == kPredictedTime || key == kMeasuredTime;
  return is_time ? exercises::count_words(key, found->second) : grouped(found->second.get_str());
}

std::string points_cell(const ProgressResult& result, const exercises::Exercise& exercise) {
  return exercises::points_text(result.points) + "/" +
         exercises::points_text(exercise.max_points());
}

std::string history_table(const exercises::Exercise& exercise,
                          const std::vector<ProgressResult>& results, const Terminal& terminal) {
  const std::set<std::string> keys = shown_keys(results);
  std::vector<Column> columns{{"date", Align::kRight}, {"points", Align::kRight}};
  for (const std::string& key : keys) {
    columns.push_back({exercises::counted_things(key), Align::kRight});
  }
  columns.push_back({"file"});
  TextTable table(columns);
  const std::string mark = styled(terminal.unicode ? "★ " : "* ", Style::kGreen, terminal);
  const ProgressResult* best = best_of_results(results);
  for (const ProgressResult& result : results) {
    std::vector<std::string> cells{(&result == best ? mark : "") + local_time(result.when),
                                   points_cell(result, exercise)};
    for (const std::string& key : keys) cells.push_back(cell_of(result, key));
    cells.push_back(file_name(result));
    table.row(std::move(cells));
  }
  return table.to_string(terminal) + "  " + mark + "the best\n";
}

Json results_json(const std::vector<ProgressResult>& results) {
  Json list = Json::array();
  const ProgressResult* best = best_of_results(results);
  for (const ProgressResult& result : results) {
    Json costs = Json::object();
    for (const auto& [key, count] : result.costs) costs[key] = toy::count_json(count);
    list.push_back({{"when", result.when},
                    {"points", result.points},
                    {"costs", std::move(costs)},
                    {"file", result.file},
                    {"best", &result == best}});
  }
  return list;
}

std::string no_results(const exercises::Exercise& exercise) {
  return "No result of " + printable(exercise.id) + " is kept yet: flashlab check " +
         short_name(exercise) + "\n";
}

int history(const HistoryFlags& options) {
  Learner learner(options.exercises);
  learner.print_notes();
  std::vector<ExercisePointer> chosen;
  if (options.id.empty()) {
    chosen = learner.all();
    std::erase_if(chosen, [&](const ExercisePointer& exercise) {
      return learner.progress().results_of(exercise->id).empty();
    });
  } else {
    chosen.push_back(learner.find(options.id));
  }
  Json json = Json::array();
  const Terminal terminal = options.terminal.terminal();
  for (const ExercisePointer& exercise : chosen) {
    const auto results = learner.progress().results_of(exercise->id);
    if (options.json) {
      json.push_back({{"id", exercise->id}, {"results", results_json(results)}});
      continue;
    }
    std::cout << (exercise == chosen.front() ? "" : "\n")
              << styled(printable(exercise->id + ": " + exercise->title), Style::kBold, terminal)
              << "\n\n"
              << (results.empty() ? no_results(*exercise)
                                  : history_table(*exercise, results, terminal));
  }
  if (options.json) {
    print_json(json);
  } else if (chosen.empty()) {
    std::cout << "No results are kept yet: `flashlab check` keeps each that earns points.\n";
  }
  return kExitGood;
}

/// The best result of each file, best first; of equal ones the older.
std::vector<ProgressResult> board_of(const std::vector<ProgressResult>& results) {
  std::vector<ProgressResult> board;
  for (const ProgressResult& result : results) {
    const auto same = std::find_if(board.begin(), board.end(), [&](const ProgressResult& other) {
      return other.file == result.file;
    });
    if (same == board.end()) {
      board.push_back(result);
    } else if (exercises::is_better(result, *same)) {
      *same = result;
    }
  }
  std::stable_sort(board.begin(), board.end(), exercises::is_better);
  return board;
}

/// Programs of the exercise, to compare with: the one to beat, and the solution.
std::vector<ProgressResult> given_programs(const exercises::Exercise& exercise) {
  if (!exercise.program.speed) return {};
  ProgressResult given, solution;
  given.file = exercise.program.speed->given->source->name();
  given.costs[kPredictedTime] = predicted_time(exercise, exercise.program.speed->given);
  solution.file = "our solution";
  solution.costs[kPredictedTime] = predicted_time(exercise, exercise.program.solution);
  return {given, solution};
}

std::string board_table(const exercises::Exercise& exercise,
                        const std::vector<ProgressResult>& results, const Terminal& terminal) {
  const std::set<std::string> keys = shown_keys(results);
  std::vector<Column> columns{{"place", Align::kRight}, {"file"}};
  for (const std::string& key : keys) {
    columns.push_back({exercises::counted_things(key), Align::kRight});
  }
  columns.push_back({"points", Align::kRight});
  columns.push_back({"date", Align::kRight});
  TextTable table(columns);
  std::vector<ProgressResult> others = given_programs(exercise);
  std::sort(others.begin(), others.end(), exercises::is_better);
  const auto add = [&](const ProgressResult& result, const std::string& place) {
    const bool is_mine = !place.empty();
    std::vector<std::string> cells{
        place, is_mine ? file_name(result) : styled(printable(result.file), Style::kDim, terminal)};
    for (const std::string& key : keys) cells.push_back(cell_of(result, key));
    cells.push_back(is_mine ? points_cell(result, exercise) : "");
    cells.push_back(is_mine ? local_time(result.when) : "");
    table.row(std::move(cells));
  };
  // Points come first in a comparison, and the other programs have none.
  const auto is_before = [](ProgressResult a, const ProgressResult& b) {
    a.points = b.points;
    return exercises::is_better(a, b);
  };
  auto other = others.begin();
  std::size_t place = 0;
  for (const ProgressResult& result : board_of(results)) {
    for (; other != others.end() && is_before(*other, result); ++other) add(*other, "");
    add(result, std::to_string(++place));
  }
  for (; other != others.end(); ++other) add(*other, "");
  return table.to_string(terminal);
}

int board(const HistoryFlags& options) {
  Learner learner(options.exercises);
  learner.print_notes();
  const ExercisePointer exercise = learner.find(options.id);
  const auto results = learner.progress().results_of(exercise->id);
  if (options.json) {
    print_json({{"id", exercise->id},
                {"results", results_json(board_of(results))},
                {"others", results_json(given_programs(*exercise))}});
    return kExitGood;
  }
  const Terminal terminal = options.terminal.terminal();
  std::cout << styled(printable(exercise->id + ": " + exercise->title), Style::kBold, terminal)
            << "\n\n"
            << (results.empty() ? no_results(*exercise)
                                : board_table(*exercise, results, terminal));
  return kExitGood;
}

CLI::App& add_results_command(CLI::App& exercises, const std::shared_ptr<HistoryFlags>& options,
                              const std::string& name, const std::string& summary,
                              const std::string& examples, const std::string& which) {
  CLI::App& command = add_command(exercises, name, summary, examples);
  add_option(command, "id", options->id, "number or name of an exercise (" + which + ")")
      .type_name("ID");
  add_flag(command, "--json", options->json, "as JSON");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return command;
}

}  // namespace

CommandAction add_exercises_history(CLI::App& exercises) {
  auto options = std::make_shared<HistoryFlags>();
  add_results_command(exercises, options, "history", "Your own results: when, points, and costs",
                      "  flashlab exercises history 6         of one exercise, newest last\n"
                      "  flashlab exercises history           of all\n",
                      "all");
  return [options] { return history(*options); };
}

CommandAction add_exercises_board(CLI::App& exercises) {
  auto options = std::make_shared<HistoryFlags>();
  add_results_command(exercises, options, "board", "Your programs for an exercise, best first",
                      "  flashlab exercises board 36     by time, beside the program to beat\n"
                      "  flashlab exercises board 4      by points, then by cycles\n",
                      "the current one");
  return [options] { return board(*options); };
}

}  // namespace flashlab::cli
