// An NVRTC that calls the C++ compiler: it builds a library of the kernels for flashlab's emulation.
// Its cubin is the library's path. Libraries stay in $FLASHLAB_FAKE_FOLDER, for the next call with the
// same source.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

struct FakeProgram {
  std::string source, log, built_file;
};

FakeProgram* program_of(void* handle) { return static_cast<FakeProgram*>(handle); }

std::string own_path() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_path), &info);
  return info.dli_fname;
}

constexpr const char* kLaunches = R"(
template <class... Parameters, std::size_t... kIndices>
int launch_places(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...), void** places,
                  std::index_sequence<kIndices...>) {
  return cudaLaunchKernelEx(&config, kernel, *static_cast<Parameters*>(places[kIndices])...);
}
template <class... Parameters>
int launch_places(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...), void** places) {
  return launch_places(config, kernel, places, std::index_sequence_for<Parameters...>());
}
)";

std::string launches_of(const std::string& source) {
  static const std::regex kKernel(
      R"re(__global__ void (?:__launch_bounds__\([\d, ]+\) )?(\w+)\()re");
  std::string text = kLaunches;
  for (std::sregex_iterator match(source.begin(), source.end(), kKernel), end; match != end;
       ++match) {
    const std::string name = (*match)[1].str();
    text += "extern \"C\" int fake_launch_" + name +
            "(const cudaLaunchConfig_t& config, void** places) {\n  return launch_places(config, " +
            name + ", places);\n}\n";
  }
  return text;
}

bool build(FakeProgram& program) {
  const char* const wish = std::getenv("FLASHLAB_FAKE_FOLDER");
  const fs::path folder = wish != nullptr ? wish : fs::temp_directory_path();
  const std::string name = "nvrtc_" + std::to_string(std::hash<std::string>()(program.source));
  const fs::path source = folder / (name + ".cpp"), log = folder / (name + ".log");
  const fs::path library = folder / (name + ".so");
  program.built_file = library.string();
  if (fs::exists(library)) return true;
  std::ofstream(source) << "#include <cuda_runtime.h>\n#include <utility>\n"
                        << "#include \"attention_cuda/emulation/tensor_core.hpp\"\n"
                        << "#include \"attention_cuda/ptx/bulk_copy.cuh\"\n"
                        << "#include \"attention_cuda/ptx/mbarrier.cuh\"\n"
                        << "#include \"attention_cuda/ptx/warpgroup.cuh\"\n"
                        << "#include \"attention_cuda/ptx/wgmma.cuh\"\n"
                        << program.source << launches_of(program.source);
  const std::string command =
      FLASHLAB_COMPILER
      " -std=c++20 -O0 -w -fPIC -shared -ffp-contract=off -fno-strict-aliasing"
      " -I '" FLASHLAB_SOURCE_DIR "/attention_cuda/emulation' -I '" FLASHLAB_SOURCE_DIR "' -o '" +
      library.string() + "' '" + source.string() + "' '" + own_path() + "' > '" + log.string() +
      "' 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream messages(log);
  program.log.assign(std::istreambuf_iterator<char>(messages), {});
  return status == 0;
}

int copy_text(const std::string& text, char* to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(int) { return "an error of the fake NVRTC"; }
int nvrtcVersion(int* major, int* minor) {
  *major = *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
int nvrtcGetSupportedArchs(int* architectures) {
  architectures[0] = 75;
  architectures[1] = 90;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new FakeProgram{source, {}, {}};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete program_of(*program);
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  return build(*program_of(program)) ? 0 : 6;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = program_of(program)->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  return copy_text(program_of(program)->log, log);
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = program_of(program)->built_file.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(void* program, char* cubin) {
  return copy_text(program_of(program)->built_file, cubin);
}
int nvrtcGetPTXSize(void* program, std::size_t* size) { return nvrtcGetCUBINSize(program, size); }
int nvrtcGetPTX(void* program, char* ptx) { return nvrtcGetCUBIN(program, ptx); }

}  // extern "C"
