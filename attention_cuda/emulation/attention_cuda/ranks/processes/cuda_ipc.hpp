// The twin of the header with this name: memory of other processes. With $FLASHLAB_EMULATED_IPC, device
// memory is in files without a name, which other processes of the same user can open. Events have
// always happened.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <utility>

constexpr unsigned cudaEventInterprocess = 4, cudaIpcMemLazyEnablePeerAccess = 1;
struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory);
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* memory);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

namespace flashlab::cuda {

void* allocation_of(void* device_memory);
std::array<char, 16> uuid_of(int device);

namespace emulation {

/// Returns the first byte of the allocation that contains the pointer; null: none does.
void* allocation_with(const void* memory);
/// The file that an allocation lies in, and its bytes. -1: in none.
std::pair<int, std::size_t> file_of(const void* allocation);

}  // namespace emulation
}  // namespace flashlab::cuda
