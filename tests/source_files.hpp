// The repository's sources, for tests that read them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

namespace fs = std::filesystem;

inline const fs::path kSourceRoot = FLASHLAB_SOURCE_DIR;

inline std::string read_source(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The C++ and CUDA sources of one folder, as paths relative to the repository.
inline std::vector<fs::path> sources_of(const std::string& folder) {
  static const std::set<std::string> kExtensions = {".hpp", ".cpp", ".cuh", ".cu"};
  std::vector<fs::path> result;
  for (const auto& entry : fs::recursive_directory_iterator(kSourceRoot / folder)) {
    if (kExtensions.contains(entry.path().extension().string())) {
      result.push_back(fs::relative(entry.path(), kSourceRoot));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

inline bool is_benchmark(const fs::path& path) {
  return std::find(path.begin(), path.end(), fs::path("bench")) != path.end();
}

/// A folder and those in it that have sources, without its benchmarks.
inline std::vector<std::string> with_folders_inside(const std::string& folder) {
  std::vector<std::string> result = {folder};
  for (const fs::path& source : sources_of(folder)) {
    const std::string inner = source.parent_path().string();
    if (!is_benchmark(source) && inner != result.back()) result.push_back(inner);
  }
  return result;
}

}  // namespace flashlab::test
