#include "attention_cuda/ranks/processes/peer_memory.hpp"

#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {

MemoryPlace place_of(const void* memory) {
  MemoryPlace place = {};
  void* const base = allocation_of(const_cast<void*>(memory));
  place.offset = static_cast<std::size_t>(static_cast<const std::byte*>(memory) -
                                          static_cast<const std::byte*>(base));
  check_cuda(cudaIpcGetMemHandle(&place.allocation, base), "cudaIpcGetMemHandle");
  return place;
}

const void* OpenedMemory::at(int rank, const MemoryPlace& place) {
  const std::string bytes(reinterpret_cast<const char*>(&place.allocation),
                          sizeof place.allocation);
  void*& base = opened_[{rank, bytes}];
  if (base == nullptr) {
    check_cuda(cudaIpcOpenMemHandle(&base, place.allocation, cudaIpcMemLazyEnablePeerAccess),
               "cudaIpcOpenMemHandle");
  }
  return static_cast<const std::byte*>(base) + place.offset;
}

void OpenedMemory::close() {
  for (const auto& [place, base] : opened_) {
    if (base != nullptr) cudaIpcCloseMemHandle(base);
  }
  opened_.clear();
}

SharedHandleEvent::SharedHandleEvent() {
  check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventInterprocess),
             "cudaEventCreateWithFlags");
}

SharedHandleEvent::SharedHandleEvent(const cudaIpcEventHandle_t& of_other_process) {
  check_cuda(cudaIpcOpenEventHandle(&event_, of_other_process), "cudaIpcOpenEventHandle");
}

cudaIpcEventHandle_t SharedHandleEvent::handle() const {
  cudaIpcEventHandle_t handle = {};
  check_cuda(cudaIpcGetEventHandle(&handle, event_), "cudaIpcGetEventHandle");
  return handle;
}

}  // namespace flashlab::cuda
