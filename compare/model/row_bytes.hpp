// Bytes of a row's tensors; `element`: bytes per number.
#pragma once

#include <cstdint>

#include "results/comparison.hpp"

namespace flashlab::compare {

/// Bytes of a tensor with the shape of Q, and of K.
inline std::int64_t q_bytes(const Row& row, std::int64_t element) {
  return row.batch * row.num_heads * row.seqlen_q * row.head_dim * element;
}
inline std::int64_t k_bytes(const Row& row, std::int64_t element) {
  return row.batch * row.num_kv_heads * row.seqlen_k * row.head_dim * element;
}

}  // namespace flashlab::compare
