// What every checked statement of a problem asks of its tensors, with the words for what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/problem.hpp"

namespace flashlab::detail {

/// A caller's tensor and what the caller calls it.
struct Named {
  const char* name;
  const TensorView& tensor;
};

inline constexpr const char* kQueryAxes = "[batch, num_heads, seqlen_q, head_dim]";
inline constexpr const char* kKeyAxes = "[batch, num_kv_heads, seqlen_k, head_dim]";

// All of these throw ProblemError. `axes` says in words what the shape means.
void check_rank(const Named& argument, std::size_t rank, const char* axes);
void check_shape(const Named& argument, const std::vector<std::int64_t>& shape, const char* axes);
void check_dtype(const Named& argument, DataType dtype, const char* like);
/// Extents that fit 64 bits, memory that is there and aligned.
void check_memory(std::span<const Named> arguments);
/// Every element of an output has a place of its own.
void check_outputs(std::span<const Named> outputs, std::span<const Named> inputs);

/// The sizes, from the shapes of Q and K; the options are still to be checked.
AttentionProblem sizes_of(const Named& Q, const Named& K);
void check_options(AttentionProblem& problem, const AttentionOptions& options);
/// What forward and backward ask of Q, K, V and what goes with them; lse may be null.
void check_attention_tensors(const AttentionProblem& problem, std::span<const Named> like_q,
                             std::span<const Named> like_k, const Named* lse);

}  // namespace flashlab::detail
