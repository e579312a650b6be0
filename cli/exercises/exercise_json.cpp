#include "cli/exercises/exercise_json.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "exercises/grader/exercise/score_json.hpp"
#include "exercises/grader/grade/course.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/trace/trace_html.hpp"
#include "toymachine/trace/trace_json.hpp"

namespace flashlab::cli {
namespace {

using exercises::kHintLevels;
using exercises::Kind;
using exercises::ProgramTask;
using exercises::ProgressEntry;

const char* json_status(const ProgressEntry* entry) {
  if (entry == nullptr) return "open";
  constexpr std::array<const char*, 3> kNames{"started", "passed", "full"};
  return kNames[static_cast<std::size_t>(entry->state)];
}

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

}  // namespace

Json exercise_list_json(const std::vector<ExercisePointer>& all,
                        const exercises::Progress& progress, const std::string& next) {
  Json list = Json::array();
  for (const ExercisePointer& exercise : all) {
    const ProgressEntry* entry = progress.find(exercise->id);
    Json row{{"id", exercise->id},
             {"title", exercise->title},
             {"kind", exercise->kind == exercises::Kind::kProgram ? "program" : "questions"},
             {"demo", exercise->demo},
             {"chapter", exercise->chapter},
             {"max_points", exercise->max_points()},
             {"status", json_status(entry)},
             {"points", entry == nullptr ? 0.0 : entry->points},
             {"hints", entry == nullptr ? 0 : entry->hints},
             {"checks", entry == nullptr ? 0 : entry->checks},
             {"solution_seen", entry != nullptr && entry->solution_seen},
             {"file", entry == nullptr ? "" : entry->file},
             {"next", exercise->id == next}};
    list.push_back(std::move(row));
  }
  return list;
}

Json exercise_json(const exercises::Exercise& exercise) {
  Json object{{"id", exercise.id},
              {"title", exercise.title},
              {"kind", exercise.kind == Kind::kProgram ? "program" : "questions"},
              {"demo", exercise.demo},
              {"chapter", exercise.chapter},
              {"max_points", exercise.max_points()},
              {"problem", exercise.problem},
              {"file", exercise.work_file()},
              {"starter", exercise.starter()}};
  if (exercise.kind == Kind::kProgram) {
    const ProgramTask& task = exercise.program;
    Json sizes = Json::array(), full = Json::object();
    for (const exercises::Size& size : task.sizes) sizes.push_back(size);
    for (const auto& [key, formula] : task.cost.full) full[key] = toy::to_string(formula);
    object["level"] = toy::to_string(task.level);
    object["registers"] = task.registers;
    object["arrays"] = task.arrays;
    object["sizes"] = std::move(sizes);
    object["full_marks"] = std::move(full);
  } else {
    Json questions = Json::array();
    for (const exercises::Question& question : exercise.questions.questions) {
      questions.push_back({{"id", question.id},
                           {"ask", question.ask},
                           {"choices", question.choices},
                           {"points", question.points}});
    }
    object["questions"] = std::move(questions);
  }
  return object;
}

std::string hint_name(std::size_t level) {
  constexpr std::array<const char*, kHintLevels> kNames{"the concept", "the place", "the operand",
                                                        "the solution"};
  return kNames[level - 1];
}

Json hint_json(const exercises::Exercise& exercise, std::size_t level) {
  return {{"id", exercise.id},
          {"level", level},
          {"levels", kHintLevels},
          {"name", hint_name(level)},
          {"text", exercise.hints[level - 1]}};
}

Json verdict_json(const CheckedFile& checked, const exercises::Verdict& verdict) {
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
  const auto* entry = checked.progress.find(checked.exercise.id);
  return {{"id", checked.exercise.id},
          {"file", checked.file},
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
          {"next", exercises::next_after(checked.ids, checked.progress, checked.exercise.id)}};
}

void write_failing_page(const exercises::FailingRun& run, std::ostream& out) {
  constexpr std::uint64_t kBefore = 2000, kAfter = 50;  // steps; a page of all may be huge
  toy::TraceOptions options;
  options.from = run.step > kBefore ? run.step - kBefore : 1;
  options.to = run.step + kAfter;
  toy::TraceHtmlBuffer buffer(out);
  std::ostream json(&buffer);
  std::vector<float> cells(run.dram.begin(), run.dram.end());
  const auto sink = toy::make_trace_json(json, {toy::CostTable(), true, run.why});
  // A run that ends with an error is what the page shows.
  static_cast<void>(toy::trace(run.program, std::span<float>(cells), options, *sink));
  json.flush();
  value_or_fail(buffer.finish("", run.step), *run.program.program->source);
}

}  // namespace flashlab::cli
