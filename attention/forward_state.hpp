// The (m, l, O) of a forward pass over a part of the keys.
#pragma once

#include "attention/problem.hpp"

namespace flashlab {

/// What flash2 knows after some of the keys. So several calls, each with a part of K and V, compute
/// one attention: the first has no state_in, the last no state_out. Their order changes only rounding.
///
///   m [batch, num_heads, seqlen_q]            a whole or fractional exponent near the largest
///                                             S log2 e; -inf where the query has seen no key
///   l [batch, num_heads, seqlen_q]            the sum over the keys of 2^(S log2 e - m)
///   O [batch, num_heads, seqlen_q, head_dim]  the sum over the keys of 2^(S log2 e - m) V
///
/// All float, where the other tensors are, of any strides.
struct ForwardState {
  TensorView m, l, O;
  bool empty() const { return m.empty() && l.empty() && O.empty(); }
};

/// Checks the states of a call; empty ones are none. Throws ProblemError: shapes, types, memory; an
/// `out` that overlaps another tensor, or `in` other than with the same tensor.
void check_states(const AttentionProblem& problem, const ForwardTensors& tensors,
                  const ForwardState& in, const ForwardState& out);

}  // namespace flashlab
