// A second lower bound on the remaining cost in a state of a value algebra. It is usually larger
// than that of landmarks.hpp, and slower to compute.
//
// The bound is computed in a relaxation in which nothing is overwritten. A cut between the
// available values and the outputs is a set of operations of which every program executes at least
// one. The cost of the cheapest member of a cut is paid in any case. It is subtracted from all
// members, so that no later cut counts it again. The next cut is then sought, until the outputs
// cost nothing more. Cuts count costs that landmarks (landmarks.hpp) do not. For example, every
// program may have to subtract something from each of four elements, but not always the same value.
// The operations that join parts (item_assignments.hpp) and the landmarks are counted first, and
// their costs subtracted.
// Source: Helmert, Domshlak 2009, Landmarks, Critical Paths and Abstractions: What's the Difference
// Anyway?, section 5 (LM-cut).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "optimal/problem/item_assignments.hpp"
#include "optimal/problem/value_problem.hpp"

namespace flashlab::optimal::detail {

class LandmarkCuts {
 public:
  explicit LandmarkCuts(const ValueProblem& problem);

  /// Returns a lower bound on the remaining cost; 0 at the goal. Stops once the bound reaches
  /// `limit`. `needed`: the positions (in the problem's order) of the values that are made in any
  /// case. `stored`: one bit per output. May be called by several threads at once.
  std::int64_t bound(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored,
                     std::span<const std::uint16_t> needed, std::int64_t limit) const;

 private:
  using Positions = std::array<std::uint16_t, 3>;
  /// A way to make a value. All values are positions in the problem's order; a missing operand has
  /// the position after the last one, and counts as held.
  struct Way {
    Positions operands;
    std::uint16_t result = 0;
    std::int64_t cost = 0;
    std::size_t number = 0;  // in ways_
  };
  struct Scratch;
  /// An ItemAssignment, by position and by way.
  struct PlacedAssignment {
    std::vector<ItemAssignment::Items> items;
    ItemAssignment::Items all = 0;
    std::int64_t join_cost = 0;
    std::vector<std::uint8_t> joins;
    std::vector<std::int64_t> bring_costs;
    std::vector<std::int8_t> brings;
  };

  void place(const std::vector<ItemAssignment>& found, const std::vector<int>& maker_of_way);
  /// Returns a lower bound on the cost of joining and bringing in; subtracts it from
  /// the ways' costs.
  std::int64_t count_assignments(Scratch& work) const;
  /// Returns the cost of the single values that are needed; subtracts it likewise.
  static std::int64_t count_needed(std::span<const std::uint16_t> needed, Scratch& work);
  /// Whether some remaining output cannot be made without a value that has all these items.
  static bool is_needed(const PlacedAssignment& assignment, ItemAssignment::Items items,
                        Scratch& work);

  /// Computes each value's level (h_max): over all ways to make it, the least sum of the way's cost
  /// and the level of its most expensive operand. Returns the level of the most expensive output.
  std::int64_t find_levels(Scratch& work) const;
  /// Marks the values from which the most expensive output can be made at no cost.
  void find_goal_zone(Scratch& work) const;
  /// Finds the cut: the ways that lead from the available values to the marked ones.
  void find_cut(Scratch& work) const;
  static std::uint16_t most_expensive(const Scratch& work, const Positions& operands);

  const ValueProblem& problem_;
  std::vector<Way> ways_;               // operations, by result in order; then one load per value
  std::vector<std::size_t> output_at_;  // by output: position of its value
  std::vector<PlacedAssignment> item_assignments_;
};

}  // namespace flashlab::optimal::detail
