// A second bound on what is left to pay in a state of a value algebra: larger, and slower.
//
// In the relaxation in which nothing is overwritten, some set of operations has one member at least
// in every program: a cut between what is there and the outputs. The cheapest member's cost is
// paid in any case; it is taken from all members, so that what is counted for one cut is not
// counted again for the next, and the next cut is looked for until the outputs cost nothing more.
// It sees what single values do not: that all four elements are subtracted from, whatever is.
// Before that, what is to be joined is counted (gatherings.hpp), then what single values
// cost (landmarks.hpp), and both are taken from the costs. Source: Helmert, Domshlak 2009,
// Landmarks, Critical Paths and Abstractions: What's the Difference Anyway?, section 5 (LM-cut).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "optimal/problem/gatherings.hpp"
#include "optimal/problem/value_problem.hpp"

namespace flashlab::optimal::detail {

class LandmarkCuts {
 public:
  explicit LandmarkCuts(const ValueProblem& problem);

  /// Never more than what remains; 0 at the goal; enough to reach `limit`, and then no more is
  /// looked for. `needed`: values that are made in any case, by position. `stored`: bit by output.
  /// May be called by several threads at once.
  std::int64_t bound(const ValueSet& held, const ValueSet& loadable, std::uint32_t stored,
                     std::span<const std::uint16_t> needed, std::int64_t limit) const;

 private:
  using Positions = std::array<std::uint16_t, 3>;
  /// A way to make a value, all by position in the problem's order; for no operand the position
  /// after the last, which is held always.
  struct Way {
    Positions operands;
    std::uint16_t result = 0;
    std::int64_t cost = 0;
    std::size_t number = 0;  // in ways_
  };
  struct Scratch;
  /// As Gathering, by position and by way.
  struct PlacedGathering {
    std::vector<Gathering::Items> items;
    Gathering::Items all = 0;
    std::int64_t join_cost = 0;
    std::vector<std::uint8_t> joins;
    std::vector<std::int64_t> bring_costs;
    std::vector<std::int8_t> brings;
  };

  void place(const std::vector<Gathering>& found, const std::vector<int>& maker_of_way);
  /// What joining and bringing in costs at least; takes it from the ways' costs.
  std::int64_t count_gatherings(Scratch& work) const;
  /// What single values cost in any case; takes it likewise.
  static std::int64_t count_needed(std::span<const std::uint16_t> needed, Scratch& work);
  /// Whether some output that is left cannot be made without a value of all these items.
  static bool is_needed(const PlacedGathering& gathering, Gathering::Items items, Scratch& work);

  /// The cost of the dearest operand of a cheapest way to each value, and of the dearest output.
  std::int64_t find_levels(Scratch& work) const;
  /// Marks the values from which the dearest output follows at no cost.
  void find_goal_zone(Scratch& work) const;
  /// The ways that lead from what is there into that zone.
  void find_cut(Scratch& work) const;
  static std::uint16_t dearest(const Scratch& work, const Positions& operands);

  const ValueProblem& problem_;
  std::vector<Way> ways_;               // operations, by result in order; then a load of each value
  std::vector<std::size_t> output_at_;  // by output: its value's position
  std::vector<PlacedGathering> gatherings_;
};

}  // namespace flashlab::optimal::detail
