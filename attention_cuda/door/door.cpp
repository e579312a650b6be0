#include "attention_cuda/door/door.hpp"

#include <cstdlib>
#include <filesystem>

#include "attention_cuda/door/crossing.hpp"
#include "system/opened_library.hpp"

namespace flashlab::cuda::door {
namespace {

#ifdef __APPLE__
constexpr const char* kLibraryName = "libflashlab_cuda.dylib";
#else
constexpr const char* kLibraryName = "libflashlab_cuda.so";
#endif

constexpr const char* kHowToGetIt =
    "; `./lab gpu` builds it if nvcc is installed (CUDA Toolkit 12.4 or later); --device cpu and "
    "--measured do not need it";

std::filesystem::path folder_of_command() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<std::filesystem::path> candidate_libraries() {
  const char* const wish = std::getenv("FLASHLAB_CUDA_LIBRARY");
  if (wish != nullptr && *wish != '\0') return {wish};
  const std::filesystem::path folder = folder_of_command();
  std::vector<std::filesystem::path> result;
  constexpr const char* kInstalled = "../" FLASHLAB_LIBRARY_FOLDER;
  for (const char* const relative :
       {".", "../lib/flashlab", "../lib", kInstalled, "../attention_cuda"}) {
    result.push_back((folder / relative / kLibraryName).lexically_normal());
  }
  return result;
}

/// The library's path; empty: not found.
std::filesystem::path find_library() {
  std::error_code ignored;
  for (const std::filesystem::path& path : candidate_libraries()) {
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return {};
}

system::OpenedLibrary open_gpu_library() {
  const std::string why_not = why_no_library();
  if (!why_not.empty()) throw GpuLibraryMissing(why_not);
  const system::OpenedLibrary library({find_library().string()});
  if (library) return library;
  throw GpuLibraryMissing("the GPU kernels cannot be loaded: " + library.why_not());
}

GpuLibrary& gpu_library() {
  static GpuLibrary& library =
      *static_cast<GpuLibrary*>(enter(kGpuLibraryEntrance, gpu_library_interface()));
  return library;
}

}  // namespace

void* enter(const char* entrance, const std::string& interface) {
  static const system::OpenedLibrary library = open_gpu_library();
  Entrance function = nullptr;
  if (!library.find(function, entrance)) {
    // Of FLASHLAB_ONLY_CUDA, which leaves out what compare measures.
    throw GpuLibraryMissing(library.path() + " has no " + entrance +
                            ": it was built without this command" + kHowToGetIt);
  }
  void* const found = function(interface.c_str());
  if (found != nullptr) return found;
  throw GpuLibraryMissing(library.path() + " is not of the same build as this command (" +
                          interface + ")" + kHowToGetIt);
}

void raise(const Outcome& outcome) {
  const auto text = [&](std::size_t k) { return outcome.texts.at(k); };
  switch (outcome.kind) {
    case Outcome::Kind::kGood:
      return;
    case Outcome::Kind::kProblem:
      throw ProblemError(text(0), text(1), text(2));
    case Outcome::Kind::kCuda:
      throw CudaError(text(0), text(1), text(2));
    case Outcome::Kind::kNoMemory:
      throw NoDeviceMemory(text(0));
    case Outcome::Kind::kOther:
      break;
  }
  throw std::runtime_error(text(0));
}

std::string why_no_library() {
  if (!find_library().empty()) return {};
  return "no GPU kernels (CUDA): " + candidate_libraries().front().string() + " does not exist" +
         kHowToGetIt;
}

GpuInfo current_gpu() {
  GpuInfo result;
  raise(gpu_library().current_gpu(result));
  return result;
}

GpuRun run(const GpuCall& call, const ForwardTensors& host) {
  GpuRun result;
  raise(gpu_library().run(call, host, result));
  return result;
}

GpuRun run(const GpuCall& call, const BackwardTensors& host) {
  GpuRun result;
  raise(gpu_library().run(call, host, result));
  return result;
}

SampledCall sample(const GpuCall& call, int repeat, std::uint64_t seed) {
  SampledCall result;
  raise(gpu_library().sample(call, repeat, seed, result));
  return result;
}

SampledKernels sample_kernels(const GpuCall& call, int repeat, std::uint64_t seed) {
  SampledKernels result;
  raise(gpu_library().sample_kernels(call, repeat, seed, result));
  return result;
}

}  // namespace flashlab::cuda::door
