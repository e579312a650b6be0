// The attention problem for every device: sizes, mask, scale, tensors.
//
//   S = softmax_scale Q K^T + mask,   P = softmax(S) row by row,   O = P V,   lse = log sum exp S
//
// Shapes   Q, O, dO, dQ          [batch, num_heads,    seqlen_q, head_dim]
//          K, V, dK, dV          [batch, num_kv_heads, seqlen_k, head_dim]
//          lse                   [batch, num_heads, seqlen_q]
// Heads    num_heads is a multiple of num_kv_heads; query head h reads kv head
//          h / (num_heads / num_kv_heads), and dK, dV sum over the query heads of their kv head.
// Mask     each query sees the keys visible_keys(i), a range; all other keys are ignored:
//            none           all keys: seqlen_k, or the batch entry's key length
//            top left       of those, key <= query
//            bottom right   of those, key <= query + keys - seqlen_q  (keys: the key length if
//                           there is one, else seqlen_k)
//          two queries, three keys:   none 1 1 1   top left 1 0 0   bottom right 1 1 0
//                                          1 1 1            1 1 0                1 1 1
// Window   of the keys that the mask leaves, query i sees p - window_left <= key <= p +
//          window_right. Its position p is i; under bottom right, i + keys - seqlen_q. A causal
//          mask is a window_right of 0.
//          four queries, four keys:   left 1, causal 1 0 0 0   left 1, right 2, none 1 1 1 0
//                                                    1 1 0 0                         1 1 1 1
//                                                    0 1 1 0                         0 1 1 1
//                                                    0 0 1 1                         0 0 1 1
//          FlashAttention's window_size = (left, right) is aligned at the bottom right. (left, 0) is
//          bottom right with window_left = left. (left, right) with keys = seqlen_q is no mask and
//          both windows; with other lengths, add keys - seqlen_q to right and subtract it from left.
//          Its -1 is a window that is not set.
// Offset   query_offset is the position of query 0, if Q and K are parts of longer sequences: where
//          one GPU has some of the queries or keys. p = i + query_offset; with top left, key <= p.
//          Bottom right has an offset of its own, and packed sequences have none
// Packed   cu_seqlens_q and cu_seqlens_k divide one batch entry into sequences: sequence s has
//          queries cu_seqlens_q[s] … cu_seqlens_q[s + 1] - 1, and keys likewise. A query sees only
//          keys of its sequence; mask and window count positions within it. A sequence may have no
//          queries or no keys. FlashAttention calls this varlen.
// lse      natural logarithm. A row that sees no key, or only scores of -inf, has O = 0,
//          lse = -inf and zero gradients.
// NaN, inf a NaN or infinity in row i of Q makes row i of O and lse NaN; in row j of K it makes the
//          rows that see key j NaN; in row j of V it makes their elements in its column NaN. Other
//          rows are not affected. A score of -inf is valid: its weight is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attention/tensor.hpp"
#include "attention/visible_keys.hpp"

namespace flashlab {

enum class Mask : std::uint8_t { kNone, kCausalTopLeft, kCausalBottomRight };

/// Returns "none", "causal" (top left), "causal-bottom-right": the values of --mask.
std::string_view to_string(Mask mask);

/// The largest head_dim of any device.
inline constexpr std::int64_t kMaxHeadDim = 512;

struct AttentionOptions {
  Mask mask = Mask::kNone;
  std::optional<double> softmax_scale;        // nothing: 1 / sqrt(head_dim)
  std::span<const std::int64_t> key_lengths;  // one per batch entry, 0 … seqlen_k; empty: seqlen_k
  std::optional<std::int64_t> window_left = {};   // keys before a query's position; nothing: all
  std::optional<std::int64_t> window_right = {};  // keys after it; nothing: all the mask leaves
  /// Packed sequences, batch 1: from 0 to seqlen_q (seqlen_k), one more than sequences. Empty: none.
  std::span<const std::int64_t> cu_seqlens_q = {}, cu_seqlens_k = {};
  std::int64_t query_offset = 0;  // query 0's position minus key 0's: -2^30 … 2^30
};

struct ForwardTensors {
  TensorView Q, K, V;  // one data type
  TensorView O;        // the same type
  TensorView lse;      // float (double if Q is double); empty: not requested
};

struct BackwardTensors {
  TensorView Q, K, V, O, lse, dO;  // from the forward pass
  TensorView dQ, dK, dV;           // overwritten
};

/// An invalid argument. what(): "K: shape [1, 3, 8, 64]: expected …".
class ProblemError : public std::invalid_argument {
 public:
  ProblemError(std::string_view field, std::string_view value, std::string_view expected);
  const std::string field, value, expected;
};

/// A checked problem, without its tensors.
struct AttentionProblem {
  std::int64_t batch = 0, num_heads = 0, num_kv_heads = 0;
  std::int64_t seqlen_q = 0, seqlen_k = 0, head_dim = 0;
  DataType dtype = DataType::kFloat32;
  Mask mask = Mask::kNone;
  double softmax_scale = 1;
  std::vector<std::int64_t> key_lengths;                            // empty: seqlen_k for all
  std::optional<std::int64_t> window_left = {}, window_right = {};  // as in the options
  std::vector<std::int64_t> cu_seqlens_q = {}, cu_seqlens_k = {};   // empty: not packed
  std::int64_t query_offset = 0;

  std::int64_t heads_per_kv_head() const { return num_heads / num_kv_heads; }
  std::int64_t keys(std::int64_t batch_entry) const {
    return key_lengths.empty() ? seqlen_k : key_lengths[static_cast<std::size_t>(batch_entry)];
  }
  bool has_window() const { return window_left.has_value() || window_right.has_value(); }
  /// Returns whether some query may not see some key.
  bool is_masked() const {
    return mask != Mask::kNone || !key_lengths.empty() || has_window() || is_packed();
  }
  bool is_packed() const { return !cu_seqlens_q.empty(); }
  /// Returns whether there may be keys that no query sees: with key lengths and packed sequences
  /// always.
  bool has_unseen_keys() const;
  /// Returns the options of a call that computes this problem. They refer to its arrays.
  AttentionOptions options() const;
  /// Returns the mask with its window.
  MaskRule mask_rule() const;
  PackedSequences sequences() const;
  /// Returns the number of sequences: batch entries, or the packed ones.
  std::int64_t num_sequences() const { return is_packed() ? sequences().count : batch; }
  /// Returns the mask of a sequence.
  VisibleKeys visible(std::int64_t sequence) const;
  /// Returns the keys that query i sees.
  KeyRange visible_keys(std::int64_t batch_entry, std::int64_t query) const;
  /// Returns the number of pairs of a query and a visible key, over batch and heads. FLOPs are
  /// counted from it.
  std::int64_t visible_pairs() const;
};

/// Checks the tensors: ranks, shapes, types, strides, null and overlapping memory,
/// sizes. Throws ProblemError.
AttentionProblem check_forward(const ForwardTensors& tensors, const AttentionOptions& options = {});
AttentionProblem check_backward(const BackwardTensors& tensors,
                                const AttentionOptions& options = {});

/// The part of these checks that addresses decide: null and overlapping memory. For a caller that has
/// checked tensors of the same shapes, strides and alignment. Throws ProblemError.
void check_addresses(const ForwardTensors& tensors);
void check_addresses(const BackwardTensors& tensors);

/// Returns the usual FLOPs of the visible pairs: 2 per multiply-add, without exponentials. Two
/// products forward, five backward (Dao 2023, section 4.1).
std::int64_t forward_flops(const AttentionProblem& problem);
std::int64_t backward_flops(const AttentionProblem& problem);

}  // namespace flashlab
