// Records when one block of a kernel with wgmma reaches its marks, by the clock of its multiprocessor.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <span>
#include <vector>

#include "attention_cuda/bench/json_text.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/forward_wgmma/loading.cuh"
#include "attention_cuda/kernels/forward_wgmma/marks.hpp"

namespace flashlab::bench {

inline constexpr int kMarkedTurns = 4, kMarkedTiles = 64, kMarkedWarpgroups = 4;
inline constexpr int kMostMarks = std::max(cuda::kNumWgmmaMarks, cuda::kNumBwdWgmmaMarks);
inline constexpr int kNumStamps = kMarkedTurns * kMarkedWarpgroups * kMarkedTiles * kMostMarks;

/// In cycles. 0: the mark was not reached.
__device__ long long clock_stamps[kNumStamps];

/// Marks of a kernel's Config. The first thread of each warpgroup of block 0 stores its clock; of the first
/// warpgroup only one thread comes here.
struct ClockMarks {
  template <class Mark>
  static __device__ __forceinline__ void mark(Mark what, int turn, int tile) {
    const int warpgroup = static_cast<int>(threadIdx.x) / cuda::kWarpgroup;
    const bool is_leader = warpgroup == 0 || threadIdx.x % cuda::kWarpgroup == 0;
    if (blockIdx.x != 0 || !is_leader || turn >= kMarkedTurns || tile >= kMarkedTiles) return;
    clock_stamps[((turn * kMarkedWarpgroups + warpgroup) * kMarkedTiles + tile) * kMostMarks +
                 static_cast<int>(what)] = clock64();
  }
};

struct Stamp {
  long long cycle;  // since the first one
  int warpgroup, turn, tile;
  int mark;  // a WgmmaMark or a BwdWgmmaMark
};

inline void forget_stamps() {
  const std::vector<long long> none(kNumStamps);
  cuda::check_cuda(cudaMemcpyToSymbol(clock_stamps, none.data(), sizeof(clock_stamps)),
                   "cudaMemcpyToSymbol");
}

/// Returns the stamps in the order of time. Waits until the kernel has ended.
inline std::vector<Stamp> recorded_stamps() {
  std::vector<long long> cycles(kNumStamps);
  cuda::check_cuda(cudaMemcpyFromSymbol(cycles.data(), clock_stamps, sizeof(clock_stamps)),
                   "cudaMemcpyFromSymbol");
  std::vector<Stamp> stamps;
  for (int k = 0; k < kNumStamps; ++k) {
    const long long cycle = cycles[static_cast<std::size_t>(k)];
    if (cycle == 0) continue;
    const int of_tile = k / kMostMarks, of_warpgroup = of_tile / kMarkedTiles;
    stamps.push_back({cycle, of_warpgroup % kMarkedWarpgroups, of_warpgroup / kMarkedWarpgroups,
                      of_tile % kMarkedTiles, k % kMostMarks});
  }
  std::sort(stamps.begin(), stamps.end(),
            [](const Stamp& a, const Stamp& b) { return a.cycle < b.cycle; });
  const long long first = stamps.empty() ? 0 : stamps.front().cycle;
  for (Stamp& stamp : stamps) stamp.cycle -= first;
  return stamps;
}

/// The stamps as rows of numbers, with the marks' names.
inline JsonText json_of(const std::vector<Stamp>& stamps, std::span<const char* const> mark_names) {
  std::vector<JsonText> rows;
  for (const Stamp& stamp : stamps) {
    rows.push_back(json_array(std::vector<JsonText>{
        json_text(static_cast<double>(stamp.cycle)), json_text(double(stamp.warpgroup)),
        json_text(double(stamp.turn)), json_text(double(stamp.tile)),
        json_text(mark_names[static_cast<std::size_t>(stamp.mark)])}));
  }
  return json_array(rows);
}

}  // namespace flashlab::bench
