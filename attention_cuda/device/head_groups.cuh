// The order of blocks with one query tile each: groups of heads whose K and V fit L2 together, and
// in each group the longest query tiles first.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {

struct GroupedTile {
  int b, h, q_tile;
};

/// The query tile at a place of the order, of num_places = batch x num_heads x query tiles.
__device__ __forceinline__ GroupedTile grouped_tile(const Sizes& sizes, int heads_together,
                                                    int place, int num_places) {
  const int heads = sizes.num_heads * sizes.batch, num_q_tiles = num_places / heads;
  const int first_head = place / (num_q_tiles * heads_together) * heads_together;
  const int group = min(heads_together, heads - first_head);  // the last one may be smaller
  const int in_group = place - first_head * num_q_tiles;
  const int head = first_head + in_group % group;
  return {head / sizes.num_heads, head % sizes.num_heads, num_q_tiles - 1 - in_group / group};
}

/// Division of numbers from 0 to 2^31 - 1 by a number that the host knows: a product and a shift, a
/// tenth of the time of a division.
/// Source  Granlund and Montgomery 1994, Division by Invariant Integers using Multiplication, figure 4.1
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::int64_t divisor) : divisor_(static_cast<std::uint32_t>(divisor)) {
    while ((std::uint64_t{1} << shift_) < divisor_) ++shift_;
    const std::uint64_t excess = (std::uint64_t{1} << shift_) - divisor_;
    multiplier_ = static_cast<std::uint32_t>((excess << 32) / divisor_ + 1);
  }
  __host__ __device__ int value() const { return static_cast<int>(divisor_); }
  __host__ __device__ int quotient(int number) const {
    const auto n = static_cast<std::uint32_t>(number);
    const auto high = static_cast<std::uint32_t>(std::uint64_t{n} * multiplier_ >> 32);
    return static_cast<int>((high + n) >> shift_);
  }

 private:
  std::uint32_t divisor_ = 1, multiplier_ = 1, shift_ = 0;
};

/// The same order for blocks that take several places, one after the other.
struct PlaceOrder {
  int num_places = 0;  // batch x num_heads x places of a head
  int heads_together = 1, num_full_groups = 0;
  int places_of_head = 0;
  Divisor places_of_group, heads_of_group, heads_of_last_group, num_heads, heads_per_kv_head;

  PlaceOrder() = default;
  /// A problem without queries has no places.
  PlaceOrder(const AttentionProblem& problem, int heads_together_, std::int64_t places_of_head_)
      : num_places(static_cast<int>(problem.batch * problem.num_heads * places_of_head_)),
        heads_together(heads_together_),
        places_of_head(static_cast<int>(places_of_head_)),
        num_heads(problem.num_heads),
        heads_per_kv_head(problem.heads_per_kv_head()) {
    if (num_places == 0) return;
    const std::int64_t heads = problem.batch * problem.num_heads;
    num_full_groups = static_cast<int>(heads / heads_together);
    places_of_group = Divisor(heads_together * places_of_head_);
    heads_of_group = Divisor(heads_together);
    if (heads % heads_together > 0) heads_of_last_group = Divisor(heads % heads_together);
  }

  /// As grouped_tile, with a place of the head for a query tile.
  __device__ __forceinline__ GroupedTile tile(int place) const {
    const int group = places_of_group.quotient(place), first_head = group * heads_together;
    const Divisor heads = group < num_full_groups ? heads_of_group : heads_of_last_group;
    const int in_group = place - first_head * places_of_head;
    const int row = heads.quotient(in_group);
    const int head = first_head + in_group - row * heads.value();
    const int b = num_heads.quotient(head);
    return {b, head - b * num_heads.value(), places_of_head - 1 - row};
  }
};

inline constexpr std::int64_t kAllHeads = INT64_MAX;

/// The number of heads whose blocks run together, so that the K and V that one block loaded are
/// still in L2 for the next one. They may use a quarter of L2: each half may keep a copy, and Q and
/// O pass through it. Under a causal mask at least `fewest_if_masked` heads run together: short
/// blocks must fill the gaps of the long ones.
inline int heads_together(const AttentionProblem& problem, std::int64_t fewest_if_masked) {
  const std::int64_t heads = problem.batch * problem.num_heads;
  const std::int64_t fewest = problem.mask == Mask::kNone ? 1 : fewest_if_masked;
  if (fewest >= heads) return static_cast<int>(heads);
  int device = 0, l2_bytes = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device),
             "cudaDeviceGetAttribute");
  const auto element_bytes = static_cast<std::int64_t>(size_in_bytes(problem.dtype));
  const std::int64_t kv_bytes = 2 * problem.seqlen_k * problem.head_dim * element_bytes,
                     fitting = l2_bytes / 4 / (kv_bytes > 0 ? kv_bytes : 1);
  return static_cast<int>(std::clamp(fitting, fewest, heads));
}

}  // namespace flashlab::cuda
