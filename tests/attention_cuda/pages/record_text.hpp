// The text of committed records of what kernels did in the emulation. Pictures are drawn from them
// (attention_cuda/bench/kernel_pictures.py). FLASHLAB_UPDATE_DOCS=1 in the environment writes them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

/// [1, 2, 3]
template <class Values>
std::string list(const Values& values) {
  std::string text;
  for (const auto& value : values) {
    std::ostringstream one;
    one << value;
    text += (text.empty() ? "" : ", ") + one.str();
  }
  return "[" + text + "]";
}

/// Lists below each other.
inline std::string lists(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += (text.empty() ? "\n      " : ",\n      ") + row;
  return "[" + text + "]";
}

template <class Value>
std::string row_lists(const std::vector<std::vector<Value>>& rows) {
  std::vector<std::string> texts;
  for (const std::vector<Value>& row : rows) texts.push_back(list(row));
  return lists(texts);
}

inline std::string in_marks(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// The record in docs/results is this text.
inline void check_record(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(FLASHLAB_SOURCE_DIR) / "docs/results" / name;
  const char* const update = std::getenv("FLASHLAB_UPDATE_DOCS");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(file),
                              std::istreambuf_iterator<char>()};
  CHECK(committed == text);
}

}  // namespace flashlab::test
