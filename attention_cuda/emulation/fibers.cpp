#include "attention_cuda/emulation/fibers.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "attention_cuda/emulation/cluster_runner.hpp"
#include "attention_cuda/emulation/observer.hpp"

namespace flashlab::cuda::emulation {
namespace {

ClusterRunner& runner() { return ClusterRunner::of_device_function(); }

Observer* present_observer = nullptr;

void tell_address(const char* operation, const void* address) {
  if (present_observer != nullptr) present_observer->took_address(operation, address);
}

}  // namespace

void set_observer(Observer* observer) { present_observer = observer; }

int lane_index() { return runner().lane(); }
int thread_number() { return runner().thread_number(); }
int cluster_rank() { return runner().rank(); }
int cluster_blocks() { return runner().num_blocks(); }
void sync_block() {
  if (present_observer != nullptr) present_observer->met("__syncthreads");
  runner().sync_block();
}
void arrive_at_cluster() { runner().arrive_at_cluster(); }
void wait_for_cluster() { runner().wait_for_cluster(); }
std::span<unsigned char> shared_bytes() { return runner().shared_bytes(); }
AsyncBlock& async_block() { return runner().async(); }
void note_shared_write(const void* address, std::size_t bytes, const char* instruction) {
  const std::size_t at = shared_offset(address, bytes, instruction);
  runner().async().wrote_shared(thread_number(), {at, at + bytes}, instruction);
}
void wait_until(std::function<std::string()> describe, std::function<bool()> is_ready) {
  runner().wait_until(std::move(describe), std::move(is_ready));
}
void pause_at_random() {
  runner().wait_until([] { return std::string("nothing"); }, [] { return true; });
}
AsyncCopies& async_copies() { return runner().async_copies(); }
Statistics& block_statistics() { return runner().statistics(); }

void meet_warp(const char* operation, void* data, CompleteWarp complete) {
  if (present_observer != nullptr) present_observer->met(operation);
  runner().meet_warp(operation, data, complete);
}

void require_aligned(const void* address, std::size_t bytes, const char* operation) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    throw std::logic_error(std::string(operation) + ": the address is not a multiple of " +
                           std::to_string(bytes));
  }
  tell_address(operation, address);
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

const void* in_block_of_cluster(const void* address, int rank) {
  if (rank < 0 || rank >= runner().num_blocks()) {
    throw std::logic_error("mapa for block " + std::to_string(rank) + " of a cluster of " +
                           std::to_string(runner().num_blocks()));
  }
  return runner().shared_bytes_of(rank).data() + shared_offset(address, 0, "mapa");
}

ClusterPlace cluster_place(const void* address, std::size_t bytes, const char* operation) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int rank = 0; rank < runner().num_blocks(); ++rank) {
    const auto shared = runner().shared_bytes_of(rank);
    const auto offset = at - reinterpret_cast<std::uintptr_t>(shared.data());
    if (offset < shared.size() && shared.size() - offset >= bytes) {
      return {&runner().async_of(rank, operation), offset};
    }
  }
  throw std::logic_error(std::string(operation) + " outside shared memory of the cluster");
}

std::size_t require_shared_16(const void* address, const char* operation) {
  const std::size_t offset = shared_offset(address, 16, operation);
  if (offset % 16 != 0) {
    throw std::logic_error(std::string(operation) + " at byte " + std::to_string(offset) +
                           " of shared memory, not a multiple of 16");
  }
  tell_address(operation, address);
  return offset;
}

}  // namespace flashlab::cuda::emulation
