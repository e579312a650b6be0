#include "attention_cpu/detail/dispatch.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace flashlab::cpu {
namespace detail {

namespace baseline {
extern const KernelTable kKernels;
}
namespace avx2 {
extern const KernelTable kKernels;
}
namespace avx512 {
extern const KernelTable kKernels;
}

namespace {

/// The builds in this library that this processor supports, the best last.
std::vector<InstructionSet> find_instruction_sets() {
  std::vector<InstructionSet> sets;
#ifdef FLASHLAB_HAS_BASELINE
  sets.push_back(InstructionSet::kBaseline);
#endif
#if defined(FLASHLAB_HAS_AVX2) || defined(FLASHLAB_HAS_AVX512)
  __builtin_cpu_init();
#endif
#ifdef FLASHLAB_HAS_AVX2
  // Every processor with AVX2 has F16C, for which clang 16 has no name.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets.push_back(InstructionSet::kAvx2);
  }
#endif
#ifdef FLASHLAB_HAS_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    sets.push_back(InstructionSet::kAvx512);
  }
#endif
  if (sets.empty()) {
    throw std::runtime_error(
        "this build of flashlab needs another processor: build it on this one, or with "
        "-DFLASHLAB_INSTRUCTION_SETS=all for all processors");
  }
  return sets;
}

std::string names_of_sets() {
  std::string text;
  for (const InstructionSet set : instruction_sets()) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(set));
  }
  return text;
}

InstructionSet best() {
  const char* const wish = std::getenv("FLASHLAB_CPU");
  if (wish == nullptr || *wish == '\0') return instruction_sets().back();
  for (const InstructionSet set : instruction_sets()) {
    if (to_string(set) == wish) return set;
  }
  throw ProblemError("FLASHLAB_CPU", wish, "one that is available: " + names_of_sets());
}

}  // namespace

const KernelTable& kernels_for(InstructionSet set) {
  if (!std::ranges::count(instruction_sets(), set)) {
    throw ProblemError("instruction_set", to_string(set),
                       "one that is available: " + names_of_sets());
  }
#ifdef FLASHLAB_HAS_AVX512
  if (set == InstructionSet::kAvx512) return avx512::kKernels;
#endif
#ifdef FLASHLAB_HAS_AVX2
  if (set == InstructionSet::kAvx2) return avx2::kKernels;
#endif
#ifdef FLASHLAB_HAS_BASELINE
  return baseline::kKernels;
#else
  std::abort();  // rejected above
#endif
}

}  // namespace detail

std::string_view to_string(InstructionSet set) {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<int>(set)];
}

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = detail::find_instruction_sets();
  return sets;
}

InstructionSet best_instruction_set() {
  static const InstructionSet set = detail::best();
  return set;
}

}  // namespace flashlab::cpu
