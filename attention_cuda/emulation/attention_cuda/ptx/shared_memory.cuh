// Stands in for attention_cuda/ptx/shared_memory.cuh.
#pragma once

#include <cstdint>

#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/emulation/vector_types.hpp"

namespace flashlab::cuda::ptx {

inline unsigned char* shared_memory() { return emulation::shared_bytes().data(); }

using SharedAddress = std::uintptr_t;

inline SharedAddress shared_address(const void* shared) {
  return reinterpret_cast<SharedAddress>(shared);
}
inline SharedAddress opaque(SharedAddress address) { return address; }
inline SharedAddress uniform(SharedAddress address) { return address; }
inline int recomputed(int value) { return value; }

inline float load_shared_float(SharedAddress address) {
  return *reinterpret_cast<const float*>(address);
}
inline float2 load_shared_float2(SharedAddress address) {
  return *reinterpret_cast<const float2*>(address);
}
inline void store_shared(SharedAddress address, std::uint32_t value) {
  emulation::note_shared_write(reinterpret_cast<const void*>(address), 4, "st.shared");
  *reinterpret_cast<std::uint32_t*>(address) = value;
}
inline void store_shared(SharedAddress address, float first, float second) {
  emulation::note_shared_write(reinterpret_cast<const void*>(address), 8, "st.shared");
  reinterpret_cast<float*>(address)[0] = first;
  reinterpret_cast<float*>(address)[1] = second;
}
inline void store_shared(SharedAddress address, const float4& values) {
  emulation::note_shared_write(reinterpret_cast<const void*>(address), 16, "st.shared");
  *reinterpret_cast<float4*>(address) = values;
}
inline float4 load_shared_float4(SharedAddress address) {
  return *reinterpret_cast<const float4*>(address);
}

}  // namespace flashlab::cuda::ptx
