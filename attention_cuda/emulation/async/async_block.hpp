// Everything asynchronous of a block: what the twins of PTX instructions (../attention_cuda/ptx)
// call for the thread that is running. Errors are std::logic_error, which names block and thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "attention_cuda/emulation/async/async_operations.hpp"
#include "attention_cuda/emulation/async/mbarriers.hpp"
#include "attention_cuda/emulation/async/named_barriers.hpp"
#include "attention_cuda/emulation/async/shared_views.hpp"
#include "attention_cuda/emulation/async/tensor_map.hpp"
#include "attention_cuda/emulation/async/warpgroups.hpp"

namespace flashlab::cuda::emulation {

class AsyncBlock {
 public:
  /// Prepares for a block. Costs nothing until an instruction asks for the block's async state.
  void begin(std::span<unsigned char> shared, int num_threads);
  bool is_used() const { return is_used_; }
  /// A thread's instruction writes these bytes of shared memory.
  void wrote_shared(int thread, SharedRange bytes, const char* instruction);

  void fence_proxy(int thread);
  void load_box(int thread, std::size_t shared_at, const TensorMap& map, std::size_t mbarrier_at,
                std::span<const std::int32_t> coordinates);
  void store_box(int thread, std::size_t shared_at, const TensorMap& map,
                 std::span<const std::int32_t> coordinates);
  /// Adds floats in shared memory to those at `to`, at a random moment.
  void add_floats(int thread, std::size_t shared_at, std::span<float> to);
  /// Copies shared memory to another block's, whose mbarrier counts the bytes.
  void copy_to(AsyncBlock& other, int thread, std::size_t from_at, std::size_t to_at,
               std::size_t bytes, std::size_t mbarrier_at);
  void commit_stores(int thread);
  /// Completes all but the newest groups of the thread's stores; with `only_reads`, until they have
  /// read shared memory.
  void wait_stores(int thread, int groups_in_flight, bool only_reads);

  /// Throws std::logic_error, which begins with `what`, unless all stores of the thread are complete.
  void require_stores_complete(int thread, const char* what);

  /// One step of a random operation in flight. False if there is none.
  bool advance(Random& random) { return is_used_ && operations_.advance(random); }
  bool has_operations() const { return is_used_ && !operations_.in_flight().empty(); }
  /// Checks that a thread may end.
  void thread_ends(int thread) const;
  /// Checks that the block may end.
  void block_ends() const;

  Mbarriers& mbarriers() { return used().mbarriers_; }
  NamedBarriers& named_barriers() { return used().named_barriers_; }
  RegisterPool& registers() { return used().registers_; }
  Warpgroups& warpgroups() { return used().warpgroups_; }
  SharedViews& views() { return used().views_; }
  AsyncOperations& operations() { return operations_; }

 private:
  struct Stores {
    std::vector<AsyncHandle> open;
    std::deque<std::vector<AsyncHandle>> groups;  // the oldest first
  };
  struct EarlyWrite {
    int thread;
    SharedRange bytes;
  };
  AsyncBlock& used();

  std::span<unsigned char> shared_;
  int num_threads_ = 0;
  bool is_used_ = false;
  std::vector<EarlyWrite> early_writes_;  // before the block's first asynchronous instruction
  std::uint64_t next_copy_ = 1;
  SharedViews views_;
  AsyncOperations operations_;
  Mbarriers mbarriers_;
  NamedBarriers named_barriers_;
  RegisterPool registers_;
  Warpgroups warpgroups_;
  std::vector<Stores> stores_;  // by thread
};

}  // namespace flashlab::cuda::emulation
