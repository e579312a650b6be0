// The arguments of a variant: checked, with a unit stride along head_dim, in the type of the
// computation. Only plain data and always-inlined functions: several builds compile this file, and
// the linker would keep one build's copy of any other function.
#pragma once

#include <cstdint>

#include "attention/visible_keys.hpp"
#include "attention_cpu/detail/workspace.hpp"

namespace flashlab::cpu::detail {

/// [batch, heads, rows, head_dim]; the last axis is contiguous. Strides count elements.
template <class Element>
struct Heads {
  Element* data = nullptr;
  std::int64_t batch_stride = 0, head_stride = 0, row_stride = 0;

  /// Returns row 0 of one head; row i is at + i row_stride.
  [[gnu::always_inline]] Element* head(std::int64_t b, std::int64_t h) const {
    return data + b * batch_stride + h * head_stride;
  }
};

/// lse or delta: [batch, num_heads, seqlen_q].
template <class Element>
struct Statistics {
  Element* data = nullptr;
  std::int64_t batch_stride = 0, head_stride = 0, row_stride = 0;

  [[gnu::always_inline]] Element& at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return data[b * batch_stride + h * head_stride + i * row_stride];
  }
};

struct Sizes {
  std::int64_t batch = 0, num_heads = 0, num_kv_heads = 0;
  std::int64_t seqlen_q = 0, seqlen_k = 0, head_dim = 0;
  MaskRule mask;
  PackedSequences sequences;                  // none: a batch entry is one sequence
  const std::int64_t* key_lengths = nullptr;  // [batch]
  double softmax_scale = 1;
  int num_threads = 1;

  [[gnu::always_inline]] std::int64_t kv_head(std::int64_t h) const {
    return h / (num_heads / num_kv_heads);
  }
  [[gnu::always_inline]] std::int64_t keys(std::int64_t b) const {
    return key_lengths == nullptr ? seqlen_k : key_lengths[b];
  }
  [[gnu::always_inline]] bool is_packed() const { return sequences.cu_seqlens_q != nullptr; }
  /// Returns the mask of the sequence of query i.
  [[gnu::always_inline]] VisibleKeys mask_of_query(std::int64_t b, std::int64_t i) const {
    return is_packed() ? sequences.of_query(i, mask) : mask.of(0, seqlen_q, 0, keys(b));
  }
  /// Returns the mask of the sequence of key j.
  [[gnu::always_inline]] VisibleKeys mask_of_key(std::int64_t b, std::int64_t j) const {
    return is_packed() ? sequences.of_key(j, mask) : mask.of(0, seqlen_q, 0, keys(b));
  }
  /// Returns the keys that query i sees. Neither end decreases with i.
  [[gnu::always_inline]] KeyRange visible_keys(std::int64_t b, std::int64_t i) const {
    return mask_of_query(b, i).of_query(i);
  }
  /// Returns the keys from the first to the last that some query of a range sees.
  [[gnu::always_inline]] KeyRange keys_seen_by(std::int64_t b, std::int64_t first_query,
                                               std::int64_t num_queries) const {
    return {visible_keys(b, first_query).first, visible_keys(b, first_query + num_queries - 1).end};
  }
  /// Returns the queries from the first to the last that see some key of a range. It agrees with
  /// keys_seen_by(): some of these keys are in the range that it returns for a group of queries if
  /// and only if some of those queries are in this one.
  [[gnu::always_inline]] KeyRange queries_that_see(std::int64_t b, std::int64_t first_key,
                                                   std::int64_t num_keys) const {
    const std::int64_t end_key = first_key + num_keys, num_valid = keys(b);
    const std::int64_t last_key = (end_key < num_valid ? end_key : num_valid) - 1;
    return {mask_of_key(b, first_key).of_key(first_key).first,
            mask_of_key(b, last_key).of_key(last_key).end};
  }
};

template <class Element>
struct ForwardCall : Sizes {
  Heads<const Element> Q, K, V;
  Heads<Element> O;
  Statistics<Element> lse;
  Workspace* workspace = nullptr;
  Progress* progress = nullptr;
};

template <class Element>
struct BackwardCall : Sizes {
  Heads<const Element> Q, K, V, O, dO;
  Statistics<const Element> lse;
  Heads<Element> dQ, dK, dV;
  Workspace* workspace = nullptr;
  Progress* progress = nullptr;
};

/// One row of the table of variants for an instruction set.
struct KernelRow {
  const char* variant;  // a name of attention/variants.hpp
  void (*forward_float)(const ForwardCall<float>&) = nullptr;
  void (*forward_double)(const ForwardCall<double>&) = nullptr;
  void (*backward_float)(const BackwardCall<float>&) = nullptr;
  void (*backward_double)(const BackwardCall<double>&) = nullptr;
};

}  // namespace flashlab::cpu::detail
