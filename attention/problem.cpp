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

AttentionOptions AttentionProblem::options() const {
  return {mask,         softmax_scale, key_lengths,  window_left,
          window_right, cu_seqlens_q,  cu_seqlens_k, query_offset};
}

MaskRule AttentionProblem::mask_rule() const {
  const auto limit = [](const std::optional<std::int64_t>& window) {
    return std::min(window.value_or(kUnlimited), kUnlimited);
  };
  return {limit(window_left), mask != Mask::kNone ? 0 : limit(window_right),
          mask == Mask::kCausalBottomRight, query_offset};
}

PackedSequences AttentionProblem::sequences() const {
  return {cu_seqlens_q.data(), cu_seqlens_k.data(), std::ssize(cu_seqlens_q) - 1};
}

VisibleKeys AttentionProblem::visible(std::int64_t sequence) const {
  return is_packed() ? sequences().of(sequence, mask_rule())
                     : mask_rule().of(0, seqlen_q, 0, keys(sequence));
}

KeyRange AttentionProblem::visible_keys(std::int64_t batch_entry, std::int64_t query) const {
  const VisibleKeys of_sequence =
      is_packed() ? sequences().of_query(query, mask_rule()) : visible(batch_entry);
  return of_sequence.of_query(query);
}

bool AttentionProblem::has_unseen_keys() const {
  if (!key_lengths.empty() || is_packed()) return true;
  if (batch == 0 || seqlen_q == 0) return false;
  return visible_keys(0, 0).first > 0 || visible_keys(0, seqlen_q - 1).end < seqlen_k;
}

std::int64_t AttentionProblem::visible_pairs() const {
  std::int64_t pairs = 0;
  for (std::int64_t sequence = 0; sequence < num_sequences(); ++sequence) {
    const VisibleKeys of_sequence = visible(sequence);
    for (std::int64_t i = 0; i < of_sequence.num_queries; ++i) {
      pairs += of_sequence.of_query(of_sequence.first_query + i).count();
    }
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
  check_addresses(tensors);
  return problem;
}

AttentionProblem check_backward(const BackwardTensors& tensors, const AttentionOptions& options) {
  const Named Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V}, O{"O", tensors.O},
      lse{"lse", tensors.lse}, dO{"dO", tensors.dO}, dQ{"dQ", tensors.dQ}, dK{"dK", tensors.dK},
      dV{"dV", tensors.dV};
  AttentionProblem problem = sizes_of(Q, K);
  check_attention_tensors(problem, std::array{Q, O, dO, dQ}, std::array{K, V, dK, dV}, &lse);
  check_options(problem, options);
  check_addresses(tensors);
  return problem;
}

void check_addresses(const ForwardTensors& tensors) {
  const Named Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V}, O{"O", tensors.O},
      lse{"lse", tensors.lse};
  const bool wants_lse = !tensors.lse.empty();
  for (const Named& tensor : {Q, K, V, O}) check_data(tensor);
  if (wants_lse) check_data(lse);
  const std::array outputs = {O, lse};
  check_outputs(std::span(outputs).first(wants_lse ? 2 : 1), std::array{Q, K, V});
}

void check_addresses(const BackwardTensors& tensors) {
  const Named Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V}, O{"O", tensors.O},
      lse{"lse", tensors.lse}, dO{"dO", tensors.dO}, dQ{"dQ", tensors.dQ}, dK{"dK", tensors.dK},
      dV{"dV", tensors.dV};
  for (const Named& tensor : {Q, K, V, O, lse, dO, dQ, dK, dV}) check_data(tensor);
  check_outputs(std::array{dQ, dK, dV}, std::array{Q, K, V, O, lse, dO});
}

std::int64_t forward_flops(const AttentionProblem& problem) {
  return 4 * problem.visible_pairs() * problem.head_dim;
}

std::int64_t backward_flops(const AttentionProblem& problem) {
  return 10 * problem.visible_pairs() * problem.head_dim;
}

}  // namespace flashlab
