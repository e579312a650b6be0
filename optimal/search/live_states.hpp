// Programs as paths of live sets: what the counting of programs walks over.
//
// A program is taken as the sequence of its instructions by the values that they handle. Which
// registers hold the values is left out: a point of the program is the set of values that are live
// there, each to be used before it is made again. From the end backwards the sequence determines
// that set, so that sequences and paths of live sets are the same thing, one to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {

/// One instruction, and which of its operands live on.
struct LiveStep {
  State next = 0;
  std::int64_t cost = 0;  // cycles
};

class LiveSpace {
 public:
  virtual ~LiveSpace() = default;
  virtual State initial() const = 0;
  virtual bool is_goal(State state) const = 0;
  /// At most the cycles of what remains, stores too.
  virtual std::int64_t bound(State state) const = 0;
  /// Replaces `result` by all steps from the state.
  virtual void steps(State state, std::vector<LiveStep>& result) = 0;
  /// Replaces `result` by the states in which one live value fewer is: what a program may do once,
  /// where it does not begin with nothing but with values that it may have no use for.
  virtual void without_one(State state, std::vector<State>& result) = 0;
  /// A state that is the same but for a symmetry; the fewer of them, the better.
  virtual State representative(State state) = 0;
  /// That the space holds itself.
  virtual std::size_t bytes() const { return 0; }
};

}  // namespace flashlab::optimal::detail
