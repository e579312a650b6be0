// CUDA's functions for device code: barriers, warp operations, atomics, arithmetic.
#pragma once

#include <math.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "attention_cuda/emulation/fibers.hpp"

namespace flashlab::cuda::emulation {

inline void require_full_mask(unsigned mask) {
  if (mask != 0xFFFFFFFFu) throw std::logic_error("emulated warp operations want the full mask");
}

/// A lane's data in a shuffle: its value, and the lane that it reads from.
template <class Value>
struct ShuffleLane {
  Value value;
  int source;
};

/// Returns the value of lane `source`; all bits set if that lane does not take part.
template <class Value>
Value shuffle(const char* operation, unsigned mask, Value value, int source) {
  static_assert(std::is_trivially_copyable_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8));
  using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  require_full_mask(mask);
  ShuffleLane<Bits> own{std::bit_cast<Bits>(value), source};
  warp_collective(operation, own, [](Lanes<ShuffleLane<Bits>> lanes) {
    std::array<Bits, kWarpLanes> before;
    before.fill(~Bits{0});
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] != nullptr) before[i] = lanes[i]->value;
    }
    for (ShuffleLane<Bits>* lane : lanes) {
      if (lane != nullptr) lane->value = before[static_cast<std::size_t>(lane->source)];
    }
  });
  return std::bit_cast<Value>(own.value);
}

/// The last lane of the calling lane's group of `width` lanes.
inline int last_of_group(int width) { return lane_index() | (width - 1); }

inline unsigned ballot(unsigned mask, bool vote) {
  struct Vote {
    bool own;
    unsigned all;
  };
  require_full_mask(mask);
  Vote own{vote, 0};
  warp_collective("a vote", own, [](Lanes<Vote> lanes) {
    unsigned all = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] != nullptr && lanes[i]->own) all |= 1u << i;
    }
    for (Vote* lane : lanes) {
      if (lane != nullptr) lane->all = all;
    }
  });
  return own.all;
}

/// The same value, which the compiler does not round together with what it is added to.
template <class Value>
Value rounded(Value value) {
#if defined(__x86_64__)
  asm("" : "+x"(value));
#else
  volatile Value stored = value;
  value = stored;
#endif
  return value;
}

}  // namespace flashlab::cuda::emulation

inline void __syncthreads() {
  flashlab::cuda::emulation::sync_block();
  flashlab::cuda::emulation::async_copies().land_some();
}

inline int __syncthreads_or(int predicate) {
  // All blocks of a cluster run on this processor thread.
  thread_local std::array<bool, flashlab::cuda::emulation::kMostBlocksOfCluster> votes = {};
  bool& vote = votes[static_cast<std::size_t>(flashlab::cuda::emulation::cluster_rank())];
  vote = vote || predicate != 0;
  __syncthreads();
  const bool any = vote;
  flashlab::cuda::emulation::sync_block();
  vote = false;
  flashlab::cuda::emulation::sync_block();
  return any ? 1 : 0;
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
  flashlab::cuda::emulation::require_full_mask(mask);
  char nothing = 0;
  flashlab::cuda::emulation::warp_collective("__syncwarp", nothing,
                                             [](flashlab::cuda::emulation::Lanes<char>) {});
  flashlab::cuda::emulation::async_copies().land_some();
}

template <class Value>
Value __shfl_sync(unsigned mask, Value value, int source, int width = warpSize) {
  const int first = flashlab::cuda::emulation::lane_index() & ~(width - 1);
  return flashlab::cuda::emulation::shuffle("__shfl_sync", mask, value,
                                            first | (source & (width - 1)));
}

template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, int lane_mask, int width = warpSize) {
  const int own = flashlab::cuda::emulation::lane_index(), source = own ^ lane_mask;
  const bool is_inside = source <= flashlab::cuda::emulation::last_of_group(width);
  return flashlab::cuda::emulation::shuffle("__shfl_xor_sync", mask, value,
                                            is_inside ? source : own);
}

template <class Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = warpSize) {
  const int own = flashlab::cuda::emulation::lane_index(), source = own + static_cast<int>(delta);
  const bool is_inside = source <= flashlab::cuda::emulation::last_of_group(width);
  return flashlab::cuda::emulation::shuffle("__shfl_down_sync", mask, value,
                                            is_inside ? source : own);
}

inline unsigned __ballot_sync(unsigned mask, int vote) {
  return flashlab::cuda::emulation::ballot(mask, vote != 0);
}
inline int __any_sync(unsigned mask, int vote) {
  return flashlab::cuda::emulation::ballot(mask, vote != 0) != 0;
}
inline int __all_sync(unsigned mask, int vote) {
  return flashlab::cuda::emulation::ballot(mask, vote == 0) == 0;
}

/// Returns the old value.
template <class Value>
Value atomicAdd(Value* address, std::type_identity_t<Value> value) {
  flashlab::cuda::emulation::block_statistics().atomic_bytes += sizeof(Value);
  return std::atomic_ref<Value>(*address).fetch_add(value, std::memory_order_relaxed);
}

template <class Value>
Value __ldg(const Value* address) {
  flashlab::cuda::emulation::require_aligned(address, alignof(Value), "__ldg");
  return *address;
}

/// Loads and stores that the first-level cache does not keep: each goes to the second level.
template <class Value>
Value __ldcg(const Value* address) {
  flashlab::cuda::emulation::require_aligned(address, alignof(Value), "__ldcg");
  flashlab::cuda::emulation::block_statistics().l2_loaded_bytes += sizeof(Value);
  return *address;
}
template <class Value>
void __stcg(Value* address, std::type_identity_t<Value> value) {
  flashlab::cuda::emulation::require_aligned(address, alignof(Value), "__stcg");
  flashlab::cuda::emulation::block_statistics().l2_stored_bytes += sizeof(Value);
  *address = value;
}

// The processor's arithmetic rounds to nearest, like these functions. math.h may
// have declared __expf.
inline float __fadd_rn(float x, float y) {
  using flashlab::cuda::emulation::rounded;
  return rounded(rounded(x) + rounded(y));
}
inline float __fsub_rn(float x, float y) { return __fadd_rn(x, -y); }
inline float __fmul_rn(float x, float y) { return flashlab::cuda::emulation::rounded(x * y); }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline double __dadd_rn(double x, double y) {
  using flashlab::cuda::emulation::rounded;
  return rounded(rounded(x) + rounded(y));
}
inline double __dsub_rn(double x, double y) { return __dadd_rn(x, -y); }
inline double __dmul_rn(double x, double y) { return flashlab::cuda::emulation::rounded(x * y); }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) noexcept { return expf(x); }
inline float __logf(float x) noexcept { return logf(x); }

inline std::uint32_t __float_as_uint(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float __uint_as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline int __vimax3_s32(int a, int b, int c) { return std::max(std::max(a, b), c); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }

template <class Number>
requires std::is_arithmetic_v<Number>
constexpr Number min(Number x, Number y) { return y < x ? y : x; }
template <class Number>
requires std::is_arithmetic_v<Number>
constexpr Number max(Number x, Number y) { return x < y ? y : x; }
