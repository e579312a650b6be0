#include "committed_result_files.hpp"
#include "results/result_file.hpp"

namespace flashlab::compare {
namespace {

constexpr std::string_view kPrefix = "compare_", kSuffix = ".json";

std::string_view name_of(const EmbeddedFile& file) {
  return file.name.substr(kPrefix.size(), file.name.size() - kPrefix.size() - kSuffix.size());
}

}  // namespace

std::vector<std::string> committed_results() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : committed_result_files) names.emplace_back(name_of(file));
  return names;
}

std::optional<std::string_view> committed_result(std::string_view name) {
  for (const EmbeddedFile& file : committed_result_files) {
    if (name_of(file) == name) return file.text;
  }
  return std::nullopt;
}

}  // namespace flashlab::compare
