// NVRTC, CUDA's compiler as a library, opened when it is needed. It needs no GPU.
//
// Source  NVRTC documentation
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "generate/run/opened_library.hpp"

namespace flashlab::generate {

/// The compiler refused a source. what(): the name of the source and the compiler's messages.
class CompileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CompiledSource {
  std::string image;         // a cubin, or PTX as text that ends with a zero
  std::string architecture;  // "sm_90"; "compute_90": PTX
  std::string version;       // of NVRTC: "13.0"
  double seconds = 0;
};

/// Compiles for a GPU of this compute capability (90 for 9.0). A GPU that is newer than the compiler
/// gets PTX, which its driver translates. `for_this_alone`: with what only GPUs of this capability
/// have ("sm_90a"). Errors: GpuUnavailable if there is no NVRTC, or the GPU is older than all that it
/// knows, or unknown and `for_this_alone`; CompileError.
CompiledSource compile(const std::string& source, const std::string& name, int compute_capability,
                       bool for_this_alone = false);

}  // namespace flashlab::generate
