// Runs the clusters of a launch on one or several processor threads.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attention_cuda/emulation/cluster_runner.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/fibers.hpp"

namespace flashlab::cuda::emulation {
namespace {

struct Settings {
  std::uint64_t seed = 1;
  int num_threads = 1;
  bool runs_blocks = true;
};
Settings settings;

std::mutex statistics_mutex;
Statistics total;
std::vector<GridShape> grids;

void add_to_total(const Statistics& more) {
  const std::lock_guard lock(statistics_mutex);
  total.blocks += more.blocks;
  total.block_barriers += more.block_barriers;
  total.warp_operations += more.warp_operations;
  total.mmas += more.mmas;
  total.ldmatrices += more.ldmatrices;
  total.ldmatrix_conflicts += more.ldmatrix_conflicts;
  total.cp_async_bytes += more.cp_async_bytes;
  total.l2_loaded_bytes += more.l2_loaded_bytes;
  total.l2_stored_bytes += more.l2_stored_bytes;
  total.atomic_bytes += more.atomic_bytes;
}

void note(const Launch& launch, std::int64_t num_blocks) {
  const std::lock_guard lock(statistics_mutex);
  grids.push_back({num_blocks, std::int64_t{launch.block.x} * launch.block.y * launch.block.z,
                   static_cast<std::int64_t>(launch.shared_bytes)});
}

ClusterRunner& own_runner() {
  static thread_local ClusterRunner runner;
  return runner;
}

}  // namespace

void set_schedule_seed(std::uint64_t seed) { settings.seed = seed; }
void set_num_threads(int num_threads) { settings.num_threads = num_threads; }
void set_runs_blocks(bool runs) { settings.runs_blocks = runs; }
bool runs_blocks() { return settings.runs_blocks; }

Statistics statistics() {
  const std::lock_guard lock(statistics_mutex);
  return total;
}
void reset_statistics() {
  const std::lock_guard lock(statistics_mutex);
  total = {};
  grids.clear();
}
std::vector<GridShape> launched_grids() {
  const std::lock_guard lock(statistics_mutex);
  return grids;
}

void wait_for_other_blocks(const std::function<bool()>& is_ready,
                           const std::function<std::string()>& describe) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kMost = std::chrono::seconds(10);
  const auto end = Clock::now() + (settings.num_threads > 1 ? kMost : Clock::duration::zero());
  while (!is_ready()) {
    if (Clock::now() >= end) {
      throw std::logic_error("no block that this one waits for gets to " + describe());
    }
    std::this_thread::yield();
  }
}

void run(const Launch& launch) {
  const std::int64_t num_blocks =
      static_cast<std::int64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
  const std::int64_t num_clusters = num_blocks / launch.cluster_blocks;
  note(launch, num_blocks);
  if (!settings.runs_blocks) return;
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure;  // the first
#pragma omp parallel num_threads(settings.num_threads)
  {
    ClusterRunner& runner = own_runner();
#pragma omp for schedule(dynamic)
    for (std::int64_t cluster = 0; cluster < num_clusters; ++cluster) {
      if (has_failed) continue;
      try {
        runner.run(launch, cluster, settings.seed);
      } catch (...) {
        has_failed = true;
#pragma omp critical(flashlab_emulation_failure)
        if (!failure) failure = std::current_exception();
      }
    }
    add_to_total(runner.take_statistics());
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace flashlab::cuda::emulation
