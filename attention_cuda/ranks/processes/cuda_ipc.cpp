#include "attention_cuda/ranks/processes/cuda_ipc.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "attention_cuda/device/launch.cuh"
#include "system/opened_library.hpp"

namespace flashlab::cuda {
namespace {

/// cuMemGetAddressRange. The runtime API has no such function, and has opened the driver.
using AddressRange = int (*)(std::uint64_t* base, std::size_t* bytes, std::uint64_t pointer);

AddressRange address_range() {
  AddressRange function = nullptr;
  if (system::OpenedLibrary({"libcuda.so.1"}).find(function, "cuMemGetAddressRange_v2")) {
    return function;
  }
  throw CudaError("dlopen", "the driver has no cuMemGetAddressRange");
}

}  // namespace

void* allocation_of(void* device_memory) {
  static const AddressRange find = address_range();
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  const int error = find(&base, &bytes, reinterpret_cast<std::uint64_t>(device_memory));
  if (error != 0) {
    throw CudaError("cuMemGetAddressRange",
                    "error " + std::to_string(error) + " of the driver: not memory of this GPU");
  }
  return reinterpret_cast<void*>(base);  // NOLINT: the driver's type of addresses
}

std::array<char, 16> uuid_of(int device) {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::array<char, 16> uuid = {};
  std::copy_n(properties.uuid.bytes, uuid.size(), uuid.begin());
  return uuid;
}

}  // namespace flashlab::cuda
