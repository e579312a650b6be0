// The settings and statistics of the emulated GPU, for tests.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::cuda::emulation {

/// Sets the seed for the order of a block's threads, so that a missing barrier gives a wrong result
/// with some seeds.
void set_schedule_seed(std::uint64_t seed);

/// Sets the number of processor threads for a launch's blocks. Initially 1, which runs
/// blocks in order.
void set_num_threads(int num_threads);

/// Whether launches run their blocks. Initially true. If not, a launch is noted and writes nothing:
/// for tests that ask what is launched.
void set_runs_blocks(bool runs);
bool runs_blocks();

/// Treats all memory as device memory from now on, for callers that do not use cudaMalloc.
void take_host_memory();

/// Statistics of kernels since the last reset.
struct Statistics {
  std::int64_t blocks = 0;
  std::int64_t block_barriers = 0;
  std::int64_t warp_operations = 0;  ///< shuffles, votes, mma, ldmatrix, …
  std::int64_t mmas = 0;
  std::int64_t ldmatrices = 0;  ///< each of four 8 x 8 matrices
  /// Additional passes over the banks, because rows of a matrix share banks.
  std::int64_t ldmatrix_conflicts = 0;
  std::int64_t cp_async_bytes = 0;
  std::int64_t l2_loaded_bytes = 0;  ///< by __ldcg and bulk loads
  std::int64_t l2_stored_bytes = 0;  ///< by __stcg
  std::int64_t atomic_bytes = 0;     ///< of the numbers that atomicAdd added
};

Statistics statistics();
void reset_statistics();

/// A launch as requested.
struct GridShape {
  std::int64_t num_blocks = 0, num_threads = 0;  // num_threads: per block
  std::int64_t shared_bytes = 0;                 // dynamic, per block
};

/// Returns all launches since the last reset_statistics, in order.
std::vector<GridShape> launched_grids();

}  // namespace flashlab::cuda::emulation
