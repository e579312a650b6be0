// Maps the index of a block or a warp to a batch entry, a head and a part of its queries (or keys).
// The parts vary fastest.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"

namespace flashlab::cuda {

struct Place {
  int b, h;     // h: a query head, or a kv head for place_of_kv
  int kv_head;  // the kv head that h reads
  int part;
};

__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// For num_parts parts of each query head.
__device__ __forceinline__ Place place_of(std::int64_t index, int num_parts, const Sizes& sizes) {
  const std::int64_t head = index / num_parts;
  const int h = static_cast<int>(head % sizes.num_heads);
  return {static_cast<int>(head / sizes.num_heads), h, h / sizes.heads_per_kv_head,
          static_cast<int>(index % num_parts)};
}

/// For num_parts parts of each kv head.
__device__ __forceinline__ Place place_of_kv(std::int64_t index, int num_parts,
                                             const Sizes& sizes) {
  const std::int64_t head = index / num_parts;
  const int h = static_cast<int>(head % sizes.num_kv_heads);
  return {static_cast<int>(head / sizes.num_kv_heads), h, h, static_cast<int>(index % num_parts)};
}

/// Groups of kv heads that start together.
struct HeadGroups {
  int heads, num_groups;  // the last group has all heads that are left
};

/// As place_of_kv for one of num_blocks, but of each group of kv heads first part 0 of each head, then
/// part 1 of each.
__device__ __forceinline__ Place place_of_kv_in_groups(int index, int num_blocks, int num_parts,
                                                       const HeadGroups& groups,
                                                       const Sizes& sizes) {
  const int group = min(index / num_parts / groups.heads, groups.num_groups - 1);
  const int first_head = group * groups.heads;
  const bool is_last = group == groups.num_groups - 1;
  const int heads = is_last ? num_blocks / num_parts - first_head : groups.heads;
  const int number = index - first_head * num_parts, head = first_head + number % heads;
  const int h = head % sizes.num_kv_heads;
  return {head / sizes.num_kv_heads, h, h, number / heads};
}

}  // namespace flashlab::cuda
