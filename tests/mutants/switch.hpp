// Included before every source of the build with mutants: decides at run time which one is alive.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace flashlab_mutants {

/// Mutants are counted from 1, so that what runs before `state` is set has none.
struct State {
  int alive = 0;
  unsigned char* reached = nullptr;  // a file that a test's processes share, a byte for each mutant
};

inline State read_state() {
  State state;
  if (const char* alive = std::getenv("FLASHLAB_MUTANT")) state.alive = std::atoi(alive);
  if (const char* path = std::getenv("FLASHLAB_MUTANTS_REACHED")) {
    constexpr std::size_t kMostMutants = 4096;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void* const bytes =
        file < 0 ? MAP_FAILED
                 : mmap(nullptr, kMostMutants, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED) state.reached = static_cast<unsigned char*>(bytes);
    if (file >= 0) close(file);
  }
  return state;
}

inline const State state = read_state();

/// Whether to run the mutant in place of the original. In a constant expression never.
constexpr bool alive(int mutant) {
  if (__builtin_is_constant_evaluated()) return false;
  if (state.reached != nullptr) state.reached[mutant] = 1;
  return state.alive == mutant;
}

}  // namespace flashlab_mutants
