// What several ranks compute, on one GPU: the same calls one after the other.
#pragma once

#include "tests/attention_cuda/ranks/sharded_run.hpp"

namespace flashlab::test {

/// The order in which a variant takes the keys of the ranks.
struct KeyOrder {
  int step;               // from a rank's own keys to those of rank + step, and so on
  bool adds_pairs_first;  // dK and dV of a pair of ranks, before they are added to the sum
  bool ends_at_home;      // backward: half of the rank's own keys come last
};
inline constexpr KeyOrder kRingOrder = {-1, false, true}, kGatherOrder = {1, true, false};

/// Of bwd-onepass.
struct BackwardWay {
  bool deterministic = false;
  bool keeps_dQ = true;  // the kernel sums dQ itself over the calls of a rank, if it can
};

/// By flash2, with the states of a rank's calls, and bwd-onepass, whose parts of gradients
/// are added in fp32 on the host.
WholeResults run_in_order(const ShardedProblem& problem, const WholeInputs& inputs,
                          const KeyOrder& order, const BackwardWay& way = {});

}  // namespace flashlab::test
