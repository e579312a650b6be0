#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/ranks/processes/cuda_ipc.hpp"

namespace {

struct FileHandle {
  int process, file;
  std::size_t bytes;
};

std::mutex mutex;
std::map<void*, std::size_t> opened;

}  // namespace

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  const auto [file, bytes] = flashlab::cuda::emulation::file_of(memory);
  if (file < 0) return cudaErrorInvalidValue;
  const FileHandle place = {getpid(), file, bytes};
  *handle = {};
  std::memcpy(handle->reserved, &place, sizeof place);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned) {
  FileHandle place = {};
  std::memcpy(&place, handle.reserved, sizeof place);
  const std::string path =
      "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cudaErrorInvalidValue;
  *memory = mmap(nullptr, place.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (*memory == MAP_FAILED) return cudaErrorInvalidValue;
  const std::lock_guard lock(mutex);
  opened[*memory] = place.bytes;
  return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* memory) {
  const std::lock_guard lock(mutex);
  const auto found = opened.find(memory);
  if (found == opened.end()) return cudaErrorInvalidValue;
  munmap(memory, found->second);
  opened.erase(found);
  return cudaSuccess;
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t) {
  *handle = {};
  return cudaSuccess;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t) {
  return cudaEventCreate(event);
}

namespace flashlab::cuda {

void* allocation_of(void* device_memory) {
  void* const base = emulation::allocation_with(device_memory);
  if (base == nullptr) throw CudaError("cuMemGetAddressRange", "not memory of this GPU");
  return base;
}

std::array<char, 16> uuid_of(int device) {
  const char* const first = std::getenv("FLASHLAB_EMULATED_FIRST_GPU");
  return {static_cast<char>(device + (first == nullptr ? 0 : std::atoi(first)))};
}

}  // namespace flashlab::cuda
