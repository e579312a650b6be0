// What a test can set and ask of the emulated GPU.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::cuda::emulation {

/// Threads of a block run in an order drawn from this seed, so that a missing barrier shows as a
/// result that is wrong with some seeds.
void set_schedule_seed(std::uint64_t seed);

/// How many processor threads share the blocks of a launch; at first 1, which takes them in order.
void set_num_threads(int num_threads);

/// From now on all memory counts as device memory: for callers that have none from cudaMalloc.
void take_host_memory();

/// What kernels did since the last reset.
struct Statistics {
  std::int64_t blocks = 0;
  std::int64_t block_barriers = 0;
  std::int64_t warp_operations = 0;  ///< shuffles, votes, mma, ldmatrix, …
  std::int64_t mmas = 0;
  std::int64_t ldmatrices = 0;  ///< of four 8 x 8 matrices each
  /// Passes over the banks beyond one a matrix: rows of a matrix that share their banks.
  std::int64_t ldmatrix_conflicts = 0;
  std::int64_t cp_async_bytes = 0;
};

Statistics statistics();
void reset_statistics();

/// A launch, as it was asked for.
struct GridShape {
  std::int64_t num_blocks = 0, num_threads = 0;  // threads: of a block
  std::int64_t shared_bytes = 0;                 // dynamic, of a block
};

/// Every launch since the last reset_statistics, in their order.
std::vector<GridShape> launched_grids();

}  // namespace flashlab::cuda::emulation
