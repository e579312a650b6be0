#include "cli/options/version.hpp"

#include "toymachine/execute/lanes.hpp"

namespace flashlab::cli {
namespace {

std::string compiler() {
#if defined(__apple_build_version__)
  const std::string name = "Apple clang ";
#elif defined(__clang__)
  const std::string name = "clang ";
#else
  const std::string name = "g++ ";
#endif
#if defined(__clang__)
  return name + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#else
  return name + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

std::string standard_library() {
#if defined(_LIBCPP_VERSION)
  constexpr int kMajor = _LIBCPP_VERSION / (_LIBCPP_VERSION < 100'000 ? 1000 : 10'000);
  return "libc++ " + std::to_string(kMajor);
#elif defined(_GLIBCXX_RELEASE)
  return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
#else
  return "another standard library";
#endif
}

}  // namespace

const char* version() { return FLASHLAB_VERSION; }

std::string version_text() {
  std::string text = std::string("flashlab ") + version() + " (" + commit() + ")\n";
  text += "built by " + compiler() + " with " + standard_library() + ", " FLASHLAB_BUILD_TYPE "\n";
  text += "GPU: kernels in a library of their own, which is opened when it is needed\n";
  return text + "CPU: " FLASHLAB_INSTRUCTION_SETS "; in use: " +
         std::string(toy::instruction_set_in_use());
}

}  // namespace flashlab::cli
