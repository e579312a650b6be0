// The threads of several GPUs that measure the same steps, and their events.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace flashlab::bench {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class EventPair {
 public:
  EventPair() {
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&end_));
  }
  ~EventPair() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  void start(cudaStream_t stream) { check(cudaEventRecord(start_, stream)); }
  void end(cudaStream_t stream) { check(cudaEventRecord(end_, stream)); }
  double ms() {
    check(cudaEventSynchronize(end_));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, end_));
    return ms;
  }

 private:
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

/// The ranks' threads run the same steps.
class Ranks {
 public:
  Ranks(int num_ranks, double seconds)
      : num_ranks_(num_ranks),
        barrier_(num_ranks),
        ms_(static_cast<std::size_t>(num_ranks)),
        end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(seconds))) {}

  int num_ranks() const { return num_ranks_; }
  void meet() { barrier_.arrive_and_wait(); }
  /// All ranks get the longest time of a run.
  double longest_ms(int rank, double ms) {
    const std::vector<double> all = all_ms(rank, ms);
    return *std::max_element(all.begin(), all.end());
  }
  /// All ranks get the times of all.
  std::vector<double> all_ms(int rank, double ms) {
    ms_[static_cast<std::size_t>(rank)] = ms;
    meet();
    std::vector<double> all = ms_;
    meet();
    return all;
  }
  /// Rank 0's number on all ranks.
  double agreed(int rank, double own) {
    if (rank == 0) agreed_ = own;
    meet();
    const double result = agreed_;
    meet();
    return result;
  }
  double seconds_left() const {
    return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
  }

 private:
  int num_ranks_;
  std::barrier<> barrier_;
  std::vector<double> ms_;
  double agreed_ = 0;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace flashlab::bench
