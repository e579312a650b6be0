// Memory and events of other processes' GPUs in this computer, by CUDA's handles for them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "attention_cuda/ranks/processes/cuda_ipc.hpp"

namespace flashlab::cuda {

/// Where a message lies, for another process.
struct MemoryPlace {
  cudaIpcMemHandle_t allocation;
  std::size_t offset = 0;
};

/// Returns the place of this process's memory.
MemoryPlace place_of(const void* memory);

/// The allocations of other processes that this one has opened.
class OpenedMemory {
 public:
  OpenedMemory() = default;
  ~OpenedMemory() { close(); }
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;

  /// Returns where the memory of a rank is here. Throws CudaError.
  const void* at(int rank, const MemoryPlace& place);
  void close();

 private:
  std::map<std::pair<int, std::string>, void*> opened_;
};

/// An event that other processes can wait for; or one of them that this one can wait for.
class SharedHandleEvent {
 public:
  SharedHandleEvent();
  explicit SharedHandleEvent(const cudaIpcEventHandle_t& of_other_process);
  ~SharedHandleEvent() { cudaEventDestroy(event_); }
  SharedHandleEvent(SharedHandleEvent&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)) {}
  SharedHandleEvent& operator=(SharedHandleEvent&&) = delete;

  cudaEvent_t get() const { return event_; }
  cudaIpcEventHandle_t handle() const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace flashlab::cuda
