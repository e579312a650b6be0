#include "generate/run/nvrtc.hpp"

#include <algorithm>
#include <chrono>

namespace flashlab::generate {
namespace {

using ProgramHandle = struct NvrtcHandle*;

struct Nvrtc {
  const char* (*nvrtcGetErrorString)(int result);
  int (*nvrtcVersion)(int* major, int* minor);
  int (*nvrtcGetNumSupportedArchs)(int* count);
  int (*nvrtcGetSupportedArchs)(int* architectures);
  int (*nvrtcCreateProgram)(ProgramHandle* program, const char* source, const char* name,
                            int num_headers, const char* const* headers, const char* const* names);
  int (*nvrtcDestroyProgram)(ProgramHandle* program);
  int (*nvrtcCompileProgram)(ProgramHandle program, int num_options, const char* const* options);
  int (*nvrtcGetProgramLogSize)(ProgramHandle program, std::size_t* size);
  int (*nvrtcGetProgramLog)(ProgramHandle program, char* log);
  int (*nvrtcGetCUBINSize)(ProgramHandle program, std::size_t* size);
  int (*nvrtcGetCUBIN)(ProgramHandle program, char* cubin);
  int (*nvrtcGetPTXSize)(ProgramHandle program, std::size_t* size);
  int (*nvrtcGetPTX)(ProgramHandle program, char* ptx);

  void check(int result, const std::string& call) const {
    if (result != 0) throw CompileError(call + ": " + nvrtcGetErrorString(result));
  }
};

Nvrtc open_nvrtc() {
  const OpenedLibrary library(
      "FLASHLAB_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
      "NVRTC (CUDA's compiler as a library)",
      "it is part of the CUDA Toolkit: the package cuda-nvrtc-13-0 of NVIDIA, or nvidia-cuda-nvrtc "
      "of pip; FLASHLAB_NVRTC may name its file");
  Nvrtc nvrtc{};
#define FLASHLAB_FIND(name) library.find(nvrtc.name, #name)
  FLASHLAB_FIND(nvrtcGetErrorString);
  FLASHLAB_FIND(nvrtcVersion);
  FLASHLAB_FIND(nvrtcGetNumSupportedArchs);
  FLASHLAB_FIND(nvrtcGetSupportedArchs);
  FLASHLAB_FIND(nvrtcCreateProgram);
  FLASHLAB_FIND(nvrtcDestroyProgram);
  FLASHLAB_FIND(nvrtcCompileProgram);
  FLASHLAB_FIND(nvrtcGetProgramLogSize);
  FLASHLAB_FIND(nvrtcGetProgramLog);
  FLASHLAB_FIND(nvrtcGetCUBINSize);
  FLASHLAB_FIND(nvrtcGetCUBIN);
  FLASHLAB_FIND(nvrtcGetPTXSize);
  FLASHLAB_FIND(nvrtcGetPTX);
#undef FLASHLAB_FIND
  return nvrtc;
}

/// "sm_90" for a GPU that NVRTC knows, "compute_90" for PTX and for a GPU that is newer.
std::string architecture_for(const Nvrtc& nvrtc, const CompileTarget& target) {
  const int compute_capability = target.compute_capability;
  int count = 0;
  nvrtc.check(nvrtc.nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> known(static_cast<std::size_t>(std::max(count, 0)));
  nvrtc.check(nvrtc.nvrtcGetSupportedArchs(known.data()), "nvrtcGetSupportedArchs");
  std::sort(known.begin(), known.end());
  const auto next = std::upper_bound(known.begin(), known.end(), compute_capability);
  const bool is_known = std::binary_search(known.begin(), known.end(), compute_capability);
  const std::string number = std::to_string(compute_capability);
  if (target.kind == CodeKind::kOfThisAlone && is_known) return "sm_" + number + "a";
  if (target.kind == CodeKind::kPtx && is_known) return "compute_" + number;
  if (next == known.begin() || target.kind != CodeKind::kMachineCode) {
    throw GpuUnavailable("this NVRTC cannot compile for compute capability " +
                         std::to_string(compute_capability / 10) + "." +
                         std::to_string(compute_capability % 10) + ": " +
                         (next == known.begin() ? "an older" : "a newer") + " CUDA Toolkit can");
  }
  const int best = *(next - 1);
  return (best == compute_capability ? "sm_" : "compute_") + std::to_string(best);
}

class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& nvrtc, const std::string& source, const std::string& name)
      : nvrtc_(nvrtc) {
    nvrtc.check(
        nvrtc.nvrtcCreateProgram(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  }
  ~NvrtcProgram() { nvrtc_.nvrtcDestroyProgram(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  void compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), "--std=c++17", "--fmad=false"};
    if (nvrtc_.nvrtcCompileProgram(program_, 3, options) == 0) return;
    throw CompileError(log());
  }
  std::string image(bool is_ptx) const {
    const auto size_of = is_ptx ? nvrtc_.nvrtcGetPTXSize : nvrtc_.nvrtcGetCUBINSize;
    const auto get = is_ptx ? nvrtc_.nvrtcGetPTX : nvrtc_.nvrtcGetCUBIN;
    std::size_t size = 0;
    nvrtc_.check(size_of(program_, &size), "the size of the compiled code");
    std::string image(size, '\0');
    nvrtc_.check(get(program_, image.data()), "the compiled code");
    return image;
  }

 private:
  std::string log() const {
    std::size_t size = 0;
    if (nvrtc_.nvrtcGetProgramLogSize(program_, &size) != 0 || size == 0) return "no messages";
    std::string text(size, '\0');
    nvrtc_.nvrtcGetProgramLog(program_, text.data());
    return text.c_str();
  }

  const Nvrtc& nvrtc_;
  ProgramHandle program_ = nullptr;
};

}  // namespace

CompiledSource compile(const std::string& source, const std::string& name,
                       const CompileTarget& target) {
  static const Nvrtc nvrtc = open_nvrtc();
  CompiledSource result;
  int major = 0, minor = 0;
  nvrtc.check(nvrtc.nvrtcVersion(&major, &minor), "nvrtcVersion");
  result.version = std::to_string(major) + "." + std::to_string(minor);
  result.architecture = architecture_for(nvrtc, target);
  const auto start = std::chrono::steady_clock::now();
  NvrtcProgram program(nvrtc, source, name);
  program.compile(result.architecture);
  result.image = program.image(result.architecture.starts_with("compute_"));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace flashlab::generate
