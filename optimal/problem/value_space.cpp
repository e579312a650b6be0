#include "optimal/problem/value_space.hpp"

#include <bit>

namespace flashlab::optimal::detail {
namespace {

std::uint64_t& word(State& state, std::size_t) { return state; }
std::uint64_t word(const State& state, std::size_t) { return state; }
template <std::size_t kWords>
std::uint64_t& word(WideState<kWords>& state, std::size_t number) {
  return state[number];
}
template <std::size_t kWords>
std::uint64_t word(const WideState<kWords>& state, std::size_t number) {
  return state[number];
}

/// Writes and reads consecutive fields; a field may cross a word boundary.
template <class State>
class Bits {
 public:
  explicit Bits(State& state) : state_(state) {}

  void write(std::uint64_t value, unsigned bits) {
    if (bits == 0) return;
    const unsigned shift = place_ % 64;
    word(state_, place_ / 64) |= value << shift;
    if (shift + bits > 64) word(state_, place_ / 64 + 1) |= value >> (64 - shift);
    place_ += bits;
  }
  std::uint64_t read(unsigned bits) {
    if (bits == 0) return 0;
    const unsigned shift = place_ % 64;
    std::uint64_t value = word(state_, place_ / 64) >> shift;
    if (shift + bits > 64) value |= word(state_, place_ / 64 + 1) << (64 - shift);
    place_ += bits;
    return value & ((std::uint64_t{1} << bits) - 1);
  }

 private:
  State& state_;
  unsigned place_ = 0;
};

}  // namespace

template <class State>
State ValueSpace<State>::pack(const ValueState& state) const {
  const ValueProblem& problem = moves_.problem();
  const unsigned bits = ValueMoves::place_bits(problem);
  State result{};
  Bits<State> packed(result);
  packed.write(state.stored, static_cast<unsigned>(problem.algebra().outputs.size()));
  packed.write(state.loads, ValueMoves::load_bits(problem));
  for (int i = 0; i < problem.machine().registers; ++i) {
    packed.write(state.registers[static_cast<std::size_t>(i)], bits);
  }
  for (int i = 0; i < problem.machine().scratch_cells; ++i) {
    packed.write(state.scratch[static_cast<std::size_t>(i)], bits);
  }
  return result;
}

template <class State>
ValueState ValueSpace<State>::unpack(const State& state) const {
  const ValueProblem& problem = moves_.problem();
  const unsigned bits = ValueMoves::place_bits(problem);
  ValueState result;
  Bits<const State> packed(state);
  result.stored = static_cast<std::uint32_t>(
      packed.read(static_cast<unsigned>(problem.algebra().outputs.size())));
  result.loads = static_cast<std::uint32_t>(packed.read(ValueMoves::load_bits(problem)));
  for (int i = 0; i < problem.machine().registers; ++i) {
    result.registers[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(packed.read(bits));
  }
  for (int i = 0; i < problem.machine().scratch_cells; ++i) {
    result.scratch[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(packed.read(bits));
  }
  return result;
}

template <class State>
std::vector<Start<State>> ValueSpace<State>::starts() const {
  const ValueProblem& problem = moves_.problem();
  const auto most = problem.machine().most_loads;
  const bool too_many_loads = most && static_cast<std::int64_t>(start_.loads) > *most;
  if (!problem.is_possible() || too_many_loads) return {};
  return {{pack(moves_.canonical(start_)), 0}};
}

template <class State>
bool ValueSpace<State>::is_goal(const State& state) const {
  return moves_.is_goal(unpack(state));
}

template <class State>
int ValueSpace<State>::work_left(const State& state) const {
  return std::popcount(moves_.problem().all_outputs() & ~unpack(state).stored);
}

template <class State>
std::int64_t ValueSpace<State>::bound(const State& packed) {
  const ValueState state = unpack(packed);
  const ValueBound bound = moves_.bound(state);
  return moves_.may_load(state, bound) ? bound.cost : kDeadEnd;
}

template <class State>
std::int64_t ValueSpace<State>::second_bound(const State& packed, std::int64_t limit) {
  return moves_.second_bound(unpack(packed), limit);
}

template <class State>
void ValueSpace<State>::successors(const State& packed, std::int64_t limit,
                                   std::vector<Successor<State>>& result) {
  result.clear();
  list_.clear();
  const ValueState state = unpack(packed);
  moves_.moves(state, list_);
  for (const ValueMove& move : list_) {
    if (move.cost >= limit) continue;
    // Most states are reached many times, and computing the bound takes longest.
    result.push_back({pack(moves_.canonical(moves_.apply(state, move))),
                      static_cast<std::uint32_t>(move.cost), kBoundLater});
  }
}

template class ValueSpace<State>;
template class ValueSpace<WideState<2>>;
template class ValueSpace<WideState<4>>;

}  // namespace flashlab::optimal::detail
