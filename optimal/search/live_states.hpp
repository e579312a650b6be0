// Programs as paths of live sets: the graph on which programs are counted.
//
// A program is taken as the sequence of its instructions with the values that they handle. The
// registers that hold the values are left out: a point of the program is the set of values that are
// live there. A value is live if it is used before it is made again. Read backwards from its end,
// the sequence determines each of these sets. Sequences and paths of live sets therefore correspond
// one to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {

/// One instruction, and the live set after it.
struct LiveStep {
  State next = 0;
  std::int64_t cost = 0;  // cycles
};

class LiveSpace {
 public:
  virtual ~LiveSpace() = default;
  virtual State initial() const = 0;
  virtual bool is_goal(State state) const = 0;
  /// A lower bound on the remaining cycles, including stores.
  virtual std::int64_t bound(State state) const = 0;
  /// Replaces `result` by all steps from the state.
  virtual void steps(State state, std::vector<LiveStep>& result) = 0;
  /// Replaces `result` by the states with one live value less. A program that starts with values in
  /// registers may drop some of them at its start, because it may have no use for them.
  virtual void without_one(State state, std::vector<State>& result) = 0;
  /// Returns a symmetric state that represents its class. Two symmetric states may have different
  /// representatives if finding the same one takes too long.
  virtual State representative(State state) = 0;
  /// Bytes that the space itself holds.
  virtual std::size_t bytes() const { return 0; }
};

}  // namespace flashlab::optimal::detail
