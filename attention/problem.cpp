#include "attention/problem.hpp"

#include <algorithm>
#include <array>

#include "attention/detail/arguments.hpp"

namespace flashlab {

using namespace detail;

ProblemError::ProblemError(std::string_view field_name, std::string_view value_text,
                           std::string_view what_was_expected)
    : std::invalid_argument(std::string(field_name) + ": " + std::string(value_text) +
                            ": expected " + std::string(what_was_expected)),
      field(field_name),
      value(value_text),
      expected(what_was_expected) {}

std::string_view to_string(Mask mask) {
  constexpr std::string_view kNames[] = {"none", "causal", "causal-bottom-right"};
  return kNames[static_cast<int>(mask)];
}

VisibleKeys AttentionProblem::visible(std::int64_t batch_entry) const {
  VisibleKeys visible;
  visible.num_queries = seqlen_q;
  visible.num_keys = keys(batch_entry);
  visible.left = std::min(window_left.value_or(kUnlimited), kUnlimited);
  visible.right = mask != Mask::kNone ? 0 : std::min(window_right.value_or(kUnlimited), kUnlimited);
  visible.shift = mask == Mask::kCausalBottomRight ? visible.num_keys - seqlen_q : 0;
  return visible;
}

bool AttentionProblem::has_unseen_keys() const {
  if (!key_lengths.empty()) return true;
  if (batch == 0 || seqlen_q == 0) return false;
  return visible_keys(0, 0).first > 0 || visible_keys(0, seqlen_q - 1).end < seqlen_k;
}

std::int64_t AttentionProblem::visible_pairs() const {
  std::int64_t pairs = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const VisibleKeys of_entry = visible(b);
    for (std::int64_t i = 0; i < seqlen_q; ++i) pairs += of_entry.of_query(i).count();
  }
  return pairs * num_heads;
}

AttentionProblem check_forward(const ForwardTensors& tensors, const AttentionOptions& options) {
  const Named Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V}, O{"O", tensors.O},
      lse{"lse", tensors.lse};
  AttentionProblem problem = sizes_of(Q, K);
  const bool wants_lse = !tensors.lse.empty();
  check_attention_tensors(problem, std::array{Q, O}, std::array{K, V}, wants_lse ? &lse : nullptr);
  check_options(problem, options);
  const std::array outputs = {O, lse};
  check_outputs(std::span(outputs).first(wants_lse ? 2 : 1), std::array{Q, K, V});
  return problem;
}

AttentionProblem check_backward(const BackwardTensors& tensors, const AttentionOptions& options) {
  const Named Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V}, O{"O", tensors.O},
      lse{"lse", tensors.lse}, dO{"dO", tensors.dO}, dQ{"dQ", tensors.dQ}, dK{"dK", tensors.dK},
      dV{"dV", tensors.dV};
  AttentionProblem problem = sizes_of(Q, K);
  check_attention_tensors(problem, std::array{Q, O, dO, dQ}, std::array{K, V, dK, dV}, &lse);
  check_options(problem, options);
  check_outputs(std::array{dQ, dK, dV}, std::array{Q, K, V, O, lse, dO});
  return problem;
}

std::int64_t forward_flops(const AttentionProblem& problem) {
  return 4 * problem.visible_pairs() * problem.head_dim;
}

std::int64_t backward_flops(const AttentionProblem& problem) {
  return 10 * problem.visible_pairs() * problem.head_dim;
}

}  // namespace flashlab
