// A* over value algebras.
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/problem/value_space.hpp"
#include "optimal/search/checkpoint.hpp"
#include "optimal/solve/answer_of.hpp"
#include "optimal/solve/solve.hpp"
#include "optimal/values/value_witness.hpp"

namespace flashlab::optimal {
namespace {

bool is_value_beginning(const ValueProgress& from) {
  const auto holds_nothing = [](const std::vector<int>& values) {
    return std::all_of(values.begin(), values.end(), [](int value) { return value < 0; });
  };
  return from.stored == 0 && from.loads == 0 && holds_nothing(from.held) &&
         holds_nothing(from.scratch);
}

std::uint64_t value_fingerprint(const detail::ValueProblem& problem, const SolveLimits& limits,
                                const ValueProgress& from) {
  const ValueAlgebra& algebra = problem.algebra();
  const ValueMachine& machine = problem.machine();
  detail::Fingerprint result;
  const auto add_all = [&](const auto& values) {
    result.add(static_cast<std::int64_t>(values.size()));
    for (const int value : values) result.add(value);
  };
  result.add("algebra").add(algebra.num_values).add(machine.registers).add(machine.scratch_cells);
  result.add(machine.most_loads ? *machine.most_loads : -1).add(problem.load_cost());
  result.add(problem.store_cost()).add(static_cast<std::int64_t>(limits.beam_width));
  add_all(algebra.inputs);
  add_all(algebra.outputs);
  for (const auto& operation : problem.operations()) {
    result.add(operation.number).add(operation.result).add(operation.cost);
    add_all(operation.operands);
  }
  for (const auto& renumbered : algebra.symmetries) add_all(renumbered);
  add_all(from.held);
  add_all(from.scratch);
  return result.add(static_cast<std::int64_t>(from.stored)).add(from.loads).value();
}

template <class State>
Answer solve_packed(const detail::ValueProblem& problem, const SolveLimits& limits,
                    const ValueProgress& from) {
  const detail::SearchLimits search_limits{limits, value_fingerprint(problem, limits, from)};
  const int stores_left =
      static_cast<int>(problem.algebra().outputs.size()) - std::popcount(from.stored);
  const detail::ValueState start = detail::ValueMoves(problem).start(from);
  detail::ValueSpace<State> space(problem, start, stores_left * problem.store_cost());
  const detail::Searched<State> searched = detail::search(space, search_limits);
  Answer answer = detail::answer_of(space, searched);
  if (searched.path && is_value_beginning(from)) {
    std::vector<detail::ValueState> path;
    for (const State& state : searched.path->states) path.push_back(space.unpack(state));
    answer.program = detail::write_program(space.moves(), path);
    if (!answer.program) {  // no room for intermediate values among the outputs
      answer.upper_cycles.reset();
      if (answer.verdict == Verdict::kOptimal) answer.verdict = Verdict::kBounded;
    }
  }
  answer.seconds = search_limits.seconds();
  return answer;
}

}  // namespace

Answer solve(const ValueAlgebra& algebra, const ValueMachine& machine, const SolveLimits& limits,
             const ValueProgress& from) {
  const detail::ValueProblem problem(algebra, machine);
  const std::size_t words = detail::ValueMoves::words(problem);
  if (words <= 1) return solve_packed<detail::State>(problem, limits, from);
  if (words <= 2) return solve_packed<detail::WideState<2>>(problem, limits, from);
  if (words <= 4) return solve_packed<detail::WideState<4>>(problem, limits, from);
  throw std::invalid_argument("a state of this computation does not fit 256 bits");
}

}  // namespace flashlab::optimal
