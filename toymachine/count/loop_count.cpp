// Counts how often each instruction is executed, for given parameters.

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "toymachine/budget/budget.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/count/path_counter.hpp"
#include "toymachine/count/shape_inference.hpp"
#include "toymachine/count/shape_nest.hpp"
#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/run_on_shapes.hpp"

namespace flashlab::toy {
namespace {

/// Work for one program (see add_lattice_sum), about a second; and work for each of its loops.
constexpr std::size_t kBudget = 20'000;
constexpr std::size_t kBudgetPerLoop = 64;

/// Iterations of one program that are enumerated if summing takes too long: a tenth of a second.
constexpr std::size_t kWalk = 10'000'000;

class Counter {
 public:
  explicit Counter(const BoundProgram& program)
      : program_(program),
        counts_(program.loops.size()),
        loops_(program.loops.size()),
        paths_(kBudget + kBudgetPerLoop * program.loops.size()) {}

  Result<std::vector<Count>> run() {
    std::vector<Count> executions(program_.instructions.size());
    for (const BoundInstruction& instruction : program_.instructions) {
      const auto count = iterations(instruction.loop);
      if (!count) return too_long(program_.loops[instruction.loop]);
      executions[instruction.site] = *count;
    }
    return executions;
  }

 private:
  /// Returns how often the loop's body runs in total.
  std::optional<Count> iterations(std::uint32_t loop) {
    if (loop == kNoLoop) return Count(1);
    if (!counts_[loop]) counts_[loop] = sum(loop);
    return counts_[loop];
  }

  std::optional<Count> sum(std::uint32_t loop) {
    const BoundLoop& bound = program_.loops[loop];
    if (detail::is_number(bound.lower) && detail::is_number(bound.upper)) {
      const auto outer = iterations(bound.parent);
      if (!outer) return std::nullopt;
      return Count(*outer * trips(bound));
    }
    std::vector<std::uint32_t> ids;
    for (std::uint32_t l = loop; l != kNoLoop; l = program_.loops[l].parent) {
      ids.insert(ids.begin(), l);
    }
    const auto count = closed_form(ids);
    return count ? count : walk(ids);
  }

  std::optional<Count> closed_form(const std::vector<std::uint32_t>& ids) {
    std::vector<detail::NestLoop> path;
    for (const std::uint32_t id : ids) path.push_back(nest_loop(id));
    return paths_.iterations(path);
  }

  /// Adds up the innermost loop's iterations, for each iteration of the outer loops.
  std::optional<Count> walk(const std::vector<std::uint32_t>& ids) {
    std::vector<std::int64_t> values(program_.loops.size());
    Count total = 0;
    const auto visit = [&](const auto& self, std::size_t depth) -> bool {
      const BoundLoop& loop = program_.loops[ids[depth]];
      if (depth + 1 == ids.size()) {
        total += trips(loop, values.data());
        return true;
      }
      const std::int64_t upper = loop.upper(values.data());
      for (std::int64_t i = loop.lower(values.data()); i < upper; i += loop.step) {
        check_budget();
        if (walk_left_ == 0) return false;
        --walk_left_;
        values[ids[depth]] = i;
        if (!self(self, depth + 1)) return false;
        if (upper - i <= loop.step) break;  // i + step may not fit
      }
      return true;
    };
    return visit(visit, 0) ? std::optional(total) : std::nullopt;
  }

  static Count trips(const BoundLoop& loop, const std::int64_t* values = nullptr) {
    const Count length = Count(loop.upper(values)) - loop.lower(values);
    if (length <= 0) return 0;
    return (length + loop.step - 1) / loop.step;
  }

  const detail::NestLoop& nest_loop(std::uint32_t loop) {
    if (!loops_[loop]) loops_[loop] = detail::nest_loop(program_, loop);
    return *loops_[loop];
  }

  static Diagnostic too_long(const BoundLoop& loop) {
    return {Severity::kError,
            Fault::kLimit,
            loop.span,
            "the iterations of '" + loop.var + "' cannot be counted in reasonable time",
            "bounds with smaller divisors, or fewer min and max",
            {}};
  }

  const BoundProgram& program_;
  std::vector<std::optional<Count>> counts_;
  std::vector<std::optional<detail::NestLoop>> loops_;
  detail::PathCounter paths_;
  std::size_t walk_left_ = kWalk;
};

// Tiles ----------------------------------------------------------------------------------------

/// Returns the work of each instruction, by site. If it cannot be found without a run, returns
/// nothing and perhaps sets the reason.
std::optional<std::vector<Count>> closed_form_work(const BoundProgram& program,
                                                   std::optional<Diagnostic>& reason) {
  const auto work = detail::infer_work(detail::shape_nest(program), {});
  if (!work) {
    reason = work.diagnostics[0];
    return std::nullopt;
  }
  std::vector<Count> result(program.instructions.size());
  detail::PathCounter paths(kBudget + kBudgetPerLoop * program.loops.size());
  for (const detail::WorkTerm& term : work->terms) {
    const auto iterations = paths.iterations(term.path);
    if (!iterations) return std::nullopt;
    result[term.site] += term.factor * *iterations;
  }
  return result;
}

Diagnostic too_long_to_run(const std::optional<Diagnostic>& reason) {
  Diagnostic result{Severity::kError,
                    Fault::kLimit,
                    {},
                    "the elements of tiles cannot be counted in reasonable time",
                    "at most " + std::to_string(kWalk) + " steps, or bounds with fewer min and max",
                    {}};
  if (!reason) return result;
  result.span = reason->span;
  result.what += ": " + reason->what;
  result.expected = reason->expected + ", or at most " + std::to_string(kWalk) + " steps";
  return result;
}

Result<Executions> tiled_executions(const BoundProgram& program, std::vector<Count> times) {
  std::optional<Diagnostic> reason;
  if (auto work = closed_form_work(program, reason)) {
    return Executions{std::move(times), std::move(*work)};
  }
  const Count steps = std::accumulate(times.begin(), times.end(), Count(0));
  if (steps > static_cast<unsigned long>(kWalk)) return too_long_to_run(reason);
  if (auto error = detail::too_many_steps(program, times)) return std::move(*error);
  auto execution = detail::run_on_shapes(program);
  if (!execution) return std::move(execution.diagnostics);
  return std::move(execution->executions);
}

}  // namespace

Result<std::vector<Count>> count_times(const BoundProgram& program) {
  return Counter(program).run();
}

Result<Executions> count_executions(const BoundProgram& program) {
  auto times = count_times(program);
  if (!times) return std::move(times.diagnostics);
  if (!program.tiled) return scalar_executions(program, std::move(*times));
  return tiled_executions(program, std::move(*times));
}

}  // namespace flashlab::toy
