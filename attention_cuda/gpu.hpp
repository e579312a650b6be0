// The current GPU, and memory on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

struct GpuInfo {
  std::string name;            // "NVIDIA H200"
  int compute_capability = 0;  // 90: 9.0
  int num_multiprocessors = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0, shared_memory_per_block_bytes = 0;
  int driver_version = 0, runtime_version = 0;  // of CUDA: 13000 is 13.0
};

/// Returns the current device. Throws CudaError: no driver, no GPU.
GpuInfo current_gpu();

/// what(): "no device memory for O: 1024 bytes".
class NoDeviceMemory : public std::bad_alloc {
 public:
  NoDeviceMemory(const std::string& owner, std::size_t bytes);
  explicit NoDeviceMemory(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Memory of the current device. Freed at the end of the scope.
class DeviceMemory {
 public:
  /// `owner`: its name in errors. Throws NoDeviceMemory, CudaError.
  DeviceMemory(const std::string& owner, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }  // 256-byte aligned; null if there are no bytes
  std::size_t bytes() const { return bytes_; }
  void fill(int byte, Stream stream = nullptr) const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// Both functions wait until the copy is complete.
void copy_to_gpu(void* device, const void* host, std::size_t bytes);
void copy_from_gpu(void* host, const void* device, std::size_t bytes);

}  // namespace flashlab::cuda
