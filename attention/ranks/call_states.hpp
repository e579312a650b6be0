// The states between the calls of a forward pass over several ranks.
#pragma once

#include "attention/ranks/rank_programs.hpp"

namespace flashlab {

/// Sets has_state_in and has_state_out of all calls. Some rows of a call may have no state yet, or none
/// of their own to follow, while others have. Then a call without keys makes or finishes it. Afterwards
/// each row of the rank's shard has one call without state_in, one later or the same without
/// state_out, and no other.
RankProgram with_states(const RankProgram& program, const ShardedProblem& problem, int rank);

}  // namespace flashlab
