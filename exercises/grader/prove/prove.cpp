#include "exercises/grader/prove/prove.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/prove/computation_of.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "optimal/problem/value_algebra.hpp"
#include "optimal/solve/count_programs.hpp"
#include "optimal/solve/solve.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::exercises {
namespace {

constexpr double kMostCountSeconds = 10;
constexpr double kShareOfEach = 0.25;  // of the time for one size, if there are three searches
constexpr std::int64_t kMostScratchCells = 8, kMostRegisters = 16;  // limits of the solver
constexpr std::size_t kBeamWidth = 500;
constexpr std::size_t kBeamWidthWithScratch = 30;  // its states have many more moves

/// The exercise with only this size, so that grading and cost counting use it.
std::shared_ptr<const Exercise> with_size_alone(const Exercise& exercise, const Size& size) {
  Exercise result = exercise;
  result.program.sizes.assign(1, size);
  result.program.drawn = {};
  result.program.counted = {};  // the program is for this size alone
  result.program.speed.reset();
  return std::make_shared<const Exercise>(std::move(result));
}

toy::Counters counters_at(const ProgramTask& task,
                          const std::shared_ptr<const toy::Program>& program, const Size& size) {
  const auto bound = bind_submission(task, program, size);
  if (!bound) throw std::runtime_error(bound.diagnostics.front().what);
  const auto executions = toy::count_executions(*bound);
  if (!executions) throw std::runtime_error(executions.diagnostics.front().what);
  return toy::count(*bound, *executions, toy::CostTable());
}

/// Whether the program is right at its size and its cost is accepted.
bool is_accepted(const Exercise& exercise, const Size& size, const std::string& program) {
  GraderOptions options;
  options.explain = false;
  return Grader(with_size_alone(exercise, size), options).grade("witness.toy", program).passed();
}

/// Calls action(computation, machine) with a product or an algebra and its machine.
template <class Action>
auto with_machine(const Posed& posed, Action&& action) {
  const optimal::Computation& computation = posed.computation;
  const toy::CostTable costs;
  const int registers = static_cast<int>(posed.registers);
  if (const auto* product = computation.product()) {
    return action(*product, optimal::ProductMachine{registers, posed.operands, true,
                                                    optimal::product_costs(costs)});
  }
  if (posed.operands != toy::OperandRule::kAny) {
    throw std::invalid_argument("pinned operands are supported for products only");
  }
  optimal::ValueMachine machine{registers, costs};
  if (posed.most_loads) machine.most_loads = static_cast<int>(*posed.most_loads);
  machine.scratch_cells = static_cast<int>(posed.scratch_cells);
  machine.scratch_in_outputs = posed.scratch_cells > 0;
  return action(*computation.algebra(), machine);
}

optimal::Answer search(const Posed& posed, const optimal::SolveLimits& limits) {
  return with_machine(posed, [&](const auto& what, const auto& machine) {
    if constexpr (std::is_same_v<std::decay_t<decltype(what)>, optimal::MatrixProduct>) {
      return optimal::solve(what, machine, limits, {}, posed.computation.frame);
    } else {
      return optimal::solve(what, machine, limits);
    }
  });
}

/// The bound that the search proves before it begins. For an algebra: the cost that values alone
/// require, wherever they are stored.
std::int64_t first_bound(Posed posed) {
  posed.scratch_cells = 0;
  posed.most_loads.reset();
  optimal::SolveLimits limits;
  limits.max_seconds = 0;
  limits.beam_width = 0;
  limits.progress_every_s = 1e9;
  return search(posed, limits).lower_cycles;
}

/// Registers cannot hold more than all values, so more registers change nothing.
void cut_registers(Posed& posed) {
  if (const auto* algebra = posed.computation.algebra()) {
    const auto enough = static_cast<std::int64_t>(algebra->num_values);
    posed.registers = std::min(posed.registers, std::max<std::int64_t>(enough, 1));
  }
}

class SizeProver {
 public:
  SizeProver(const Exercise& exercise, const Size& size, const ProveOptions& options)
      : exercise_(exercise), task_(exercise.program), options_(options) {
    result_.size = size;
  }

  ProvenSize run() {
    result_.at_most_cycles = counters_at(task_, task_.solution, result_.size).cycles;
    const optimal::Compulsory compulsory = compulsory_of(task_, result_.size);
    result_.floor_loads = toy::Count(std::to_string(compulsory.loads));
    result_.floor_cycles = result_.floor_loads + toy::Count(std::to_string(compulsory.stores));
    result_.at_least_cycles = result_.floor_cycles;
    for (const std::string& program : options_.programs) take_known(program);
    auto posed = computation_of(task_, result_.size);
    if (!posed) return std::move(result_);  // too large: only the floor is known
    cut_registers(*posed);
    try {
      searched(*posed);
    } catch (const std::invalid_argument&) {
      // A state does not fit the solver: only the floor is known.
    }
    return std::move(result_);
  }

 private:
  void searched(Posed& posed) {
    result_.computation = posed.computation.name;
    result_.allowed = posed.computation.allowed + "; " + stores_allowed(posed);
    result_.floor_cycles =
        std::max(result_.floor_cycles, toy::Count(std::to_string(first_bound(posed))));
    result_.at_least_cycles = result_.floor_cycles;
    const std::int64_t scratch_cells = std::exchange(posed.scratch_cells, 0);
    const bool only_results = !posed.temporaries && scratch_cells == 0;
    // Storing only results in DRAM gives far fewer states, and often an optimal program. If its
    // cost is above the floor, this search proves nothing about other programs.
    search_for(posed, only_results, only_results ? 1 : kShareOfEach);
    if (!only_results && !meets() && !posed.temporaries) bound_with(posed, scratch_cells);
    result_.verdict = meets() ? ProofVerdict::kOptimal : ProofVerdict::kBounded;
    // A program that stores more than results costs more than the floor: it is not counted there.
    const bool is_countable =
        only_results || (!posed.temporaries && result_.at_most_cycles == result_.floor_cycles);
    if (options_.count_programs && meets() && !result_.program.empty() && is_countable &&
        !posed.most_loads) {
      count(posed);
    }
  }

  /// Bounds the cost of programs that store other values in the cells of results first.
  void bound_with(Posed posed, std::int64_t scratch_cells) {
    // Treat these cells as registers: this is a relaxation with far fewer states.
    Posed relaxed = posed;
    relaxed.registers += scratch_cells;
    cut_registers(relaxed);
    relaxed.most_loads.reset();
    if (relaxed.registers <= kMostRegisters) {
      raise_at_least(timed_search(relaxed, kShareOfEach, 0).lower_cycles);
    }
    if (meets() || scratch_cells > kMostScratchCells) return;
    posed.scratch_cells = scratch_cells;
    search_for(posed, true, 1 - 2 * kShareOfEach);
  }

  void raise_at_least(std::int64_t cycles) {
    result_.at_least_cycles = std::max(result_.at_least_cycles, toy::Count(std::to_string(cycles)));
  }

  bool meets() const { return result_.at_least_cycles == result_.at_most_cycles; }

  static std::string stores_allowed(const Posed& posed) {
    if (posed.temporaries) return "temporary arrays as well";
    if (posed.computation.product() != nullptr) return "partial sums may be stored";
    return posed.scratch_cells > 0 ? "cells of results may hold other values first"
                                   : "only results are stored";
  }

  /// Takes the search's program, and its bound if it covers all programs that the exercise accepts.
  void search_for(Posed posed, bool is_about_all, double share_of_time) {
    // Without a limit on loads there are far fewer states. Often the best program meets it anyway.
    const std::optional<std::int64_t> most_loads = std::exchange(posed.most_loads, std::nullopt);
    const auto take_answer = [&](const optimal::Answer& answer) {
      const bool has_none = answer.verdict == optimal::Verdict::kInfeasible;
      if (is_about_all && has_none) {
        throw std::runtime_error("the solver finds no program at " + to_string(result_.size) +
                                 ", and the solution is one");
      }
      if (is_about_all) raise_at_least(answer.lower_cycles);
      if (answer.program) take(*answer.program);
      return answer.program && (!most_loads || answer.program->loads <= *most_loads);
    };
    const std::size_t width = posed.scratch_cells > 0 ? kBeamWidthWithScratch : kBeamWidth;
    if (take_answer(timed_search(posed, share_of_time, width)) || !most_loads) return;
    posed.most_loads = most_loads;
    take_answer(timed_search(posed, share_of_time, width));
  }

  /// Counts the programs of this cost, if that is fast.
  void count(const Posed& posed) {
    optimal::SolveLimits limits;
    limits.max_seconds = std::min(kMostCountSeconds, options_.most_seconds);
    limits.max_bytes = options_.most_bytes;
    limits.cancel = options_.cancel;
    const std::int64_t cycles = result_.at_least_cycles.get_si();
    std::optional<optimal::ProgramCount> counted;
    try {
      counted = with_machine(posed, [&](const auto& what, const auto& machine) {
        return optimal::count_programs(what, machine, cycles, limits);
      });
    } catch (const std::invalid_argument&) {
      return;  // too large: not counted
    }
    if (!counted) return;
    result_.programs = counted->programs.get_str();
    result_.programs_up_to_symmetry = counted->up_to_symmetry.get_str();
  }

  optimal::Answer timed_search(const Posed& posed, double share_of_time,
                               std::size_t beam_width = kBeamWidth) {
    optimal::SolveLimits limits;
    limits.max_seconds = options_.most_seconds * share_of_time;
    limits.max_bytes = options_.most_bytes;
    limits.cancel = options_.cancel;
    limits.beam_width = beam_width;
    optimal::Answer answer = search(posed, limits);
    result_.states += answer.states;
    result_.seconds += answer.seconds;
    return answer;
  }

  void take(const optimal::Witness& witness) {
    const std::string& text = witness.text;
    const toy::Count cycles(std::to_string(witness.cycles));
    // The solution or an earlier program is at least as good.
    if (cycles > result_.at_most_cycles) return;
    if (cycles == result_.at_most_cycles && !result_.program.empty()) return;
    if (!is_accepted(exercise_, result_.size, text)) {
      // Equal only on paper: its bound also holds for programs that are right in floats.
      return;
    }
    result_.at_most_cycles = cycles;
    result_.loads = toy::Count(std::to_string(witness.loads));
    result_.stores = toy::Count(std::to_string(witness.stores));
    result_.program = text;
  }

  /// Takes a known program if this size accepts it and it is cheaper.
  void take_known(const std::string& text) {
    if (!is_accepted(exercise_, result_.size, text)) return;
    Refusal refusal;
    const auto program = read_submission(task_, toy::SourceText("known.toy", text), refusal);
    if (program == nullptr) return;
    const toy::Counters counters = counters_at(task_, program, result_.size);
    if (counters.cycles >= result_.at_most_cycles) return;
    result_.at_most_cycles = counters.cycles;
    result_.loads = counters.loads;
    result_.stores = counters.stores;
    result_.program = text;
  }

  const Exercise& exercise_;
  const ProgramTask& task_;
  const ProveOptions& options_;
  ProvenSize result_;
};

/// Calls work(i) for each i below `count`, `jobs` at once. Rethrows the first exception.
template <class Work>
void in_parallel(std::size_t count, std::size_t jobs, Work&& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(jobs, count); ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

std::string interval(const ProvenSize& size) {
  const std::string least = size.at_least_cycles.get_str(), most = size.at_most_cycles.get_str();
  return least == most ? least : least + " to " + most;
}

}  // namespace

Proven prove(std::shared_ptr<const Exercise> exercise, const ProveOptions& options) {
  if (!exercise->program.machines.empty()) {
    throw std::runtime_error("nothing is proved about programs for several machines");
  }
  if (exercise->kind != Kind::kProgram) {
    throw std::runtime_error(exercise->id + " asks questions: it has no program to prove");
  }
  const ProgramTask& task = exercise->program;
  Proven proven;
  proven.command = "flashlab exercises prove exercises/" + exercise->id;
  if (options.most_seconds != ProveOptions{}.most_seconds) {
    proven.command += " --most-seconds " + std::to_string(std::llround(options.most_seconds));
  }
  proven.task = proven_task(task);
  proven.sizes.resize(task.sizes.size());
  std::mutex mutex;
  in_parallel(task.sizes.size(), std::max<std::size_t>(options.jobs, 1), [&](std::size_t i) {
    const ProvenSize* known =
        options.recorded == nullptr ? nullptr : options.recorded->at(task.sizes[i]);
    const bool is_kept = known != nullptr && (known->verdict == ProofVerdict::kNotSearched ||
                                              known->seconds >= options.recorded_below_seconds);
    if (is_kept) {
      proven.sizes[i] = *known;
      return;
    }
    proven.sizes[i] = SizeProver(*exercise, task.sizes[i], options).run();
    const std::lock_guard lock(mutex);
    if (options.done) options.done(proven.sizes[i]);
  });
  return proven;
}

std::vector<std::string> contradictions(const Exercise& exercise, const Proven& committed,
                                        const Proven& recomputed) {
  std::vector<std::string> result;
  for (const ProvenSize& now : recomputed.sizes) {
    const ProvenSize* then = committed.at(now.size);
    const std::string place = now.size.empty() ? "" : "at " + to_string(now.size) + ": ";
    if (then == nullptr) {
      result.push_back(place + "this size is missing");
      continue;
    }
    if (then->floor_loads != now.floor_loads || then->floor_cycles != now.floor_cycles) {
      result.push_back(place + "the floor is " + now.floor_loads.get_str() + " loads and " +
                       now.floor_cycles.get_str() + " cycles, not " + then->floor_loads.get_str() +
                       " and " + then->floor_cycles.get_str());
    }
    const bool cross =
        then->at_least_cycles > now.at_most_cycles || now.at_least_cycles > then->at_most_cycles;
    const bool both_optimal =
        then->verdict == ProofVerdict::kOptimal && now.verdict == ProofVerdict::kOptimal;
    if (cross || (both_optimal && then->at_least_cycles != now.at_least_cycles)) {
      result.push_back(place + "cycles are " + interval(now) + ", not " + interval(*then));
    }
    if (then->verdict != ProofVerdict::kOptimal && now.verdict == ProofVerdict::kOptimal) {
      result.push_back(place + "it is proved now: " + interval(now) + " cycles");
    }
    if (then->program.empty()) continue;
    if (!is_accepted(exercise, now.size, then->program)) {
      result.push_back(place + "the grader does not accept the program");
    }
  }
  return result;
}

}  // namespace flashlab::exercises
