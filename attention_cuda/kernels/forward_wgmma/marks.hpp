// Points of flash2_wgmma_sm90 and of bwd_onepass_wgmma_sm90 that a build of them can record. Marks of
// their Config decides what happens there: nothing, unless a benchmark or a test has its own type.
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

/// The same of the backward pass. A mark has the number of the block's query tile.
enum class BwdWgmmaMark : std::uint8_t {
  kWaitsForEmptyQ,  // the loading thread
  kLoadsQ,
  kWaitsForEmptyDO,
  kLoadsDO,
  kWaitsForQ,  // a warpgroup
  kIssuesS,    // products: S^T
  kWaitsForDO,
  kIssuesDP,
  kWaitsForS,
  kHasS,  // and computes P
  kWaitsForDP,
  kHasDP,            // and computes dS, and stores it
  kWaitsForDS,       // of the other warpgroup, for the tile before
  kIssuesGradients,  // products: dQ of the tile before, dV, dK
  kWaitsForDQ,
  kHasDQ,  // and adds it
  kWaitsForDV,
  kWaitsForDK,
  kEnds,  // the query tile
};
inline constexpr int kNumBwdWgmmaMarks = static_cast<int>(BwdWgmmaMark::kEnds) + 1;

struct NoMarks {
  /// turn  the number of tiles that the block had before: of queries, backward of keys
  template <class Mark>
  static __device__ void mark(Mark /*what*/, int /*turn*/, int /*tile*/) {}
};

}  // namespace flashlab::cuda
