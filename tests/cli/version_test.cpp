// What `flashlab --version` says, and that one file says which version it is.
#include <regex>
#include <string>

#include "tests/cli/command.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {
namespace {

/// "0.2.0" of CMakeLists.txt.
std::string project_version() {
  static const std::regex kVersion(R"(project\(flashlab VERSION (\d+\.\d+\.\d+) )");
  const std::string text = read_source(kSourceRoot / "CMakeLists.txt");
  std::smatch match;
  REQUIRE(std::regex_search(text, match, kVersion));
  return match[1];
}

}  // namespace

TEST_CASE("the flag --version says version, commit and how flashlab was built") {
  const Outcome outcome = flashlab("--version");
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  static const std::regex kLines(
      "flashlab (\\S+) \\(([0-9a-f]{7,40}(-dirty)?|unknown)\\)\n"
      "built by (g\\+\\+|clang|Apple clang) \\d+\\.\\d+\\.\\d+ with [^,\n]+, \\w+\n"
      "GPU: kernels in a library of their own, which is opened when it is needed\n"
      "CPU: (baseline|avx2|avx512)(, (avx2|avx512))*; in use: (baseline|avx2|avx512)\n");
  INFO(outcome.out);
  std::smatch match;
  REQUIRE(std::regex_match(outcome.out, match, kLines));
  CHECK(match[1] == project_version());
}

TEST_CASE("every version in the sources is the project's") {
  const std::string version = project_version();
  CHECK_THAT(read_source(kSourceRoot / "attention_cuda/flashlab.h"),
             contains("/// \"" + version + "\"\n"));
  const std::string minor = version.substr(0, version.rfind('.'));
  CHECK_THAT(read_source(kSourceRoot / "tests/consumer/CMakeLists.txt"),
             contains("find_package(flashlab " + minor + " REQUIRED)"));
}

}  // namespace flashlab::test
