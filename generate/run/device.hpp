// A GPU, its memory, compiled kernels and events: what a run holds, and gives back at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generate/run/driver.hpp"

namespace flashlab::generate {

struct GpuInfo {
  std::string name;            // "NVIDIA H200"
  int compute_capability = 0;  // 90 for 9.0
  std::int64_t num_multiprocessors = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;
  int driver_version = 0;  // the newest CUDA that the driver supports: 13000 for 13.0
};

/// Returns the GPU that runs programs: the first that CUDA_VISIBLE_DEVICES leaves. Throws
/// GpuUnavailable, GpuError.
GpuInfo first_gpu(const CudaDriver& driver);

/// The primary context of the first GPU, current on this thread.
class DeviceContext {
 public:
  explicit DeviceContext(const CudaDriver& driver);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

 private:
  const CudaDriver& driver_;
  int device_ = 0;
};

/// Device memory. `what` names it in messages.
class DeviceBytes {
 public:
  DeviceBytes(const CudaDriver& driver, const std::string& what, std::int64_t bytes);
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  DeviceBytes& operator=(DeviceBytes&&) = delete;

  DevicePointer address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }
  void fill(unsigned char byte) const;
  /// Waits for the GPU.
  void read(void* to, std::int64_t first, std::int64_t bytes) const;

 private:
  const CudaDriver& driver_;
  DevicePointer address_ = 0;
  std::int64_t bytes_ = 0;
};

struct LaunchSize {
  std::int64_t blocks = 1, problems = 1;  // the grid's axes x and y
  int threads = 32;
  std::int64_t shared_bytes = 0;
};

class DeviceModule {
 public:
  DeviceModule(const CudaDriver& driver, const std::string& image);
  ~DeviceModule();
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;

  FunctionHandle function(const std::string& name) const;
  int attribute(FunctionHandle function, FunctionAttribute attribute) const;
  /// Needed before a launch with more than 48 KiB.
  void allow_shared_bytes(FunctionHandle function, std::int64_t bytes) const;
  /// `parameters`: pointers and whole numbers of 64 bits; `maps` come after them. Does not wait.
  void launch(FunctionHandle function, const LaunchSize& size,
              std::vector<unsigned long long> parameters, std::vector<TensorMap> maps = {}) const;

 private:
  const CudaDriver& driver_;
  ModuleHandle module_ = nullptr;
};

class DeviceEvent {
 public:
  explicit DeviceEvent(const CudaDriver& driver);
  ~DeviceEvent();
  DeviceEvent(DeviceEvent&& other) noexcept;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  DeviceEvent& operator=(DeviceEvent&&) = delete;

  void record() const;
  /// Waits for this event.
  double ms_since(const DeviceEvent& start) const;

 private:
  const CudaDriver& driver_;
  EventHandle event_ = nullptr;
};

}  // namespace flashlab::generate
