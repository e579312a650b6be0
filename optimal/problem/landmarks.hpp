// A lower bound on the remaining cost in a state of a value algebra.
//
// The bound is computed in a relaxation in which nothing is overwritten. A landmark is a value that
// every way to a remaining output makes. The bound adds up the cheapest costs of all landmarks. A
// move makes one value, so that the bound falls by at most the move's cost.
// Source: Keyder, Richter, Helmert 2010, Sound and Complete Landmarks for And/Or Graphs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "optimal/problem/value_problem.hpp"

namespace flashlab::optimal::detail {

/// Lower bounds on what remains.
struct ValueBound {
  std::int64_t cost = 0;
  int loads = 0;
};

class Landmarks {
 public:
  explicit Landmarks(const ValueProblem& problem);

  /// `stored`: one bit per output. May be called by several threads at once.
  ValueBound bound(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored) const;

  /// Returns the values that every way to a remaining output makes, as ascending positions in
  /// the problem's order.
  std::vector<std::uint16_t> needed(const ValueSet& held, const ValueSet& loadable,
                                    std::uint32_t stored) const;

  /// A second lower bound for states with a single remaining output; 0 for other states. The parts
  /// are the values that are loaded or held for this output. All of them must be joined, and an
  /// operation with two operands reduces the number of parts by one. The bound is admissible, but
  /// not consistent.
  std::int64_t joining_bound(const ValueSet& held, const ValueSet& loadable,
                             std::uint32_t stored) const;

 private:
  /// The operands of a way, as positions in the problem's order. A missing operand has the position
  /// after the last one.
  using Positions = std::array<std::uint16_t, 3>;

  template <std::size_t kWords>
  using Set = std::array<std::uint64_t, kWords>;  // of positions

  /// Calls work.operator()<kWords>() with the number of words that the positions need.
  template <class Work>
  auto with_words(Work&& work) const;
  /// Returns for each position the values that every way to it makes. Thread-local; valid until
  /// the next call.
  template <std::size_t kWords>
  std::vector<Set<kWords>>& found(const ValueSet& held, const ValueSet& loadable) const;
  template <std::size_t kWords>
  Set<kWords> needed_of(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored) const;
  template <std::size_t kWords>
  ValueBound bound_of(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored) const;
  template <std::size_t kWords>
  std::int64_t joining_bound_of(const ValueSet& held, const ValueSet& loadable,
                                std::uint32_t stored) const;
  /// The loadable values that must be loaded: they are not held, and cannot be made from the other
  /// available values.
  template <std::size_t kWords>
  Set<kWords> only_loaded(const ValueSet& held, const ValueSet& loadable) const;
  /// Whether the value at a position can be made from the values in `from` alone.
  template <std::size_t kWords>
  bool is_made_of(const Set<kWords>& from, std::size_t position) const;

  const ValueProblem& problem_;
  std::vector<Positions> ways_;         // grouped by value
  std::vector<std::size_t> first_way_;  // by position, with one entry more
  std::vector<std::size_t> output_at_;  // by output: position of its value
  std::vector<std::int64_t> cheapest_;  // by position
  std::vector<bool> is_only_loaded_;    // by position
  std::int64_t most_operands_ = 0, cheapest_operation_ = 0;
};

}  // namespace flashlab::optimal::detail
