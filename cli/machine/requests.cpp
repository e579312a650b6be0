#include "cli/machine/requests.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/figure_request.hpp"
#include "cli/machine/formulas.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/timeline/timeline_json.hpp"
#include "toymachine/trace/trace_html.hpp"
#include "toymachine/trace/trace_json.hpp"

namespace flashlab::cli {
namespace {

/// Keeps the trace of a program that fails, because it ends at the wrong step. Keeps nothing for a
/// request that is wrong.
void keep_only_if_started(const Traced& result, const toy::SourceText& source) {
  if (result || result.diagnostics.front().fault == toy::Fault::kProgram) return;
  throw program_failure(result.diagnostics, source);
}

std::string parameters_without_value(const toy::Program& program,
                                     const toy::CapacityBinding& binding) {
  std::string names;
  for (const toy::ParamDeclaration& param : program.params) {
    const bool is_rank =
        program.machines && &param == &program.params[program.machines->rank];  // each has its own
    if (!is_rank && param.default_value == nullptr && !binding.params.contains(param.name)) {
      names += (names.empty() ? "" : ", ") + param.name;
    }
  }
  return names;
}

void choose_fitted(const std::string& fit, Sweep& sweep) {
  if (!sweep.fixed.sram_bytes) {
    throw request_failure("--fit needs a capacity", "--sram SIZE as well");
  }
  const auto& params = sweep.loaded.program->params;
  const auto param = std::find_if(params.begin(), params.end(),
                                  [&](const auto& declaration) { return declaration.name == fit; });
  const bool free =
      param != params.end() && fit != sweep.range.name && !sweep.fixed.params.contains(fit);
  if (!free) {
    throw request_failure("--fit '" + printable(fit) + "' is not a free parameter",
                          "a parameter of the program that -D does not set");
  }
  sweep.fitted = fit;
  sweep.fitted_index = static_cast<std::size_t>(param - params.begin());
}

/// Flags may name parameters and constants that only one of the two programs has.
toy::CapacityBinding binding_for(const LoadedProgram& loaded, const LoadedProgram& other,
                                 toy::CapacityBinding binding) {
  const auto declares = [](const LoadedProgram& program, const std::string& name) {
    const auto has_name = [&](const auto& one) { return one.name == name; };
    const auto& params = program.program->params;
    const auto& consts = program.program->consts;
    return std::any_of(params.begin(), params.end(), has_name) ||
           std::any_of(consts.begin(), consts.end(), has_name);
  };
  const auto is_of_other = [&](const auto& entry) {
    return !declares(loaded, entry.first) && declares(other, entry.first);
  };
  std::erase_if(binding.params, is_of_other);
  std::erase_if(binding.reals, is_of_other);
  return binding;
}

Side make_side(const DiffRequest& request, LoadedProgram loaded, const LoadedProgram& other) {
  toy::Machines machines =
      loaded.bind_machines(binding_for(loaded, other, request.machine.binding()));
  const toy::CostTable costs = request.machine.cost_table();
  auto executions = value_or_fail(toy::count_machines(machines), *loaded.source);
  toy::BoundProgram bound = std::move(machines.programs.front());
  toy::Counters counters = toy::count(bound, executions, costs);
  return {std::move(loaded), std::move(bound), std::move(executions), std::move(counters), {}};
}

/// Returns the plain sum, and every number of buffers up to the requested one, within a limit.
std::vector<toy::TimelineModel> models(const TimelineRequest& request) {
  std::vector<toy::TimelineModel> models;
  if (request.model != "overlap") models.push_back({false, 1});
  if (request.model == "serial") return models;
  if (request.buffers > 1) models.push_back({true, 1});
  if (request.buffers > 2) models.push_back({true, 2});
  models.push_back({true, request.buffers});
  return models;
}

}  // namespace

Json run_json(const RunRequest& request) {
  const toy::CostTable costs = request.machine.cost_table();  // report it before a long run
  const LoadedProgram loaded = load_program(request.program, request.machine);
  const toy::Machines machines = loaded.bind_machines(request.machine.binding());
  const toy::BoundProgram& bound = machines.first();
  const Executed executed = execute(loaded, machines, request.run);
  Json json{{"program", loaded.short_name()}, {"params", params_json(bound)}};
  json["num_registers"] = bound.num_registers;
  json["precision"] = request.run.precision;
  json.update(all_counters_json(bound, executed.execution.executions, costs));
  if (!request.no_outputs) {
    json["outputs"] = Json::object();
    for (const toy::BoundArray& array : machines.joined.arrays) {
      if (array.role != toy::ArrayRole::kOutput) continue;
      json["outputs"][array.name] = array_json(array, executed.dram);
    }
  }
  return json;
}

void TraceRequest::check() const {
  machine.cost_table();
  if (from < 1 || from > to) {
    throw request_failure("--from and --to leave no step", "1 <= from <= to");
  }
}

toy::TraceOptions TraceRequest::options() const {
  toy::TraceOptions trace;
  trace.from = from;
  trace.to = to;
  trace.elide = elide;
  if (!body.empty()) trace.body = body;
  return trace;
}

namespace {

Traced write_trace(const TraceRequest& request, const LoadedProgram& loaded,
                   const toy::BoundProgram& bound, std::ostream& out, bool for_player) {
  const auto sink = toy::make_trace_json(out, {request.machine.cost_table(), for_player});
  Traced result = trace_to(*sink, loaded, bound, request.run, request.options());
  keep_only_if_started(result, *loaded.source);
  return result;
}

}  // namespace

Traced write_trace_json(const TraceRequest& request, const LoadedProgram& loaded,
                        const toy::BoundProgram& bound, std::ostream& out) {
  return write_trace(request, loaded, bound, out, false);
}

Traced write_trace_page(const TraceRequest& request, const LoadedProgram& loaded,
                        const toy::BoundProgram& bound, std::ostream& out) {
  toy::TraceHtmlBuffer buffer(out);
  std::ostream json(&buffer);
  Traced result = write_trace(request, loaded, bound, json, true);
  json.flush();
  // There is no timeline for a run that failed, or for a generic iteration.
  std::string timeline;
  if (result && request.body.empty()) {
    timeline =
        toy::timeline_of_steps_json(bound, request.machine.cost_table(), request.from, request.to);
  }
  std::string figure;
  if (result && request.body.empty() && bound.tiled) {
    // A run that fails after the steps of the trace has no figure.
    auto choice = figure_of_run(loaded, bound, request.run, request.machine.limits);
    if (choice && choice->run) {
      figure = toy::figure_json(loaded.short_name(), {}, {std::move(*choice)}, 0);
    }
  }
  value_or_fail(buffer.finish(timeline, 0, {}, figure), *loaded.source);
  return result;
}

ProgramCost derive_cost(const CostRequest& request) {
  const toy::CostTable costs = request.machine.cost_table();  // report it before a long count
  ProgramCost cost{load_program(request.program, request.machine), {}, {}};
  const LoadedProgram& loaded = cost.loaded;
  const toy::CapacityBinding binding = request.machine.binding();
  const std::string missing = parameters_without_value(*loaded.program, binding);
  if (missing.empty()) {
    toy::Machines machines = loaded.bind_machines(binding);
    auto executions = value_or_fail(toy::count_machines(machines), *loaded.source);
    cost.numbers = CountedProgram{std::move(machines.programs.front()), std::move(executions)};
  }
  toy::Result<toy::CostFormulas> formulas = toy::cost_formulas(*loaded.program, costs);
  if (!formulas && !cost.numbers) throw program_failure(formulas.diagnostics, *loaded.source);
  if (!formulas) {
    for (toy::Diagnostic& diagnostic : formulas.diagnostics) {
      diagnostic.severity = toy::Severity::kNote;
    }
  }
  std::vector<toy::Diagnostic> notes = formulas.diagnostics;
  for (toy::Diagnostic reason : formulas ? formulas->no_work : std::vector<toy::Diagnostic>()) {
    reason.severity = toy::Severity::kNote;
    reason.what += " (FLOPs, bytes, elements)";
    notes.push_back(std::move(reason));
  }
  print_warnings(notes, *loaded.source);
  cost.formulas = std::move(formulas.value);
  if (!missing.empty()) print_note("for numbers, give -D " + missing + "=...");
  return cost;
}

Json cost_json(const CostRequest& request, const ProgramCost& cost) {
  Json json{{"program", cost.loaded.short_name()}};
  if (cost.formulas) {
    json["domain"] = toy::to_string(cost.formulas->domain);
    json["formula"] = formulas_json(*cost.loaded.program, *cost.formulas);
  } else {
    json["formula"] = nullptr;
  }
  if (cost.numbers) {
    const auto& [bound, executions] = *cost.numbers;
    json["params"] = params_json(bound);
    json["num_registers"] = bound.num_registers;
    json["value"] = all_counters_json(bound, executions, request.machine.cost_table());
  } else {
    json["value"] = nullptr;
  }
  return json;
}

Sweep make_sweep(const SweepRequest& request) {
  Sweep sweep;
  std::vector<ParameterRange> ranges = request.machine.ranges(sweep.fixed);
  if (ranges.size() != 1) {
    throw request_failure(
        ranges.empty() ? "no parameter has a range" : "several parameters have a range",
        "one range: --registers 3..32 or -D n=8..1024*2");
  }
  sweep.range = std::move(ranges.front());
  const toy::CostTable costs = request.machine.cost_table();
  sweep.loaded = load_program(request.program, request.machine);
  if (!request.fit.empty()) choose_fitted(request.fit, sweep);
  for (const std::int64_t x : sweep.range.values) sweep.points.push_back(measure(sweep, costs, x));
  for (const Point& point : sweep.points) {
    if (point.bound) return sweep;
  }
  throw program_failure(sweep.points.front().problems, *sweep.loaded.source);
}

Comparison compare_costs(const DiffRequest& request) {
  const toy::CostTable costs = request.machine.cost_table();
  LoadedProgram left = load_program(request.left, request.machine);
  LoadedProgram right = load_program(request.right, request.machine);
  Side left_side = make_side(request, left, right);
  Side right_side = make_side(request, right, left);
  Comparison comparison{std::move(left_side), std::move(right_side), costs};
  add_formulas(comparison);
  return comparison;
}

OutputDiff compare_outputs(const DiffRequest& request) {
  const LoadedProgram left = load_program(request.left, request.machine);
  const LoadedProgram right = load_program(request.right, request.machine);
  const auto bound = [&](const LoadedProgram& loaded, const LoadedProgram& other) {
    return ComparedProgram{
        loaded, loaded.bind_machines(binding_for(loaded, other, request.machine.binding()))};
  };
  return compare_outputs(bound(left, right), bound(right, left), request.run);
}

void TimelineRequest::check() const {
  machine.cost_table();
  const std::int64_t first = from.value_or(0);
  if (first < 0 || to.value_or(INT64_MAX) <= first) {
    throw request_failure("--from and --to leave no cycle", "0 <= from < to");
  }
}

toy::TimelineOptions TimelineRequest::options() const {
  toy::TimelineOptions simulation;
  simulation.models = models(*this);
  simulation.costs = machine.cost_table();
  return simulation;
}

MachineTimelines simulated(const toy::Machines& machines, const LoadedProgram& loaded,
                           const toy::TimelineOptions& options) {
  return value_or_fail(toy::simulate_machines(machines, options), *loaded.source);
}

std::size_t shown_machine(const TimelineRequest& request, const MachineTimelines& timelines) {
  const auto count = std::ssize(timelines);
  if (request.rank && (*request.rank < 0 || *request.rank >= count)) {
    throw request_failure("there is no machine " + std::to_string(*request.rank),
                          "--rank from 0 to " + std::to_string(count - 1));
  }
  if (request.rank) return static_cast<std::size_t>(*request.rank);
  const auto last =
      std::max_element(timelines.begin(), timelines.end(),
                       [](const auto& a, const auto& b) { return a.back().end < b.back().end; });
  return static_cast<std::size_t>(last - timelines.begin());
}

Json timeline_json(const TimelineRequest& request) {
  request.check();
  const LoadedProgram loaded = load_program(request.program, request.machine);
  const toy::Machines machines = loaded.bind_machines(request.machine.binding());
  const bool window = request.from || request.to;
  toy::TimelineOptions simulation = request.options();
  MachineTimelines all = simulated(machines, loaded, simulation);
  const std::size_t shown = shown_machine(request, all);
  if (window) {
    simulation.from = request.from.value_or(0);
    simulation.to = request.to.value_or(INT64_MAX);
    simulation.machine = static_cast<std::int64_t>(shown);
    all = simulated(machines, loaded, simulation);
  }
  Json json = Json::parse(toy::timeline_json(machines.programs[shown], all[shown], window));
  if (!machines.several()) return json;
  json["machine"] = shown;
  json["machine_ends"] = Json::array();
  for (const std::vector<toy::Timeline>& timelines : all) {
    Json ends = Json::array();
    for (const toy::Timeline& timeline : timelines) ends.push_back(toy::count_json(timeline.end));
    json["machine_ends"].push_back(std::move(ends));
  }
  return json;
}

std::vector<toy::InstructionSpec> instructions_of_level(const std::string& level) {
  std::vector<toy::InstructionSpec> chosen;
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    if (level.empty() || spec.in(*toy::parse_level(level))) chosen.push_back(spec);
  }
  return chosen;
}

Json instructions_json(const std::vector<toy::InstructionSpec>& instructions) {
  Json list = Json::array();
  for (const toy::InstructionSpec& spec : instructions) {
    Json levels = Json::array();
    for (const toy::Level level : kLevels) {
      if (spec.in(level)) levels.push_back(toy::to_string(level));
    }
    list.push_back({{"mnemonic", spec.mnemonic},
                    {"operands", spec.operand_names},
                    {"effect", spec.effect},
                    {"meaning", spec.meaning},
                    {"levels", levels},
                    {"cycles", spec.cycles},
                    {"flops", spec.flops},
                    {"loads", spec.is_load()},
                    {"stores", spec.is_store()},
                    {"counts_as_exp", spec.flop_kind == toy::FlopKind::kExponential},
                    {"example", spec.example}});
  }
  return list;
}

const BundledProgram& bundled_program(const std::string& name) {
  if (const BundledProgram* program = find_bundled_program(name)) return *program;
  std::vector<std::string> names;
  for (const BundledProgram& known : bundled_programs()) names.emplace_back(known.name);
  for (const BundledProgram& score : bundled_scores()) {
    if (score.name == name || std::string(score.name) + ".toy" == name) return score;
    names.emplace_back(score.name);
  }
  throw request_failure("there is no bundled program '" + printable(name) + "'",
                        "a name that `flashlab programs` lists", nearest(name, names).value_or(""));
}

Json programs_json(const std::string& name) {
  if (!name.empty()) {
    const BundledProgram& program = bundled_program(name);
    return {{"name", program.name}, {"title", program.title()}, {"text", program.text}};
  }
  Json list = Json::array();
  for (const BundledProgram& program : bundled_programs()) {
    list.push_back({{"name", program.name}, {"title", program.title()}});
  }
  return list;
}

}  // namespace flashlab::cli
