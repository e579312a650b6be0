#include "attention/detail/arguments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "attention/overlap.hpp"

namespace flashlab::detail {
namespace {

std::string list(std::span<const std::int64_t> numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + "]";
}

/// Requires that every byte offset, and every sum of two, fits 64 bits.
void check_extent(const Named& argument) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto& [name, tensor] = argument;
  std::int64_t count = 1, reach = size_in_bytes(tensor.dtype);
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const std::int64_t size = std::max<std::int64_t>(tensor.shape[axis], 1);
    std::int64_t step = 0;
    const bool overflows =
        __builtin_mul_overflow(count, size, &count) || count > kMost ||
        tensor.strides[axis] <= -kMost || tensor.strides[axis] >= kMost ||
        __builtin_mul_overflow(std::abs(tensor.strides[axis]) * size_in_bytes(tensor.dtype),
                               size - 1, &step) ||
        __builtin_add_overflow(reach, step, &reach) || reach > kMost;
    if (overflows) {
      throw ProblemError(name,
                         "shape " + list(tensor.shape) + " with strides " + list(tensor.strides),
                         "at most 2^60 bytes");
    }
  }
}

std::optional<std::int64_t> checked_window(const char* name, std::optional<std::int64_t> keys) {
  if (keys && *keys < 0) {
    throw ProblemError(name, std::to_string(*keys), "0 keys or more, or none: no limit");
  }
  return keys;
}

void check_query_offset(const AttentionProblem& problem) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const std::string offset = std::to_string(problem.query_offset);
  if (problem.query_offset < -kMost || problem.query_offset > kMost) {
    throw ProblemError("query_offset", offset, "-2^30 … 2^30");
  }
  if (problem.query_offset == 0) return;
  if (problem.mask == Mask::kCausalBottomRight) {
    throw ProblemError(
        "query_offset", offset,
        "0 with mask causal-bottom-right, which puts the last query at the last key");
  }
  if (problem.is_packed()) {
    throw ProblemError("query_offset", offset,
                       "0 with packed sequences, whose positions count from their beginnings");
  }
}

/// The bounds of packed sequences along one axis.
void check_cu_seqlens(const char* name, std::span<const std::int64_t> bounds,
                      const char* length_name, std::int64_t length) {
  const auto refuse = [&](const std::string& found) {
    throw ProblemError(
        name, found,
        "bounds that rise from 0 to " + std::string(length_name) + " = " + std::to_string(length));
  };
  if (bounds.front() != 0) refuse("entry 0 is " + std::to_string(bounds.front()));
  for (std::size_t k = 1; k < bounds.size(); ++k) {
    if (bounds[k] >= bounds[k - 1]) continue;
    refuse("entry " + std::to_string(k) + " is " + std::to_string(bounds[k]) + ", after " +
           std::to_string(bounds[k - 1]));
  }
  if (bounds.back() != length) refuse("the last entry is " + std::to_string(bounds.back()));
}

void check_packed(const AttentionProblem& problem) {
  const std::size_t count = problem.cu_seqlens_q.size();
  if (problem.cu_seqlens_k.size() != count) {
    throw ProblemError("cu_seqlens_k", std::to_string(problem.cu_seqlens_k.size()) + " entries",
                       "as many as cu_seqlens_q has: " + std::to_string(count));
  }
  if (count == 0) return;
  if (problem.batch != 1) {
    throw ProblemError("cu_seqlens_q", "batch " + std::to_string(problem.batch),
                       "batch 1: its sequences are packed in one batch entry");
  }
  if (!problem.key_lengths.empty()) {
    throw ProblemError("cu_seqlens_q", "given with key_lengths",
                       "one of them: cu_seqlens_k has the lengths of the keys");
  }
  check_cu_seqlens("cu_seqlens_q", problem.cu_seqlens_q, "seqlen_q", problem.seqlen_q);
  check_cu_seqlens("cu_seqlens_k", problem.cu_seqlens_k, "seqlen_k", problem.seqlen_k);
}

DataType lse_dtype(DataType dtype) {
  return dtype == DataType::kFloat64 ? DataType::kFloat64 : DataType::kFloat32;
}

}  // namespace

void check_data(const Named& argument) {
  const auto& [name, tensor] = argument;
  if (std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0) return;
  if (tensor.data == nullptr) throw ProblemError(name, "null", "memory for its elements");
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (address % static_cast<std::uintptr_t>(size_in_bytes(tensor.dtype)) != 0) {
    throw ProblemError(
        name, "address " + std::to_string(address),
        "a multiple of the element's " + std::to_string(size_in_bytes(tensor.dtype)) + " bytes");
  }
}

void check_rank(const Named& argument, std::size_t rank, const char* axes) {
  const auto& [name, tensor] = argument;
  if (tensor.shape.size() != rank) {
    throw ProblemError(name, "shape " + list(tensor.shape),
                       std::to_string(rank) + " axes, " + std::string(axes));
  }
  if (tensor.strides.size() != rank) {
    throw ProblemError(name, "strides " + list(tensor.strides),
                       "one for each of the axes " + std::string(axes));
  }
  for (const std::int64_t size : tensor.shape) {
    if (size < 0) {
      throw ProblemError(name, "shape " + list(tensor.shape), "no negative size");
    }
  }
}

void check_dtype(const Named& argument, DataType dtype, const char* like) {
  if (argument.tensor.dtype == dtype) return;
  throw ProblemError(argument.name, to_string(argument.tensor.dtype),
                     std::string(to_string(dtype)) + ", as " + like);
}

void check_shape(const Named& argument, const std::vector<std::int64_t>& shape, const char* axes) {
  check_rank(argument, shape.size(), axes);
  if (argument.tensor.shape != shape) {
    throw ProblemError(argument.name, "shape " + list(argument.tensor.shape),
                       list(shape) + ", " + axes);
  }
}

AttentionProblem sizes_of(const Named& Q, const Named& K) {
  check_rank(Q, 4, kQueryAxes);
  check_rank(K, 4, kKeyAxes);
  const std::vector<std::int64_t>&q = Q.tensor.shape, &k = K.tensor.shape;
  AttentionProblem problem;
  problem.batch = q[0];
  problem.num_heads = q[1];
  problem.num_kv_heads = k[1];
  problem.seqlen_q = q[2];
  problem.seqlen_k = k[2];
  problem.head_dim = q[3];
  problem.dtype = Q.tensor.dtype;
  if (q[3] < 1 || q[3] > kMaxHeadDim) {
    throw ProblemError(Q.name, "head_dim " + std::to_string(q[3]),
                       "1 to " + std::to_string(kMaxHeadDim));
  }
  if (q[1] < 1) throw ProblemError(Q.name, "0 heads", "at least one");
  if (k[0] != q[0] || k[3] != q[3]) {
    throw ProblemError(K.name, "shape " + list(k),
                       "Q's batch " + std::to_string(q[0]) + " and head_dim " +
                           std::to_string(q[3]) + ": " + kKeyAxes);
  }
  if (k[1] < 1 || q[1] % k[1] != 0) {
    throw ProblemError(K.name, std::to_string(k[1]) + " heads",
                       "a number that divides Q's " + std::to_string(q[1]) + " heads");
  }
  return problem;
}

void check_options(AttentionProblem& problem, const AttentionOptions& options) {
  problem.mask = options.mask;
  problem.window_left = checked_window("window_left", options.window_left);
  problem.window_right = checked_window("window_right", options.window_right);
  if (problem.window_right && problem.mask != Mask::kNone) {
    throw ProblemError("window_right", std::to_string(*problem.window_right),
                       "none with mask " + std::string(to_string(problem.mask)) +
                           ", which already hides all keys to the right");
  }
  problem.softmax_scale =
      options.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(problem.head_dim)));
  if (!std::isfinite(problem.softmax_scale) || std::abs(problem.softmax_scale) > 1e30) {
    throw ProblemError("softmax_scale", std::to_string(problem.softmax_scale),
                       "a number of at most 1e30 in size");
  }
  problem.key_lengths.assign(options.key_lengths.begin(), options.key_lengths.end());
  problem.cu_seqlens_q.assign(options.cu_seqlens_q.begin(), options.cu_seqlens_q.end());
  problem.cu_seqlens_k.assign(options.cu_seqlens_k.begin(), options.cu_seqlens_k.end());
  check_packed(problem);
  problem.query_offset = options.query_offset;
  check_query_offset(problem);
  if (problem.key_lengths.empty()) return;
  if (std::ssize(problem.key_lengths) != problem.batch) {
    throw ProblemError("key_lengths", std::to_string(problem.key_lengths.size()) + " entries",
                       "one for each of the " + std::to_string(problem.batch) + " batch entries");
  }
  for (const std::int64_t length : problem.key_lengths) {
    if (length < 0 || length > problem.seqlen_k) {
      throw ProblemError("key_lengths", list(problem.key_lengths),
                         "lengths from 0 to seqlen_k = " + std::to_string(problem.seqlen_k));
    }
  }
}

void check_outputs(std::span<const Named> outputs, std::span<const Named> inputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Named& output = outputs[k];
    const TensorView& tensor = output.tensor;
    if (may_overlap_itself(tensor)) {
      throw ProblemError(output.name,
                         "shape " + list(tensor.shape) + " with strides " + list(tensor.strides),
                         "a place of its own for every element of an output");
    }
    const auto check_against = [&](const Named& other) {
      if (may_overlap(tensor, other.tensor)) {
        throw ProblemError(output.name, "memory that " + std::string(other.name) + " lies in too",
                           "an output that shares memory with no other tensor");
      }
    };
    for (const Named& input : inputs) check_against(input);
    for (const Named& other : outputs.first(k)) check_against(other);
  }
}

void check_memory(std::span<const Named> arguments) {
  for (const Named& argument : arguments) {
    check_extent(argument);
    check_data(argument);
  }
}

void check_attention_tensors(const AttentionProblem& problem, std::span<const Named> like_q,
                             std::span<const Named> like_k, const Named* lse) {
  const std::vector<std::int64_t> q = {problem.batch, problem.num_heads, problem.seqlen_q,
                                       problem.head_dim};
  const std::vector<std::int64_t> k = {problem.batch, problem.num_kv_heads, problem.seqlen_k,
                                       problem.head_dim};
  for (const Named& argument : like_q) {
    check_shape(argument, q, kQueryAxes);
    check_dtype(argument, problem.dtype, "Q");
  }
  for (const Named& argument : like_k) {
    check_shape(argument, k, kKeyAxes);
    check_dtype(argument, problem.dtype, "Q");
  }
  check_memory(like_q);
  check_memory(like_k);
  if (lse == nullptr) return;
  check_shape(*lse, {q[0], q[1], q[2]}, "[batch, num_heads, seqlen_q]");
  check_dtype(*lse, lse_dtype(problem.dtype), "the type of the computation");
  check_memory({lse, 1});
}

}  // namespace flashlab::detail
