#include "attention_cpu/detail/dispatch.hpp"

#include <cstdlib>
#include <string>

namespace flashlab::cpu {
namespace detail {

namespace baseline {
extern const KernelTable kKernels;
}
#ifdef FLASHLAB_CPU_X86
namespace avx2 {
extern const KernelTable kKernels;
}
namespace avx512 {
extern const KernelTable kKernels;
}
#endif

namespace {

InstructionSet of_this_processor() {
#ifdef FLASHLAB_CPU_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return InstructionSet::kAvx512;
  }
  // Whatever has AVX2 has F16C, for which clang 16 has no name.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return InstructionSet::kAvx2;
  }
#endif
  return InstructionSet::kBaseline;
}

InstructionSet best() {
  const InstructionSet here = of_this_processor();
  const char* const wish = std::getenv("FLASHLAB_CPU");
  if (wish == nullptr || *wish == '\0') return here;
  for (const auto set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (to_string(set) != wish) continue;
    if (set <= here) return set;
    throw ProblemError("FLASHLAB_CPU", wish, "at most " + std::string(to_string(here)) + " here");
  }
  throw ProblemError("FLASHLAB_CPU", wish, "baseline, avx2 or avx512");
}

}  // namespace

const KernelTable& kernels_for(InstructionSet set) {
  if (set > of_this_processor()) {
    throw ProblemError("instruction_set", to_string(set),
                       "at most " + std::string(to_string(of_this_processor())) + " here");
  }
#ifdef FLASHLAB_CPU_X86
  if (set == InstructionSet::kAvx512) return avx512::kKernels;
  if (set == InstructionSet::kAvx2) return avx2::kKernels;
#endif
  return baseline::kKernels;
}

}  // namespace detail

std::string_view to_string(InstructionSet set) {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<int>(set)];
}

InstructionSet best_instruction_set() {
  static const InstructionSet set = detail::best();
  return set;
}

}  // namespace flashlab::cpu
