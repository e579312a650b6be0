// What is left to pay at least, in a state of a value algebra.
//
// Values that every way to an output that is left goes through, each at its cheapest: the landmarks
// of the relaxation in which nothing is overwritten. A move makes one value, so that the bound
// falls by at most the move's cost.
// Source: Keyder, Richter, Helmert 2010, Sound and Complete Landmarks for And/Or Graphs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "optimal/problem/value_problem.hpp"

namespace flashlab::optimal::detail {

/// What remains at least.
struct ValueBound {
  std::int64_t cost = 0;
  int loads = 0;
};

class Landmarks {
 public:
  explicit Landmarks(const ValueProblem& problem);

  /// `stored`: bit by output. May be called by several threads at once.
  ValueBound bound(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored) const;

  /// The values that every way to an output that is left makes: their positions in the problem's
  /// order, ascending.
  std::vector<std::uint16_t> needed(const ValueSet& held, const ValueSet& loadable,
                                    std::uint32_t stored) const;

  /// Another one, where a single output is left (else 0). All that is loaded or held for it comes
  /// together in it, and an operation of two operands leaves one part less to be brought together.
  /// Admissible, and no more.
  std::int64_t joining_bound(const ValueSet& held, const ValueSet& loadable,
                             std::uint32_t stored) const;

 private:
  /// By position in the problem's order: what a way to a value takes, kNothing for no operand.
  using Positions = std::array<std::uint16_t, 3>;

  template <std::size_t kWords>
  using Set = std::array<std::uint64_t, kWords>;  // of positions

  /// Calls work.operator()<kWords>() with as many words as the positions take.
  template <class Work>
  auto with_words(Work&& work) const;
  /// By position: what every way to it makes. The thread's own, until the next call.
  template <std::size_t kWords>
  std::vector<Set<kWords>>& found(const ValueSet& held, const ValueSet& loadable) const;
  template <std::size_t kWords>
  Set<kWords> needed_of(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored) const;
  template <std::size_t kWords>
  ValueBound bound_of(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored) const;
  template <std::size_t kWords>
  std::int64_t joining_bound_of(const ValueSet& held, const ValueSet& loadable,
                                std::uint32_t stored) const;
  /// What is not held, and not made of anything if it is not loaded before.
  template <std::size_t kWords>
  Set<kWords> only_loaded(const ValueSet& held, const ValueSet& loadable) const;
  /// Whether the value at a position can be made of those in `from`, and of nothing else.
  template <std::size_t kWords>
  bool is_made_of(const Set<kWords>& from, std::size_t position) const;

  const ValueProblem& problem_;
  std::vector<Positions> ways_;         // of one value after the other
  std::vector<std::size_t> first_way_;  // by position, and one more
  std::vector<std::size_t> output_at_;  // by output: its value's position
  std::vector<std::int64_t> cheapest_;  // by position
  std::vector<bool> is_only_loaded_;    // by position
  std::int64_t most_operands_ = 0, cheapest_operation_ = 0;
};

}  // namespace flashlab::optimal::detail
