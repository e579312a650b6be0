#include "cli/optimal/search.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

/// Solves for one machine. `count`, if given, also counts the programs with this number of cycles.
template <class Solve, class Count>
Solved solved(int registers, toy::OperandRule rule, const Solve& solve, const Count& count,
              bool counts) {
  Solved result{registers, rule, solve(), std::nullopt};
  if (counts && result.answer.verdict == optimal::Verdict::kOptimal) {
    result.count = count(result.answer.lower_cycles);
  }
  return result;
}

Solved solve_one(const OptimalRequest& request, const OptimalOptions& options,
                 const SearchWatch& watch, int registers, toy::OperandRule rule) {
  const bool is_product = request.computation.product() != nullptr;
  const std::string machine = std::to_string(registers) + " registers" +
                              (is_product ? ", operands " + rule_name(rule) : "");
  optimal::SolveLimits limits;
  limits.max_bytes = request.most_bytes;
  limits.max_seconds = options.most_seconds;
  limits.cancel = watch.cancel;
  limits.jobs = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  limits.checkpoint = options.checkpoint;
  if (watch.progress) {
    limits.progress = [&](const optimal::Progress& progress) { watch.progress(machine, progress); };
  }
  try {
    if (const auto* product = request.computation.product()) {
      const optimal::ProductMachine product_machine{registers, rule, options.spills,
                                                    optimal::product_costs(request.costs)};
      return solved(
          registers, rule,
          [&] {
            return optimal::solve(*product, product_machine, limits, {}, request.computation.frame);
          },
          [&](auto cycles) {
            return optimal::count_programs(*product, product_machine, cycles, limits);
          },
          options.count);
    }
    const optimal::ValueAlgebra& algebra = *request.computation.algebra();
    optimal::ValueMachine value_machine{registers, request.costs};
    value_machine.most_loads = request.most_loads;
    value_machine.scratch_cells = request.scratch_cells;
    value_machine.scratch_in_outputs = request.scratch_in_outputs;
    return solved(
        registers, rule, [&] { return optimal::solve(algebra, value_machine, limits); },
        [&](auto cycles) {
          return optimal::count_programs(algebra, value_machine, cycles, limits);
        },
        options.count);
  } catch (const optimal::CheckpointError& error) {
    throw request_failure(error.what(), "a new file, or the one that this search left");
  } catch (const std::invalid_argument& error) {
    throw request_failure(request.computation.name + ": " + error.what());
  }
}

}  // namespace

std::vector<Solved> solve_all(const OptimalRequest& request, const OptimalOptions& options,
                              const SearchWatch& watch) {
  const auto cancelled = [&] { return watch.cancel != nullptr && *watch.cancel; };
  std::vector<Solved> all;
  for (const int registers : request.registers) {
    for (const toy::OperandRule rule : request.rules) {
      if (!cancelled()) all.push_back(solve_one(request, options, watch, registers, rule));
    }
  }
  return all;
}

}  // namespace flashlab::cli
