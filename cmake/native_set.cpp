// Prints the best instruction set of this computer among those that the kernels are compiled for.
#include <cstdio>

int main() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool fma = __builtin_cpu_supports("fma");
  if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    std::fputs("avx512", stdout);
    return 0;
  }
  if (fma && __builtin_cpu_supports("avx2")) {
    std::fputs("avx2", stdout);
    return 0;
  }
#endif
  std::fputs("baseline", stdout);
  return 0;
}
