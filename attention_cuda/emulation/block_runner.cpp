#include "attention_cuda/emulation/block_runner.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace flashlab::cuda::emulation {
namespace {

constexpr std::size_t kSharedAlignment = 1024, kSharedGuardBytes = 1024;
constexpr unsigned char kPoison = 0xFF;

constinit thread_local BlockRunner* running = nullptr;

BlockRunner& runner() {
  if (running == nullptr) throw std::logic_error("a device function was called outside a kernel");
  return *running;
}

std::string to_string(const uint3& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

}  // namespace

// One block

void BlockRunner::run(const Launch& launch, std::int64_t block_number, std::uint64_t seed) {
  launch_ = &launch;
  random_ = Random(seed ^ static_cast<std::uint64_t>(block_number) * 0x9E3779B97F4A7C15u);
  gridDim = launch.grid;
  blockDim = launch.block;
  const std::int64_t row = block_number / launch.grid.x;
  blockIdx = {static_cast<unsigned>(block_number % launch.grid.x),
              static_cast<unsigned>(row % launch.grid.y),
              static_cast<unsigned>(row / launch.grid.y)};
  prepare_shared();
  prepare_threads();
  blocked_.clear();
  async_.begin(shared_bytes(), num_threads_);
  running = this;
  current_ = queue_.take();
  threadIdx = thread(current_).index;
  main_.switch_to(context(current_));
  running = nullptr;
  if (failure_) throw_failure();
  async_.block_ends();
  while (async_.advance(random_)) {
  }
  check_shared_end();
  ++statistics_.blocks;
}

Statistics BlockRunner::take_statistics() { return std::exchange(statistics_, {}); }

void BlockRunner::prepare_threads() {
  const dim3& size = launch_->block;
  num_threads_ = num_present_ = static_cast<int>(size.x * size.y * size.z);
  num_at_barrier_ = 0;
  threads_.resize(static_cast<std::size_t>(num_threads_));
  for (unsigned i = 0; i < threads_.size(); ++i) {
    threads_[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    threads_[i].waits_at_barrier = false;
    threads_[i].copies.forget();
  }
  while (contexts_.size() < threads_.size()) {
    const auto index = static_cast<int>(contexts_.size());
    contexts_.push_back(std::make_unique<Context>(&BlockRunner::enter_context, index));
  }
  warps_.assign((threads_.size() + kWarpLanes - 1) / kWarpLanes, Warp{});
  for (int i = 0; i < num_threads_; ++i) ++warps_[static_cast<std::size_t>(i / kWarpLanes)].present;
  warp_order_.resize(warps_.size());
  std::iota(warp_order_.begin(), warp_order_.end(), std::uint16_t{0});
  queue_.clear();
  random_.shuffle(warp_order_);
  for (const auto warp : warp_order_) enqueue_lanes(warp, [](int) { return true; });
}

void BlockRunner::prepare_shared() {
  shared_memory_.resize(launch_->shared_bytes + kSharedAlignment + kSharedGuardBytes);
  const auto address = reinterpret_cast<std::uintptr_t>(shared_memory_.data());
  shared_ = shared_memory_.data() + (-address & (kSharedAlignment - 1));
  std::memset(shared_, kPoison, launch_->shared_bytes + kSharedGuardBytes);
}

void BlockRunner::check_shared_end() const {
  const unsigned char* guard = shared_ + launch_->shared_bytes;
  if (std::any_of(guard, guard + kSharedGuardBytes, [](auto byte) { return byte != kPoison; })) {
    throw std::logic_error("block " + to_string(blockIdx) + " wrote past the end of its " +
                           std::to_string(launch_->shared_bytes) + " bytes of shared memory");
  }
}

// One thread

void BlockRunner::enter_context() {
  running->context(running->current_).entered();
  for (;;) running->run_thread();
}

/// Ends by switching to another context. When this context resumes, it runs a thread of
/// a later block.
void BlockRunner::run_thread() {
  try {
    launch_->thread();
    async_.thread_ends(current_);
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

void BlockRunner::thread_ended() {
  --num_present_;
  --warp().present;
  if (warp().waiting > 0 && warp().waiting == warp().present) finish_warp();
  if (num_at_barrier_ > 0 && num_at_barrier_ == num_present_) release_barrier();
}

void BlockRunner::let_others_run() {
  const int next = next_thread();
  if (next != current_) switch_to(next);
}

int BlockRunner::next_thread() {
  constexpr std::uint32_t kOneIn = 4;
  if (async_.has_operations() && random_.below(kOneIn) == 0) async_.advance(random_);
  if (!blocked_.empty()) wake_blocked();
  while (queue_.empty()) {
    if (!async_.advance(random_)) throw_stuck();
    wake_blocked();
  }
  return queue_.take();
}

void BlockRunner::wake_blocked() {
  std::erase_if(blocked_, [this](const Blocked& blocked) {
    if (!blocked.is_ready()) return false;
    auto ready = static_cast<std::uint16_t>(blocked.thread);
    queue_.add({&ready, 1}, random_);
    return true;
  });
}

void BlockRunner::wait_until(std::function<std::string()> describe,
                             std::function<bool()> is_ready) {
  constexpr std::uint32_t kOneIn = 4;
  if (is_ready() && random_.below(kOneIn) != 0) return;
  blocked_.push_back({current_, std::move(describe), std::move(is_ready)});
  let_others_run();
}

void BlockRunner::switch_to(int next) {
  Context& left = context(current_);
  current_ = next;
  threadIdx = thread(next).index;
  left.switch_to(context(next));
}

// Waiting

void BlockRunner::sync_block() {
  thread(current_).waits_at_barrier = true;
  if (++num_at_barrier_ == num_present_) release_barrier();
  let_others_run();
}

void BlockRunner::release_barrier() {
  ++statistics_.block_barriers;
  num_at_barrier_ = 0;
  random_.shuffle(warp_order_);
  for (const auto warp : warp_order_) {
    enqueue_lanes(warp, [this](int i) { return std::exchange(thread(i).waits_at_barrier, false); });
  }
}

void BlockRunner::meet_warp(const char* operation, void* data, CompleteWarp complete) {
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
void BlockRunner::finish_warp() {
  ++statistics_.warp_operations;
  Warp& own = warp();
  own.complete(own.data);
  enqueue_lanes(static_cast<std::size_t>(current_ / kWarpLanes), [&](int i) {
    return i != current_ && own.data[static_cast<std::size_t>(i % kWarpLanes)] != nullptr;
  });
  own.data.fill(nullptr);
  own.waiting = 0;
}

template <class Predicate>
void BlockRunner::enqueue_lanes(std::size_t warp, Predicate is_wanted) {
  std::array<std::uint16_t, kWarpLanes> wanted;
  std::size_t count = 0;
  const int first = static_cast<int>(warp) * kWarpLanes;
  for (int i = first; i < std::min(first + kWarpLanes, num_threads_); ++i) {
    if (is_wanted(i)) wanted[count++] = static_cast<std::uint16_t>(i);
  }
  queue_.add(std::span(wanted).first(count), random_);
}

// Errors

void BlockRunner::throw_stuck() const {
  std::string text = "no thread can go on: " + std::to_string(num_at_barrier_) + " of " +
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
void BlockRunner::throw_failure() {
  contexts_.clear();
  const std::string where =
      " (thread " + to_string(thread(current_).index) + " of block " + to_string(blockIdx) + ")";
  try {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  } catch (const std::exception& error) {
    throw std::logic_error(error.what() + where);
  }
}

// Functions for the running thread

int lane_index() { return runner().lane(); }
int thread_number() { return runner().thread_number(); }
void sync_block() { runner().sync_block(); }
std::span<unsigned char> shared_bytes() { return runner().shared_bytes(); }
AsyncBlock& async_block() { return runner().async(); }
void note_shared_write(const void* address, std::size_t bytes, const char* instruction) {
  const std::size_t at = shared_offset(address, bytes, instruction);
  runner().async().wrote_shared(thread_number(), {at, at + bytes}, instruction);
}
void wait_until(std::function<std::string()> describe, std::function<bool()> is_ready) {
  runner().wait_until(std::move(describe), std::move(is_ready));
}
AsyncCopies& async_copies() { return runner().async_copies(); }
Statistics& block_statistics() { return runner().statistics(); }

void meet_warp(const char* operation, void* data, CompleteWarp complete) {
  runner().meet_warp(operation, data, complete);
}

void require_aligned(const void* address, std::size_t bytes, const char* operation) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    throw std::logic_error(std::string(operation) + ": the address is not a multiple of " +
                           std::to_string(bytes));
  }
}

std::size_t shared_offset(const void* address, std::size_t bytes, const char* operation) {
  const auto shared = runner().shared_bytes();
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(shared.data());
  if (offset >= shared.size() || shared.size() - offset < bytes) {
    throw std::logic_error(std::string(operation) + " outside shared memory");
  }
  return offset;
}

std::size_t require_shared_16(const void* address, const char* operation) {
  const std::size_t offset = shared_offset(address, 16, operation);
  if (offset % 16 != 0) {
    throw std::logic_error(std::string(operation) + " at byte " + std::to_string(offset) +
                           " of shared memory, not a multiple of 16");
  }
  return offset;
}

}  // namespace flashlab::cuda::emulation
