// Lower bounds for a state of a value algebra that count joining operations: the maximum of n
// elements takes n - 1 operations, and their sum takes n - 1 others.
//
// An item assignment assigns a set of items to each value: for example, the elements of the maxima
// that occur in it. Every item of an operation's result is an item of one of its operands, unless
// the result has at most one item. Consider the values from which a program makes a value that has
// all items. With the operations between them, they form a graph. Each source of that graph has one
// item, or is available already. An operation joins parts if no single operand has all items of its
// result. A graph with s sources needs at least s - 1 such joins (an operation with three operands
// may count as two). In addition, the first value with a new item is made by an operation that
// brings this item in. Different items need different operations.
//
// The items of a value are read from its form (the elements of its maxima, those of its
// exponentials, ...) and then checked against every operation. An item assignment that fails the
// check is not used. The costs that are counted here are subtracted from the operations' costs, so
// that another bound on the rest may be added. Source: Katz, Domshlak 2010, Optimal admissible
// composition of abstraction heuristics (cost partitions); the rest is ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimal/problem/value_problem.hpp"

namespace flashlab::optimal::detail {

struct ItemAssignment {
  using Items = std::uint64_t;  // one bit per item

  std::vector<Items> items;  // by value
  Items all = 0;
  std::int64_t join_cost = 0;             // lower bound for joining two parts
  std::vector<std::uint8_t> joins;        // by operation of the problem: parts joined, less one
  std::vector<std::int64_t> bring_costs;  // by item: lower bound for bringing it in
  std::vector<std::int8_t> brings;        // by operation: the item that it brings in, or kNone
  static constexpr std::int8_t kNone = -1;
};

/// Returns the item assignments that hold for the problem. Each one counts only the costs
/// that the assignments before it have not counted.
std::vector<ItemAssignment> item_assignments(const ValueProblem& problem);

/// Returns the least number of `parts` and single items that together make up all items. With many
/// parts, returns a lower bound on that number.
int fewest_parts(std::span<const ItemAssignment::Items> parts, ItemAssignment::Items all);

}  // namespace flashlab::optimal::detail
