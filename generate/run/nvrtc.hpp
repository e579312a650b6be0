// NVRTC, CUDA's compiler as a library, opened when it is needed. It needs no GPU.
//
// Source  NVRTC documentation
#pragma once

#include <cstdint>
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

/// What is compiled for a compute capability.
enum class CodeKind : std::uint8_t {
  kMachineCode,  // PTX if the capability is newer than the compiler
  kOfThisAlone,  // machine code, with what only this capability has ("sm_90a")
  kPtx,          // which the driver of this and of each later GPU translates
};

struct CompileTarget {
  int compute_capability = 0;  // 90 for 9.0
  CodeKind kind = CodeKind::kMachineCode;
};

/// Compiles a source. Errors: GpuUnavailable if there is no NVRTC, or the capability is older than all
/// that it knows, or unknown and needed as it is; CompileError.
CompiledSource compile(const std::string& source, const std::string& name,
                       const CompileTarget& target);

}  // namespace flashlab::generate
