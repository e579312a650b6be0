#include "toymachine/detail/vector_extension.hpp"

namespace flashlab::toy::detail {
namespace {

VectorExtension detect() {
#ifdef FLASHLAB_X86_LANES
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return VectorExtension::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return VectorExtension::kAvx2;
  }
#endif
  return VectorExtension::kNone;
}

}  // namespace

VectorExtension vector_extension() {
  static const VectorExtension extension = detect();
  return extension;
}

}  // namespace flashlab::toy::detail
