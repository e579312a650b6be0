#include "cli/requests/answers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <sstream>

#include "cli/exercises/exercise_json.hpp"
#include "cli/machine/figure_request.hpp"
#include "cli/machine/requests.hpp"
#include "cli/optimal/along.hpp"
#include "cli/optimal/search.hpp"
#include "cli/protocol/toy_document.hpp"
#include "cli/requests/diagnostics_json.hpp"
#include "cli/requests/machine_fields.hpp"
#include "cli/terminal/failure.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/course.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "text/lists.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kProgramExpected =
    "a bundled program's name, or the name of a text in \"files\"";

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Answer answer_run(ObjectReader& request, const CallLimits& limits) {
  RunRequest run;
  run.program = request.required_text("program", kProgramExpected);
  run.no_outputs = request.flag("no_outputs");
  read_machine(request, limits, ParameterValues::kOne, run.machine);
  read_run(request, run.run);
  request.finish();
  return {dumped(run_json(run))};
}

Answer answer_trace(ObjectReader& request, const CallLimits& limits) {
  constexpr std::int64_t kMostSteps = INT64_MAX;
  TraceRequest trace;
  trace.program = request.required_text("program", kProgramExpected);
  trace.elide = request.flag("elide");
  trace.from = static_cast<std::uint64_t>(request.whole("from", 1, kMostSteps).value_or(1));
  if (const auto to = request.whole("to", 1, kMostSteps))
    trace.to = static_cast<std::uint64_t>(*to);
  trace.body = request.text("body").value_or("");
  const bool page = request.flag("page");
  read_machine(request, limits, ParameterValues::kOne, trace.machine);
  read_run(request, trace.run);
  request.finish();
  trace.check();
  const LoadedProgram loaded = load_program(trace.program, trace.machine);
  const toy::BoundProgram bound = loaded.bind(trace.machine.binding());
  std::ostringstream out;
  Traced traced = page ? write_trace_page(trace, loaded, bound, out)
                       : write_trace_json(trace, loaded, bound, out);
  Answer answer{std::move(out).str()};
  if (page) answer.json = dumped({{"page", answer.json}});
  // An answer is one line. Line ends within texts are escaped, so these are between values.
  std::replace(answer.json.begin(), answer.json.end(), '\n', ' ');
  if (!traced) answer.failed = program_failure(traced.diagnostics, *loaded.source);
  return answer;
}

/// The runs of a figure that moves, one for each choice of tile sizes.
Answer answer_figure(ObjectReader& request, const CallLimits& limits) {
  FigureRequest figure;
  figure.program = request.required_text("program", kProgramExpected);
  read_machine(request, limits, ParameterValues::kOne, figure.machine);
  read_run(request, figure.run);
  request.finish();
  return {make_figure(figure).json()};
}

Answer answer_cost(ObjectReader& request, const CallLimits& limits) {
  CostRequest cost;
  cost.program = request.required_text("program", kProgramExpected);
  read_machine(request, limits, ParameterValues::kOne, cost.machine);
  request.finish();
  return {dumped(cost_json(cost, derive_cost(cost)))};
}

Answer answer_sweep(ObjectReader& request, const CallLimits& limits) {
  SweepRequest sweep;
  sweep.program = request.required_text("program", kProgramExpected);
  sweep.fit = request.text("fit").value_or("");
  read_machine(request, limits, ParameterValues::kRanges, sweep.machine);
  request.finish();
  const Sweep made = make_sweep(sweep);
  if (const std::string problems = sweep_problems(made); !problems.empty()) print_note(problems);
  return {dumped(sweep_json(made))};
}

Answer answer_diff(ObjectReader& request, const CallLimits& limits) {
  DiffRequest diff;
  diff.left = request.required_text("left", kProgramExpected);
  diff.right = request.required_text("right", kProgramExpected);
  diff.outputs = request.flag("outputs");
  read_machine(request, limits, ParameterValues::kOne, diff.machine);
  read_run(request, diff.run);
  request.finish();
  return {dumped(diff.outputs ? output_diff_json(compare_outputs(diff))
                              : comparison_json(compare_costs(diff)))};
}

Answer answer_timeline(ObjectReader& request, const CallLimits& limits) {
  TimelineRequest timeline;
  timeline.program = request.required_text("program", kProgramExpected);
  timeline.model = request.one_of("model", {"serial", "overlap", "both"}).value_or(timeline.model);
  timeline.buffers = request.whole("buffers", 1, toy::kMaxBuffers).value_or(timeline.buffers);
  timeline.from = request.whole("from", 0, INT64_MAX);
  timeline.to = request.whole("to", 1, INT64_MAX);
  timeline.rank = request.whole("rank", 0, INT64_MAX);
  read_machine(request, limits, ParameterValues::kOne, timeline.machine);
  request.finish();
  return {dumped(timeline_json(timeline))};
}

Answer answer_isa(ObjectReader& request, const CallLimits&) {
  std::vector<std::string> levels;
  for (const toy::Level level : kLevels) levels.emplace_back(toy::to_string(level));
  const std::string level = request.one_of("level", levels).value_or("");
  request.finish();
  return {dumped(instructions_json(instructions_of_level(level)))};
}

Answer answer_programs(ObjectReader& request, const CallLimits&) {
  const std::string name = request.text("name").value_or("");
  request.finish();
  Json answer;
  request.at("name", [&] { answer = programs_json(name); });
  return {dumped(answer)};
}

ExercisePointer exercise_of(ObjectReader& request) {
  const std::string name = request.required_text("exercise", "an exercise's number or name");
  ExercisePointer exercise;
  request.at("exercise", [&] { exercise = find_exercise(name, {}); });
  return exercise;
}

std::vector<std::string> exercise_ids() {
  std::vector<std::string> ids;
  for (const auto& source : exercises::all_exercises({})) ids.push_back(source.id);
  return ids;
}

Answer answer_exercises(ObjectReader& request, const CallLimits&) {
  if (request.any("exercise") != nullptr) {
    const ExercisePointer exercise = exercise_of(request);
    request.finish();
    return {dumped(exercise_json(*exercise))};
  }
  request.finish();
  const exercises::Progress none;
  return {dumped(exercise_list_json(load_exercises({}), none,
                                    exercises::next_exercise(exercise_ids(), none)))};
}

Answer answer_hint(ObjectReader& request, const CallLimits&) {
  const ExercisePointer exercise = exercise_of(request);
  const auto level = request.whole("level", 1, exercises::kHintLevels);
  if (!level) {
    throw request.wrong("level", "1 to " + std::to_string(exercises::kHintLevels) +
                                     "; the last one is the solution");
  }
  request.finish();
  return {dumped(hint_json(*exercise, static_cast<std::size_t>(*level)))};
}

/// Requests are answered without the code that predicts times on a GPU: their points are missing.
void leave_time_open(const exercises::Exercise& exercise, exercises::Verdict& verdict) {
  if (!exercise.program.speed) return;
  verdict.max_points = exercise.max_points();
  verdict.checks.push_back({"time", false, 0, exercise.program.speed->points,
                            "not predicted here; `flashlab check` does"});
  if (verdict.outcome == exercises::Outcome::kFull) verdict.outcome = exercises::Outcome::kCostly;
}

Answer answer_check(ObjectReader& request, const CallLimits& limits) {
  const ExercisePointer exercise = exercise_of(request);
  const std::string file = request.required_text("file", "the name of a text in \"files\"");
  const bool page = request.flag("page");
  request.finish();
  std::string text;
  request.at("file", [&] {
    text = read_text_file(file, exercise->program.limits.max_source_bytes,
                          "the name of a text in \"files\"");
  });
  exercises::GraderOptions options;
  options.bytes = std::min(options.bytes, limits.bytes);
  exercises::Verdict verdict = exercises::Grader(exercise, options).grade(file, text);
  leave_time_open(*exercise, verdict);
  exercises::Progress progress;
  exercises::record_verdict(progress, exercise->id, verdict);
  Json json = verdict_json({*exercise, file, progress, exercise_ids()}, verdict);
  if (page) {
    const auto run =
        exercises::failing_run(*exercise, toy::SourceText(file, text), verdict, options);
    std::ostringstream out;
    if (run) write_failing_page(*run, out);
    json["page"] = run ? Json(std::move(out).str()) : Json();
  }
  return {dumped(json)};
}

Answer answer_optimal(ObjectReader& request, const CallLimits& limits) {
  constexpr double kMilliseconds = 1e-3;
  OptimalOptions optimal;
  optimal.computation.name = request.text("computation").value_or("");
  optimal.computation.exercise = request.text("exercise").value_or("");
  optimal.computation.size = request.text("size").value_or("");
  optimal.computation.definitions = read_params(request, ParameterValues::kOne);
  optimal.registers = read_registers(request, ParameterValues::kRanges);
  optimal.operands = request.one_of("operands", {"any", "pinned", "both"}).value_or("");
  optimal.costs = read_cost(request);
  optimal.spills = request.flag("spills");
  optimal.count = request.flag("count");
  if (const auto cells = request.whole("scratch", 0, kMostScratchCells)) {
    optimal.scratch = static_cast<int>(*cells);
  }
  optimal.along = request.text("along").value_or("");
  optimal.most_seconds =
      std::min(request.number("most_seconds", 0, 1e9).value_or(optimal.most_seconds),
               static_cast<double>(limits.milliseconds) * kMilliseconds);
  optimal.jobs = static_cast<unsigned>(request.whole("jobs", 1, 1024).value_or(1));
  request.finish();
  optimal.most_bytes = std::to_string(limits.bytes);
  const OptimalRequest understood = understand(optimal);
  if (!optimal.along.empty()) {
    const std::atomic<bool> never{false};
    return {dumped(along_json(understood, optimal, never))};
  }
  return {dumped(optimal_json(solve_all(understood, optimal, {}), understood, optimal))};
}

/// What an editor shows: errors, and at the end of lines how often they run.
Answer answer_document(ObjectReader& request, const CallLimits&) {
  const std::string file = request.required_text("file", "the name of a text in \"files\"");
  request.finish();
  std::string text;
  request.at("file", [&] {
    text = read_text_file(file, toy::Limits().max_source_bytes, "the name of a text in \"files\"");
  });
  const ToyDocument document(file, text);
  Json hints = Json::array(), lines = Json::array();
  for (const LineHint& hint : document.hints()) {
    hints.push_back({{"line", hint.line}, {"text", hint.text}});
  }
  for (std::uint32_t line = 1; line <= document.source().num_lines(); ++line) {
    const std::string about = document.about_line(line);
    if (!about.empty()) lines.push_back({{"line", line}, {"text", about}});
  }
  return {dumped({{"valid", document.is_valid()},
                  {"diagnostics", diagnostics_json(document.diagnostics())},
                  {"hints", std::move(hints)},
                  {"about", std::move(lines)}})};
}

struct RequestKind {
  const char* name;
  Answer (*answer)(ObjectReader& request, const CallLimits& limits);
};
constexpr RequestKind kRequests[] = {
    {"run", answer_run},           {"trace", answer_trace},   {"cost", answer_cost},
    {"sweep", answer_sweep},       {"diff", answer_diff},     {"timeline", answer_timeline},
    {"check", answer_check},       {"hint", answer_hint},     {"exercises", answer_exercises},
    {"optimal", answer_optimal},   {"isa", answer_isa},       {"programs", answer_programs},
    {"document", answer_document}, {"figure", answer_figure},
};

}  // namespace

std::map<std::string, std::string> given_texts(ObjectReader& request) {
  std::map<std::string, std::string> texts;
  const Json* files = request.any("files");
  if (files == nullptr) return texts;
  ObjectReader fields(*files, request.place_of("files"));
  for (const auto& [name, text] : files->items()) {
    texts[name] = fields.required_text(name, "the file's text");
  }
  return texts;
}

Answer answer_request(ObjectReader& request, const CallLimits& limits) {
  std::vector<std::string> names;
  for (const RequestKind& kind : kRequests) names.emplace_back(kind.name);
  const auto chosen = request.one_of("request", names);
  if (!chosen) throw request.wrong("request", joined(names, ", "));
  for (const RequestKind& kind : kRequests) {
    if (*chosen == kind.name) return kind.answer(request, limits);
  }
  throw std::logic_error("a request without a function");
}

}  // namespace flashlab::cli
