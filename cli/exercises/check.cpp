// `flashlab exercises check`: grades the learner's file and prints its cost.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/exercises/checked_work.hpp"
#include "cli/exercises/failing_run_view.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/exercises/worker_command.hpp"
#include "cli/machine/counter_report.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "exercises/grader/exercise/score_json.hpp"
#include "toymachine/count/count_json.hpp"

namespace flashlab::cli {
namespace {

struct CheckFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::vector<std::string> words;
  std::string html;
  bool json = false, explain = false;
};

Json counts_json(const std::vector<toy::Count>& counts) {
  Json list = Json::array();
  for (const toy::Count& count : counts) list.push_back(toy::count_json(count));
  return list;
}

/// The programs of the ranking; the name of the submission is null.
Json ranking_json(const exercises::Verdict& verdict) {
  if (!verdict.ranking) return {};
  Json programs = Json::array();
  for (const auto& traffic : verdict.ranking->programs) {
    programs.push_back({{"name", traffic.name.empty() ? Json() : Json(traffic.name)},
                        {"dram_bytes", counts_json(traffic.bytes)}});
  }
  return {{"sizes", verdict.ranking->sizes},
          {"programs", std::move(programs)},
          {"lower_bound", counts_json(verdict.ranking->lower_bound)}};
}

Json verdict_json(const Learner& learner, const Work& work, const exercises::Verdict& verdict) {
  Json checks = Json::array(), findings = Json::array(), costs = Json::array();
  for (const auto& check : verdict.checks) {
    checks.push_back({{"name", check.name},
                      {"passed", check.passed},
                      {"points", check.points},
                      {"max_points", check.max_points},
                      {"message", check.message}});
  }
  for (const auto& finding : verdict.findings) {
    findings.push_back({{"what", finding.what},
                        {"details", finding.details},
                        {"line", finding.line},
                        {"step", finding.step},
                        {"inputs", finding.inputs}});
  }
  for (const auto& line : verdict.costs) {
    costs.push_back({{"key", line.key},
                     {"value", toy::count_json(line.value)},
                     {"full", toy::count_json(line.full)},
                     {"solution", toy::count_json(line.solution)},
                     {"naive", toy::count_json(line.naive)}});
  }
  const auto* entry = learner.progress().find(work.exercise->id);
  return {{"id", work.exercise->id},
          {"file", work.file},
          {"outcome", exercises::to_string(verdict.outcome)},
          {"passed", verdict.passed()},
          {"points", verdict.points},
          {"max_points", verdict.max_points},
          {"best_points", entry == nullptr ? verdict.points : entry->points},
          {"size", verdict.size},
          {"checks", std::move(checks)},
          {"findings", std::move(findings)},
          {"costs", std::move(costs)},
          {"scores", exercises::scores_json(verdict)},
          {"load_lines", exercises::load_lines_json(verdict)},
          {"order_unknown", verdict.order_unknown},
          {"ranking", ranking_json(verdict)},
          {"next", learner.next_after(work.exercise->id)}};
}

int check_work(const CheckFlags& options) {
  Learner learner(options.exercises);
  const Work work = learner.find_work(options.words);
  const auto source = read_work(work);
  const exercises::Verdict verdict =
      isolated_grader(work.exercise)->grade(source->name(), std::string(source->text()));
  remember_verdict(learner, work, verdict);
  if (options.json) {
    std::cout
        << verdict_json(learner, work, verdict).dump(2, ' ', false, Json::error_handler_t::replace)
        << "\n";
  } else {
    std::cout << check_text(learner, work, verdict, *source,
                            options.explain ? Explanation::kFull : Explanation::kBrief,
                            options.terminal.terminal());
  }
  if (!options.html.empty() && !verdict.passed()) {
    write_failing_page(find_failing_run(work, *source, verdict), options.html);
  }
  return exit_code_of(verdict);
}

}  // namespace

CommandAction add_exercises_check(CLI::App& exercises) {
  auto options = std::make_shared<CheckFlags>();
  CLI::App& command =
      add_command(exercises, "check", "Is it right, and what does it cost?",
                  "  flashlab exercises check                 the current exercise\n"
                  "  flashlab exercises check 2\n"
                  "  flashlab exercises check 2 other.toy     another file\n"
                  "  flashlab exercises check --explain       where do its cycles go?\n");
  add_work_argument(command, options->words);
  add_flag(command, "--json", options->json, "as JSON");
  add_flag(command, "--explain", options->explain,
           "everything about the cost: which loads can be saved, what the order allows, what is "
           "proved");
  add_option(command, "--html", options->html,
             "if a step is wrong, also write a page with a player of that run")
      .type_name("FILE");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return check_work(*options); };
}

}  // namespace flashlab::cli
