// The checks of a problem's tensors, with the error messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/problem.hpp"

namespace flashlab::detail {

/// A caller's tensor and its name in messages.
struct Named {
  const char* name;
  const TensorView& tensor;
};

inline constexpr const char* kQueryAxes = "[batch, num_heads, seqlen_q, head_dim]";
inline constexpr const char* kKeyAxes = "[batch, num_kv_heads, seqlen_k, head_dim]";

// All of these throw ProblemError. `axes` describes the shape in words.
void check_rank(const Named& argument, std::size_t rank, const char* axes);
void check_shape(const Named& argument, const std::vector<std::int64_t>& shape, const char* axes);
void check_dtype(const Named& argument, DataType dtype, const char* like);
/// Checks that memory is present and aligned.
void check_data(const Named& argument);
/// Checks that extents fit 64 bits, and that memory is present and aligned.
void check_memory(std::span<const Named> arguments);
/// Checks that every element of an output has its own memory.
void check_outputs(std::span<const Named> outputs, std::span<const Named> inputs);

/// Returns the sizes, from the shapes of Q and K. check_options() sets and checks the options.
AttentionProblem sizes_of(const Named& Q, const Named& K);
void check_options(AttentionProblem& problem, const AttentionOptions& options);
/// Checks Q, K, V and related tensors for forward and backward; lse may be null.
void check_attention_tensors(const AttentionProblem& problem, std::span<const Named> like_q,
                             std::span<const Named> like_k, const Named* lse);

}  // namespace flashlab::detail
