#include "toymachine/execute/vector_extension.hpp"

#include <stdexcept>

namespace flashlab::toy::detail {
namespace {

VectorExtension detect() {
#ifdef FLASHLAB_HAS_AVX512
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return VectorExtension::kAvx512;
  }
#endif
#ifdef FLASHLAB_HAS_AVX2
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return VectorExtension::kAvx2;
  }
#endif
#ifdef FLASHLAB_HAS_BASELINE
  return VectorExtension::kNone;
#else
  throw std::runtime_error(
      "this build of flashlab needs another processor: build it on this one, or with "
      "-DFLASHLAB_INSTRUCTION_SETS=all for all processors");
#endif
}

}  // namespace

VectorExtension vector_extension() {
  static const VectorExtension extension = detect();
  return extension;
}

}  // namespace flashlab::toy::detail
