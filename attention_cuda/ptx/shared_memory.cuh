// The block's dynamic shared memory. The launch determines its size.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::cuda::ptx {

/// Returns the memory, at a multiple of 1024 bytes, the largest pattern of a swizzle.
__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(1024) unsigned char flashlab_shared_memory[];
  return flashlab_shared_memory;
}

/// An address in shared memory, in bytes.
using SharedAddress = std::uint32_t;

__device__ __forceinline__ SharedAddress shared_address(const void* shared) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(shared));
}

/// Hides the value of an address from the compiler. Constants that are added to it become part of
/// the instructions, instead of taking registers.
__device__ __forceinline__ SharedAddress opaque(SharedAddress address) {
  asm volatile("" : "+r"(address));
  return address;
}

/// Returns an address that all lanes of a whole warp share, and tells the compiler so (same_in_warp).
__device__ __forceinline__ SharedAddress uniform(SharedAddress address) {
  SharedAddress result;
  asm("redux.sync.max.u32 %0, %1, 0xFFFFFFFF;" : "=r"(result) : "r"(address));
  return result;
}

/// The same for any number: values derived from it are computed where they are used, instead of being
/// kept in registers.
__device__ __forceinline__ int recomputed(int value) {
  return static_cast<int>(opaque(static_cast<SharedAddress>(value)));
}

__device__ __forceinline__ float load_shared_float(SharedAddress address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}

/// Loads two floats, 8-byte aligned.
__device__ __forceinline__ float2 load_shared_float2(SharedAddress address) {
  float2 values;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(values.x), "=f"(values.y)
               : "r"(address)
               : "memory");
  return values;
}

__device__ __forceinline__ void store_shared(SharedAddress address, std::uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" : : "r"(address), "r"(value) : "memory");
}

/// Stores two floats, 8-byte aligned.
__device__ __forceinline__ void store_shared(SharedAddress address, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};"
               :
               : "r"(address), "f"(first), "f"(second)
               : "memory");
}

/// Stores four floats, 16-byte aligned.
__device__ __forceinline__ void store_shared(SharedAddress address, const float4& values) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(address), "f"(values.x), "f"(values.y), "f"(values.z), "f"(values.w)
               : "memory");
}

/// Loads four floats, 16-byte aligned.
__device__ __forceinline__ float4 load_shared_float4(SharedAddress address) {
  float4 values;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(values.x), "=f"(values.y), "=f"(values.z), "=f"(values.w)
               : "r"(address)
               : "memory");
  return values;
}

}  // namespace flashlab::cuda::ptx
