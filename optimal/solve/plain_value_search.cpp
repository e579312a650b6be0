// The plain search over a value algebra, which checks solve().
#include <algorithm>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/solve/plain_search.hpp"

namespace flashlab::optimal {
namespace {

struct PlainProgress {
  std::vector<int> registers, scratch;  // the value or -1, sorted
  std::uint64_t stored = 0;
  int loads = 0;  // counted if the machine limits them
  // libc++ 16 has no <=> for vectors.
  bool operator<(const PlainProgress& other) const {
    return std::tie(registers, scratch, stored, loads) <
           std::tie(other.registers, other.scratch, other.stored, other.loads);
  }
};

class PlainValues {
 public:
  PlainValues(const ValueAlgebra& algebra, const ValueMachine& machine)
      : algebra_(algebra), machine_(machine) {}

  PlainValueAnswer run(PlainProgress first) {
    const std::uint64_t all = (std::uint64_t{1} << algebra_.outputs.size()) - 1;
    reach(std::move(first), 0);
    while (!open_.empty()) {
      const auto [cycles, state] = open_.top();
      open_.pop();
      if (cycles > best_.at(state)) continue;
      if (state.stored == all) return {cycles, best_.size()};
      loads(state, cycles);
      operations(state, cycles);
      stores(state, cycles);
    }
    return {-1, best_.size()};
  }

 private:
  void reach(PlainProgress next, std::int64_t cycles) {
    std::sort(next.registers.begin(), next.registers.end());
    std::sort(next.scratch.begin(), next.scratch.end());
    const auto [place, is_new] = best_.try_emplace(next, cycles);
    if (!is_new && place->second <= cycles) return;
    place->second = cycles;
    open_.emplace(cycles, std::move(next));
  }

  void write(const PlainProgress& state, int value, std::int64_t cycles) {
    for (std::size_t i = 0; i < state.registers.size(); ++i) {
      PlainProgress next = state;
      next.registers[i] = value;
      reach(std::move(next), cycles);
    }
  }

  void loads(PlainProgress state, std::int64_t cycles) {
    if (machine_.most_loads) {
      if (state.loads >= *machine_.most_loads) return;
      ++state.loads;
    }
    cycles += scalar_cycles(machine_.costs, "LOAD");
    for (const int input : algebra_.inputs) write(state, input, cycles);
    for (const int value : state.scratch) {
      if (value >= 0) write(state, value, cycles);
    }
    for (std::size_t i = 0; i < algebra_.outputs.size(); ++i) {
      if ((state.stored >> i & 1) != 0) write(state, algebra_.outputs[i], cycles);
    }
  }

  static bool holds(const PlainProgress& state, int value) {
    return value == kNoValue || std::find(state.registers.begin(), state.registers.end(), value) !=
                                    state.registers.end();
  }

  void operations(const PlainProgress& state, std::int64_t cycles) {
    for (const ValueOperation& operation : algebra_.operations) {
      const auto& [a, b, c] = operation.operands;
      if (!holds(state, a) || !holds(state, b) || !holds(state, c)) continue;
      write(state, operation.result, cycles + scalar_cycles(machine_.costs, operation.mnemonic));
    }
  }

  void stores(const PlainProgress& state, std::int64_t cycles) {
    cycles += scalar_cycles(machine_.costs, "STORE");
    for (std::size_t i = 0; i < algebra_.outputs.size(); ++i) {
      if (!holds(state, algebra_.outputs[i])) continue;
      PlainProgress next = state;
      next.stored |= std::uint64_t{1} << i;
      reach(std::move(next), cycles);
    }
    for (const int value : state.registers) {
      for (std::size_t cell = 0; value >= 0 && cell < state.scratch.size(); ++cell) {
        PlainProgress next = state;
        next.scratch[cell] = value;
        reach(std::move(next), cycles);
      }
    }
  }

  const ValueAlgebra& algebra_;
  const ValueMachine& machine_;
  using Entry = std::pair<std::int64_t, PlainProgress>;
  std::map<PlainProgress, std::int64_t> best_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

}  // namespace

PlainValueAnswer plain_value_search(const ValueAlgebra& algebra, const ValueMachine& machine,
                                    const ValueProgress& from) {
  PlainProgress first;
  first.registers = from.held;
  first.scratch = from.scratch;
  const auto registers = static_cast<std::size_t>(machine.registers);
  const auto scratch = static_cast<std::size_t>(machine.scratch_cells);
  if (algebra.outputs.size() > 63 || first.registers.size() > registers ||
      first.scratch.size() > scratch) {
    throw std::invalid_argument("more registers, cells or outputs than the plain search knows");
  }
  first.registers.resize(registers, -1);
  first.scratch.resize(scratch, -1);
  first.stored = from.stored;
  if (machine.most_loads) first.loads = from.loads;
  return PlainValues(algebra, machine).run(std::move(first));
}

}  // namespace flashlab::optimal
