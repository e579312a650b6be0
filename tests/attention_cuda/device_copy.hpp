// The memory of stored tensors, copied to the device and back.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/attention_cpu/stored_tensor.hpp"

namespace flashlab::test {

inline void check_call(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Device memory, all 0xff: NaN in every type.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    check_call(cudaMalloc(&memory_, bytes));
    check_call(cudaMemset(memory_, 0xff, bytes));
  }
  ~DeviceMemory() { cudaFree(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* get() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
};

/// Tensors that share host memory share device memory too.
class DeviceCopies {
 public:
  /// The tensor on the device.
  TensorView view(const StoredTensor& tensor) {
    auto& [host, device] = copies_[tensor.memory.get()];
    if (device == nullptr) {
      host = tensor.memory;
      device = std::make_unique<DeviceMemory>(host->size() * sizeof(host->front()));
      check_call(cudaMemcpy(device->get(), host->data(), device->bytes(), cudaMemcpyHostToDevice));
    }
    TensorView view = tensor.view;
    const auto offset =
        static_cast<const std::byte*>(view.data) - reinterpret_cast<const std::byte*>(host->data());
    view.data = static_cast<std::byte*>(device->get()) + offset;
    return view;
  }

  /// All that lies on the device now, what is around the elements too, into the host's memory.
  void fetch() const {
    for (const auto& [key, copy] : copies_) {
      const auto& [host, device] = copy;
      check_call(cudaMemcpy(host->data(), device->get(), device->bytes(), cudaMemcpyDeviceToHost));
    }
  }

 private:
  using HostMemory = std::shared_ptr<std::vector<std::uint64_t>>;
  std::map<const void*, std::pair<HostMemory, std::unique_ptr<DeviceMemory>>> copies_;
};

}  // namespace flashlab::test
