// The CUDA driver, opened when it is needed.
//
// Source  CUDA Driver API reference
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "generate/run/opened_library.hpp"

namespace flashlab::generate {

/// A call of the driver failed. what(): "cuLaunchKernel: CUDA_ERROR_…: …".
class GpuError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// CUDA's types, without its headers. Its handles are pointers to structures that nobody sees.
using DevicePointer = unsigned long long;  // CUdeviceptr
using ContextHandle = struct CudaContext*;
using ModuleHandle = struct CudaModule*;
using FunctionHandle = struct CudaFunction*;
using StreamHandle = struct CudaStream*;
using EventHandle = struct CudaEvent*;

/// CUtensorMap: how TMA addresses an array.
struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

/// CUdevice_attribute and CUfunction_attribute, as far as they are used.
enum DeviceAttribute : int {
  kMultiprocessors = 16,
  kL2CacheBytes = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kSharedBytesPerBlock = 97,  // what a kernel may opt in to
};
enum FunctionAttribute : int {
  kLocalBytes = 3,
  kNumRegisters = 4,
  kMaxDynamicSharedBytes = 8,
};

/// The functions under the driver's own names. Each returns 0 if it succeeds.
struct CudaDriver {
  int (*cuInit)(unsigned flags);
  int (*cuGetErrorName)(int error, const char** text);
  int (*cuGetErrorString)(int error, const char** text);
  int (*cuDriverGetVersion)(int* version);
  int (*cuDeviceGetCount)(int* count);
  int (*cuDeviceGet)(int* device, int ordinal);
  int (*cuDeviceGetName)(char* name, int length, int device);
  int (*cuDeviceTotalMem)(std::size_t* bytes, int device);
  int (*cuDeviceGetAttribute)(int* value, int attribute, int device);
  int (*cuDevicePrimaryCtxRetain)(ContextHandle* context, int device);
  int (*cuDevicePrimaryCtxRelease)(int device);
  int (*cuCtxSetCurrent)(ContextHandle context);
  int (*cuCtxSynchronize)();
  int (*cuMemGetInfo)(std::size_t* free_bytes, std::size_t* total_bytes);
  int (*cuMemAlloc)(DevicePointer* memory, std::size_t bytes);
  int (*cuMemFree)(DevicePointer memory);
  int (*cuMemcpyDtoH)(void* to, DevicePointer from, std::size_t bytes);
  int (*cuMemsetD8Async)(DevicePointer to, unsigned char byte, std::size_t bytes,
                         StreamHandle stream);
  int (*cuModuleLoadData)(ModuleHandle* module, const void* image);
  int (*cuModuleUnload)(ModuleHandle module);
  int (*cuModuleGetFunction)(FunctionHandle* function, ModuleHandle module, const char* name);
  int (*cuFuncGetAttribute)(int* value, int attribute, FunctionHandle function);
  int (*cuFuncSetAttribute)(FunctionHandle function, int attribute, int value);
  int (*cuLaunchKernel)(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        StreamHandle stream, void** parameters, void** extra);
  int (*cuEventCreate)(EventHandle* event, unsigned flags);
  int (*cuEventRecord)(EventHandle event, StreamHandle stream);
  int (*cuEventSynchronize)(EventHandle event);
  int (*cuEventElapsedTime)(float* milliseconds, EventHandle start, EventHandle end);
  int (*cuEventDestroy)(EventHandle event);
  /// Null before CUDA 12. `sizes`, `box` and `steps` in elements, the innermost axis first; `strides` in
  /// bytes, from the second axis on.
  int (*cuTensorMapEncodeTiled)(TensorMap* map, int type, unsigned rank, void* address,
                                const std::uint64_t* sizes, const std::uint64_t* strides,
                                const unsigned* box, const unsigned* steps, int interleave,
                                int swizzle, int l2_promotion, int fill);

  /// Opens the driver and initialises it. Throws GpuUnavailable: no driver, no GPU.
  static const CudaDriver& loaded();

  /// Throws GpuError if the call failed.
  void check(int result, std::string_view call) const;
};

}  // namespace flashlab::generate
