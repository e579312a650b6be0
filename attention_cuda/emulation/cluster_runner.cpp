#include "attention_cuda/emulation/cluster_runner.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "attention_cuda/emulation/dependent_launch.hpp"

namespace flashlab::cuda::emulation {
namespace {

constexpr std::size_t kSharedAlignment = 1024, kSharedGuardBytes = 1024;
constexpr unsigned char kPoison = 0xFF;

constinit thread_local ClusterRunner* running = nullptr;

std::string to_string(const uint3& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

}  // namespace

ClusterRunner& ClusterRunner::of_device_function() {
  if (running == nullptr) throw std::logic_error("a device function was called outside a kernel");
  return *running;
}

// One cluster

void ClusterRunner::run(const Launch& launch, std::int64_t cluster_number, std::uint64_t seed) {
  launch_ = &launch;
  random_ = Random(seed ^ static_cast<std::uint64_t>(cluster_number) * 0x9E3779B97F4A7C15u);
  gridDim = launch.grid;
  blockDim = launch.block;
  num_blocks_ = launch.cluster_blocks;
  block_threads_ = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  warps_per_block_ = (block_threads_ + kWarpLanes - 1) / kWarpLanes;
  while (blocks_.size() < static_cast<std::size_t>(num_blocks_)) {
    blocks_.push_back(std::make_unique<Block>());
  }
  for (int rank = 0; rank < num_blocks_; ++rank) {
    prepare_block(rank, cluster_number * num_blocks_ + rank);
  }
  prepare_threads();
  blocked_.clear();
  running = this;
  current_ = queue_.empty() ? late_queue_.take() : queue_.take();
  threadIdx = thread(current_).index;
  blockIdx = block().index;
  main_.switch_to(context(current_));
  running = nullptr;
  if (failure_) throw_failure();
  while (advance_some()) {
  }
  statistics_.blocks += num_blocks_;
}

Statistics ClusterRunner::take_statistics() { return std::exchange(statistics_, {}); }

void ClusterRunner::prepare_block(int rank, std::int64_t number) {
  Block& own = block(rank);
  const std::int64_t row = number / launch_->grid.x;
  own.index = {static_cast<unsigned>(number % launch_->grid.x),
               static_cast<unsigned>(row % launch_->grid.y),
               static_cast<unsigned>(row / launch_->grid.y)};
  own.num_present = block_threads_;
  own.num_at_barrier = 0;
  own.memory.resize(launch_->shared_bytes + kSharedAlignment + kSharedGuardBytes);
  const auto address = reinterpret_cast<std::uintptr_t>(own.memory.data());
  own.shared = own.memory.data() + (-address & (kSharedAlignment - 1));
  std::memset(own.shared, kPoison, launch_->shared_bytes + kSharedGuardBytes);
  own.async.begin(shared_bytes_of(rank), block_threads_);
}

void ClusterRunner::prepare_threads() {
  const dim3& size = launch_->block;
  num_present_ = num_blocks_ * block_threads_;
  num_at_cluster_ = 0;
  cluster_phase_ = 0;
  threads_.resize(static_cast<std::size_t>(num_present_));
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& own = threads_[i];
    own.rank = static_cast<int>(i) / block_threads_;
    own.number = static_cast<int>(i) % block_threads_;
    const auto number = static_cast<unsigned>(own.number);
    own.index = {number % size.x, number / size.x % size.y, number / size.x / size.y};
    own.waits_at_barrier = own.is_at_cluster = false;
    own.copies.forget();
  }
  while (contexts_.size() < threads_.size()) {
    const auto index = static_cast<int>(contexts_.size());
    contexts_.push_back(std::make_unique<Context>(&ClusterRunner::enter_context, index));
  }
  const int num_warps = num_blocks_ * warps_per_block_;
  warps_.assign(static_cast<std::size_t>(num_warps), Warp{});
  for (int i = 0; i < num_present_; ++i) ++warps_[warp_of(i)].present;
  warp_order_.resize(warps_.size());
  std::iota(warp_order_.begin(), warp_order_.end(), std::uint16_t{0});
  queue_.clear();
  late_queue_.clear();
  choose_late_threads();
  random_.shuffle(warp_order_);
  for (const auto warp : warp_order_) enqueue_lanes(warp, [](int) { return true; });
}

/// In half of the orders, the threads of one warpgroup of one block run when no other thread can: so it
/// comes late for everything that others do not wait for.
void ClusterRunner::choose_late_threads() {
  constexpr int kWarpgroup = 4 * kWarpLanes;
  first_late_ = end_late_ = 0;
  if (random_.below(2) == 0) return;
  const int warpgroups = (block_threads_ + kWarpgroup - 1) / kWarpgroup;
  const auto number =
      static_cast<int>(random_.below(static_cast<std::uint32_t>(num_blocks_ * warpgroups)));
  const int first_of_block = number / warpgroups * block_threads_;
  first_late_ = first_of_block + number % warpgroups * kWarpgroup;
  end_late_ = std::min(first_late_ + kWarpgroup, first_of_block + block_threads_);
}

void ClusterRunner::block_ended(Block& block) {
  block.async.block_ends();
  const unsigned char* guard = block.shared + launch_->shared_bytes;
  if (std::any_of(guard, guard + kSharedGuardBytes, [](auto byte) { return byte != kPoison; })) {
    throw std::logic_error("the block wrote past the end of its " +
                           std::to_string(launch_->shared_bytes) + " bytes of shared memory");
  }
}

// One thread

void ClusterRunner::enter_context() {
  running->context(running->current_).entered();
  for (;;) running->run_thread();
}

/// Ends by switching to another context. When this context resumes, it runs a thread of
/// a later block.
void ClusterRunner::run_thread() {
  try {
    threads_that_waited = nullptr;  // of the launch before, which has ended
    launch_->thread();
    block().async.thread_ends(thread_number());
    thread_ended();
  } catch (...) {
    failure_ = std::current_exception();
  }
  int next = -1;
  if (!failure_ && num_present_ > 0) {
    try {
      next = next_thread();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (next < 0) {
    context(current_).switch_to(main_);
  } else {
    switch_to(next);
  }
}

void ClusterRunner::thread_ended() {
  --num_present_;
  --warp().present;
  if (warp().waiting > 0 && warp().waiting == warp().present) finish_warp();
  Block& own = block();
  --own.num_present;
  if (own.num_at_barrier > 0 && own.num_at_barrier == own.num_present) release_barrier(rank());
  // Threads that have ended count as arrived.
  if (std::exchange(thread(current_).is_at_cluster, false) &&
      thread(current_).cluster_phase == cluster_phase_) {
    --num_at_cluster_;
  }
  if (num_at_cluster_ > 0 && num_at_cluster_ == num_present_) release_cluster();
  if (own.num_present == 0) block_ended(own);
}

void ClusterRunner::let_others_run() {
  const int next = next_thread();
  if (next != current_) switch_to(next);
}

int ClusterRunner::next_thread() {
  constexpr std::uint32_t kOneIn = 4;
  if (random_.below(kOneIn) == 0) advance_some();
  if (!blocked_.empty()) wake_blocked();
  while (queue_.empty() && late_queue_.empty()) {
    if (!advance_some()) throw_stuck();
    wake_blocked();
  }
  return queue_.empty() ? late_queue_.take() : queue_.take();
}

/// One step of a random operation in flight, of any block. False if there is none.
bool ClusterRunner::advance_some() {
  const auto first = random_.below(static_cast<std::uint32_t>(num_blocks_));
  for (int i = 0; i < num_blocks_; ++i) {
    if (block((static_cast<int>(first) + i) % num_blocks_).async.advance(random_)) return true;
  }
  return false;
}

void ClusterRunner::wake_blocked() {
  std::erase_if(blocked_, [this](const Blocked& blocked) {
    if (!blocked.is_ready()) return false;
    auto ready = static_cast<std::uint16_t>(blocked.thread);
    enqueue({&ready, 1});
    return true;
  });
}

void ClusterRunner::wait_until(std::function<std::string()> describe,
                               std::function<bool()> is_ready) {
  constexpr std::uint32_t kOneIn = 4;
  if (is_ready() && random_.below(kOneIn) != 0) return;
  blocked_.push_back({current_, std::move(describe), std::move(is_ready)});
  let_others_run();
}

void ClusterRunner::switch_to(int next) {
  Context& left = context(current_);
  current_ = next;
  threadIdx = thread(next).index;
  blockIdx = block().index;
  left.switch_to(context(next));
}

// Waiting

void ClusterRunner::sync_block() {
  thread(current_).waits_at_barrier = true;
  if (++block().num_at_barrier == block().num_present) release_barrier(rank());
  let_others_run();
}

void ClusterRunner::release_barrier(int rank) {
  ++statistics_.block_barriers;
  block(rank).num_at_barrier = 0;
  random_.shuffle(warp_order_);
  for (const auto warp : warp_order_) {
    if (warp / warps_per_block_ != rank) continue;
    enqueue_lanes(warp, [this](int i) { return std::exchange(thread(i).waits_at_barrier, false); });
  }
}

void ClusterRunner::arrive_at_cluster() {
  Thread& own = thread(current_);
  if (own.is_at_cluster) {
    throw std::logic_error(
        "barrier.cluster.arrive twice without a barrier.cluster.wait in between");
  }
  own.is_at_cluster = true;
  own.cluster_phase = cluster_phase_;
  if (++num_at_cluster_ == num_present_) release_cluster();
}

void ClusterRunner::wait_for_cluster() {
  Thread& own = thread(current_);
  if (!own.is_at_cluster) {
    throw std::logic_error("barrier.cluster.wait without a barrier.cluster.arrive before it");
  }
  wait_until(
      [this] {
        return "the barrier of the cluster, where " + std::to_string(num_at_cluster_) + " of " +
               std::to_string(num_present_) + " have arrived";
      },
      [this, phase = own.cluster_phase] { return cluster_phase_ != phase; });
  own.is_at_cluster = false;
}

void ClusterRunner::release_cluster() {
  num_at_cluster_ = 0;
  ++cluster_phase_;
}

AsyncBlock& ClusterRunner::async_of(int rank, const char* operation) {
  if (block(rank).num_present == 0) {
    throw std::logic_error(std::string(operation) + " to block " + to_string(block(rank).index) +
                           " of the cluster, which has ended");
  }
  return block(rank).async;
}

void ClusterRunner::meet_warp(const char* operation, void* data, CompleteWarp complete) {
  Warp& own = warp();
  if (own.waiting > 0 && own.operation != operation && std::strcmp(own.operation, operation) != 0) {
    throw std::logic_error("lanes of one warp differ: some are at " + std::string(own.operation) +
                           ", one is at " + operation);
  }
  own.operation = operation;
  own.complete = complete;
  own.data[static_cast<std::size_t>(lane())] = data;
  if (++own.waiting == own.present) {
    finish_warp();
  } else {
    let_others_run();
  }
}

/// The last lane continues at once; it is not enqueued.
void ClusterRunner::finish_warp() {
  ++statistics_.warp_operations;
  Warp& own = warp();
  own.complete(own.data);
  enqueue_lanes(warp_of(current_), [&](int i) {
    return i != current_ &&
           own.data[static_cast<std::size_t>(thread(i).number % kWarpLanes)] != nullptr;
  });
  own.data.fill(nullptr);
  own.waiting = 0;
}

template <class Predicate>
void ClusterRunner::enqueue_lanes(std::size_t warp, Predicate is_wanted) {
  std::array<std::uint16_t, kWarpLanes> wanted;
  std::size_t count = 0;
  const int rank = static_cast<int>(warp) / warps_per_block_;
  const int first = rank * block_threads_ + static_cast<int>(warp) % warps_per_block_ * kWarpLanes;
  const int end = std::min(first + kWarpLanes, (rank + 1) * block_threads_);
  for (int i = first; i < end; ++i) {
    if (is_wanted(i)) wanted[count++] = static_cast<std::uint16_t>(i);
  }
  if (count > 0) enqueue(std::span(wanted).first(count));
}

void ClusterRunner::enqueue(std::span<std::uint16_t> threads) {
  const bool are_late = threads.front() >= first_late_ && threads.front() < end_late_;
  (are_late ? late_queue_ : queue_).add(threads, random_);
}

// Errors

void ClusterRunner::throw_stuck() const {
  int num_at_barrier = 0;
  for (int rank = 0; rank < num_blocks_; ++rank) num_at_barrier += block(rank).num_at_barrier;
  std::string text = "no thread can go on: " + std::to_string(num_at_barrier) + " of " +
                     std::to_string(num_present_) + " wait at __syncthreads";
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const Warp& warp = warps_[i];
    if (warp.waiting == 0) continue;
    text += "; of warp " + std::to_string(i) + ", " + std::to_string(warp.waiting) + " lanes of " +
            std::to_string(warp.present) + " are at " + warp.operation;
  }
  std::map<std::string, std::vector<int>> waiting;
  for (const Blocked& blocked : blocked_) waiting[blocked.describe()].push_back(blocked.thread);
  for (const auto& [waits_for, threads] : waiting) {
    text += "; " + std::to_string(threads.size()) + " threads, of them " +
            std::to_string(threads.front()) + ", wait for " + waits_for;
  }
  throw std::logic_error(text);
}

/// The other threads are abandoned: their stacks are freed without running destructors.
void ClusterRunner::throw_failure() {
  contexts_.clear();
  const std::string where = " (thread " + to_string(thread(current_).index) + " of block " +
                            to_string(block().index) + ")";
  try {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  } catch (const std::exception& error) {
    throw std::logic_error(error.what() + where);
  }
}

}  // namespace flashlab::cuda::emulation
