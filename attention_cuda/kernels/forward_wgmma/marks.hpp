// Points of flash2_wgmma_sm90 that a build of it can record. WgmmaConfig::Marks decides what happens
// there: nothing, unless a benchmark or a test has its own type.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::cuda {

/// What a thread begins. The loading thread waits for empty stages, the computing warpgroups for
/// full ones. A mark has the number of its tile of K or V, or for Q the number of the warpgroup.
enum class WgmmaMark : std::uint8_t {
  kWaitsForK,
  kWaitsForV,
  kWaitsForQ,
  kLoadsK,  // the loading thread issues copies
  kLoadsV,
  kLoadsQ,
  kWaitsForTurn,
  kIssuesQK,  // a warpgroup issues products
  kIssuesPV,
  kWaitsForS,
  kHasS,  // and computes P
  kHasP,
  kWaitsForO,
  kHasO,  // and replaces P by that of the next tile
  kStoresO,
  kEnds,  // the query tile
};
inline constexpr int kNumWgmmaMarks = static_cast<int>(WgmmaMark::kEnds) + 1;

struct NoMarks {
  /// turn  the number of query tiles that the block had before
  static __device__ void mark(WgmmaMark /*what*/, int /*turn*/, int /*tile*/) {}
};

}  // namespace flashlab::cuda
