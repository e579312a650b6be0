// What must be brought together: a bound on a state of a value algebra that counts operations of
// two parts, as the maximum of n elements takes n - 1 of them, and their sum n - 1 others.
//
// A gathering gives each value a set of items, such that what an operation makes has no item that
// none of its operands has, but for values of one item or none. Then all that leads to a value of
// all items is a graph whose sources have one item each, or are there already; with s of them, it
// joins parts s - 1 times. An operation joins where its result has more items than any one operand.
// And the first value with an item that none has had is made by an operation that brings it in,
// for each item another one.
// Which items a value has is read off its form (the elements in its maxima, those in its
// exponentials, ...) and then held against every operation: what does not pass is not used.
// What is counted here is taken from the operations' costs, so that another bound on the rest may
// be added. Source: Katz, Domshlak 2010, Optimal admissible composition of abstraction heuristics
// (cost partitions); the rest is ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimal/problem/value_problem.hpp"

namespace flashlab::optimal::detail {

struct Gathering {
  using Items = std::uint64_t;  // bit by item

  std::vector<Items> items;  // by value
  Items all = 0;
  std::int64_t join_cost = 0;             // of joining two parts, at least
  std::vector<std::uint8_t> joins;        // by operation of the problem: how many parts, less one
  std::vector<std::int64_t> bring_costs;  // by item: of bringing it in, at least
  std::vector<std::int8_t> brings;        // by operation: the item that it brings in, or kNone
  static constexpr std::int8_t kNone = -1;
};

/// Those that hold for the problem, each with what the ones before it have left of the costs.
std::vector<Gathering> gatherings(const ValueProblem& problem);

/// How many of the parts, and of single items beside them, make up all items: as few as possible,
/// or (of many parts) fewer.
int fewest_parts(std::span<const Gathering::Items> parts, Gathering::Items all);

}  // namespace flashlab::optimal::detail
