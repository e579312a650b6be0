// The searches over value algebras: A*, and the plain one that judges it.
#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <stdexcept>
#include <utility>

#include "optimal/detail/value_space.hpp"
#include "optimal/value_algebra.hpp"

namespace flashlab::optimal {
namespace {

using detail::State;
using detail::ValueMove;
using detail::ValueSpace;

/// Gives registers to values, and writes a line for each instruction.
class ValueWriter {
 public:
  ValueWriter(const ValueAlgebra& algebra, const ValueSpace& space, int registers,
              std::int64_t store_cycles)
      : algebra_(algebra),
        space_(space),
        store_cycles_(store_cycles),
        values_(static_cast<std::size_t>(registers), -1) {}

  void write(const ValueMove& move) {
    const int destination = register_of(move.lost);
    const std::string to = ", " + name(destination) + "\n";
    if (move.operation < 0) {
      text_ += "LOAD x[" + std::to_string(index(algebra_.inputs, move.value)) + "]" + to;
      ++witness_.loads;
    } else {
      const auto& operation = algebra_.operations[static_cast<std::size_t>(move.operation)];
      text_ += std::string(operation.mnemonic) + " " + name(register_of(operation.a)) +
               (operation.b < 0 ? "" : ", " + name(register_of(operation.b))) + to;
      ++witness_.products;
    }
    witness_.cycles += move.cost;
    values_[static_cast<std::size_t>(destination)] = move.value;
    if (space_.is_output(move.value) && stored_.insert(move.value).second) store(move.value);
    if (space_.is_only_output(move.value)) values_[static_cast<std::size_t>(destination)] = -1;
  }

  Witness finish() {
    witness_.text = "; " + algebra_.title + " in " + std::to_string(witness_.cycles) +
                    " cycles\n.isa softmax\n.registers " + std::to_string(values_.size()) +
                    "\n.input  x[" + std::to_string(algebra_.inputs.size()) + "]\n.output o[" +
                    std::to_string(algebra_.outputs.size()) + "]\n\n" + text_;
    return witness_;
  }

 private:
  static std::string name(int register_number) { return "R" + std::to_string(register_number); }
  static int index(const std::vector<int>& values, int value) {
    return static_cast<int>(std::find(values.begin(), values.end(), value) - values.begin());
  }
  int register_of(int value) const { return index(values_, value); }

  void store(int value) {
    text_ += "STORE " + name(register_of(value)) + ", o[" +
             std::to_string(index(algebra_.outputs, value)) + "]\n";
    ++witness_.stores;
    witness_.cycles += store_cycles_;
  }

  const ValueAlgebra& algebra_;
  const ValueSpace& space_;
  std::int64_t store_cycles_;
  std::vector<int> values_;  // by register; -1: free
  std::set<int> stored_;
  std::string text_;
  Witness witness_;
};

void write_path(const ValueSpace& space, const std::vector<State>& path, ValueWriter& writer) {
  State state = path.front();
  std::vector<ValueMove> moves;
  for (std::size_t step = 1; step < path.size(); ++step) {
    moves.clear();
    space.moves(state, moves);
    const ValueMove* best = nullptr;
    for (const ValueMove& move : moves) {
      if (space.canonical(space.apply(state, move)) != path[step]) continue;
      if (best == nullptr || move.cost < best->cost) best = &move;
    }
    if (best == nullptr) throw std::logic_error("a path of states that no moves connect");
    writer.write(*best);
    state = space.apply(state, *best);
  }
}

}  // namespace

Answer solve(const ValueAlgebra& algebra, int registers, const toy::CostTable& costs,
             const SolveLimits& limits) {
  const detail::SearchLimits search_limits{limits};
  ValueSpace space(algebra, registers, costs);
  const detail::Searched searched = detail::search(space, search_limits);
  Answer answer = detail::answer_of(space, searched);
  if (searched.path) {
    ValueWriter writer(algebra, space, registers, scalar_cycles(costs, "STORE"));
    write_path(space, searched.path->states, writer);
    answer.program = writer.finish();
  }
  answer.seconds = search_limits.seconds();
  return answer;
}

PlainValueAnswer plain_value_search(const ValueAlgebra& algebra, int registers,
                                    const toy::CostTable& costs) {
  // By register, the value or -1; and then for each output whether it is stored.
  using Cells = std::vector<int>;
  const auto count = static_cast<std::size_t>(registers);
  std::map<Cells, std::int64_t> best;
  std::priority_queue<std::pair<std::int64_t, Cells>, std::vector<std::pair<std::int64_t, Cells>>,
                      std::greater<>>
      open;
  const auto reach = [&](Cells next, std::int64_t cycles) {
    std::sort(next.begin(), next.begin() + registers);
    const auto [place, is_new] = best.try_emplace(next, cycles);
    if (!is_new && place->second <= cycles) return;
    place->second = cycles;
    open.emplace(cycles, std::move(next));
  };
  Cells first(count + algebra.outputs.size(), 0);
  std::fill(first.begin(), first.begin() + registers, -1);
  reach(first, 0);
  while (!open.empty()) {
    const auto [cycles, state] = open.top();
    open.pop();
    if (cycles > best.at(state)) continue;
    const auto end = state.begin() + registers;
    if (std::find(end, state.end(), 0) == state.end()) return {cycles, best.size()};
    const auto holds = [&, begin = state.begin()](int value) {
      return value < 0 || std::find(begin, end, value) != end;
    };
    const auto write = [&, from = state, so_far = cycles](int value, std::string_view mnemonic) {
      for (std::size_t i = 0; i < count; ++i) {
        Cells next = from;
        next[i] = value;
        reach(std::move(next), so_far + scalar_cycles(costs, mnemonic));
      }
    };
    for (const int input : algebra.inputs) write(input, "LOAD");
    for (const ValueOperation& operation : algebra.operations) {
      if (holds(operation.a) && holds(operation.b)) write(operation.result, operation.mnemonic);
    }
    for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
      if (!holds(algebra.outputs[i])) continue;
      Cells next = state;
      next[count + i] = 1;
      reach(std::move(next), cycles + scalar_cycles(costs, "STORE"));
    }
  }
  return {-1, best.size()};
}

}  // namespace flashlab::optimal
