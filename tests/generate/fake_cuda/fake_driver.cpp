// A CUDA driver without a GPU: kernels that the fake NVRTC compiled run in flashlab's emulation.
//
// $FLASHLAB_FAKE_GPU has words that make it fail: "absent" (no GPU), "hangs", "crashes", "small" (1 MB
// of memory, of which nothing may be requested), "forgets" (the last problem of each launch is not
// computed), "quick" (an H200 whose clock shows almost nothing).
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "attention_cuda/emulation/async/tensor_map.hpp"

namespace {

using LaunchFunction = int (*)(const cudaLaunchConfig_t& config, void** places);
using KernelFunction = const void* (*)();

struct FakeFunction {
  LaunchFunction launch;
  const void* kernel;
};

bool is_wished(const char* word) {
  const char* const words = std::getenv("FLASHLAB_FAKE_GPU");
  return words != nullptr && std::strstr(words, word) != nullptr;
}

constexpr int kNoDevice = 100, kNotFound = 500, kInvalidImage = 200;
constexpr std::size_t kSmallBytes = 1'000'000;

FakeFunction* function_of(void* handle) { return static_cast<FakeFunction*>(handle); }
void* pointer_of(unsigned long long address) { return reinterpret_cast<void*>(address); }

/// Makes the emulation of this library the one that libraries of kernels use, too: threadIdx and the like. They have a
/// copy of each inline variable, which only g++ merges with that of a library which is not global.
bool share_emulation() {
  Dl_info own{};
  return dladdr(reinterpret_cast<void*>(&share_emulation), &own) != 0 &&
         dlopen(own.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != nullptr;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return is_wished("absent") ? kNoDevice : 0; }
int cuGetErrorName(int error, const char** text) {
  *text = cudaGetErrorName(static_cast<cudaError_t>(error));
  return 0;
}
int cuGetErrorString(int error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return 0;
}
int cuDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }
int cuDeviceGetCount(int* count) { return cudaGetDeviceCount(count); }
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int length, int device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  const char* const shown = is_wished("quick") ? "NVIDIA H200" : properties.name;
  std::strncpy(name, shown, static_cast<std::size_t>(length));
  return error;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  std::size_t free_bytes = 0;
  return cudaMemGetInfo(&free_bytes, bytes);
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = nullptr;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return cudaDeviceSynchronize(); }

int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  const int error = cudaMemGetInfo(free_bytes, total_bytes);
  if (is_wished("small")) *free_bytes = kSmallBytes;
  return error;
}
int cuMemAlloc_v2(unsigned long long* memory, std::size_t bytes) {
  if (is_wished("small")) std::abort();  // refused before anything is allocated
  void* address = nullptr;
  const cudaError_t error = cudaMalloc(&address, bytes);
  *memory = reinterpret_cast<std::uintptr_t>(address);
  return error;
}
int cuMemFree_v2(unsigned long long memory) { return cudaFree(pointer_of(memory)); }
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  return cudaMemcpy(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost);
}
int cuMemsetD8Async(unsigned long long to, unsigned char byte, std::size_t bytes, void*) {
  return cudaMemsetAsync(pointer_of(to), byte, bytes);
}

/// The image is the path of the library that the fake NVRTC built.
int cuModuleLoadData(void** module, const void* image) {
  if (!share_emulation()) return kInvalidImage;
  *module = dlopen(static_cast<const char*>(image), RTLD_NOW | RTLD_LOCAL);
  return *module != nullptr ? 0 : kInvalidImage;
}
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const std::string kernel = name;
  void* const launch = dlsym(module, ("fake_launch_" + kernel).c_str());
  void* const address = dlsym(module, kernel.c_str());
  if (launch == nullptr || address == nullptr) return kNotFound;
  // Few of them, and they live as long as the module: to the end.
  *function = new FakeFunction{reinterpret_cast<LaunchFunction>(launch), address};
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  return cudaFuncSetAttribute(function_of(function)->kernel,
                              static_cast<cudaFuncAttribute>(attribute), value);
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void*, void** parameters, void**) {
  if (is_wished("hangs")) {
    while (true) pause();
  }
  if (is_wished("crashes")) std::abort();
  if (is_wished("forgets") && grid_y > 1) --grid_y;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid_x, grid_y, grid_z);
  config.blockDim = dim3(block_x, block_y, block_z);
  config.dynamicSmemBytes = shared_bytes;
  return function_of(function)->launch(config, parameters);
}

/// The kernels take the emulation's own tensor maps, which are smaller.
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address,
                           const std::uint64_t* sizes, const std::uint64_t* strides,
                           const unsigned* box, const unsigned*, int, int swizzle, int, int) {
  constexpr std::size_t kMapBytes = 128;
  constexpr int kFloat = 7, kSwizzle128Bytes = 3, kInvalid = 1;
  using Map = flashlab::cuda::emulation::TensorMap;
  static_assert(sizeof(Map) <= kMapBytes);
  if (rank > Map::kMostRank || swizzle != (type == kFloat ? 0 : kSwizzle128Bytes)) return kInvalid;
  Map result;
  result.base = static_cast<unsigned char*>(address);
  result.rank = static_cast<int>(rank);
  result.element_bytes = type == kFloat ? 4 : 2;
  result.is_swizzled = type != kFloat;
  for (unsigned axis = 0; axis < rank; ++axis) {
    result.sizes[axis] = sizes[axis];
    result.strides[axis] = axis == 0 ? result.element_bytes : strides[axis - 1];
    result.box[axis] = box[axis];
    if (axis > 0 && result.strides[axis] % 16 != 0) return kInvalid;
  }
  std::memcpy(map, &result, sizeof result);
  return 0;
}

int cuEventCreate(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
int cuEventRecord(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); }
int cuEventSynchronize(cudaEvent_t event) { return cudaEventSynchronize(event); }
int cuEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const int error = cudaEventElapsedTime(milliseconds, start, end);
  if (is_wished("quick")) *milliseconds = 1e-9F;
  return error;
}
int cuEventDestroy_v2(cudaEvent_t event) { return cudaEventDestroy(event); }

}  // extern "C"
