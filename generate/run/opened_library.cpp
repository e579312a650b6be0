#include "generate/run/opened_library.hpp"

#include <cstdlib>

#include "text/lists.hpp"

namespace flashlab::generate {
namespace {

std::vector<std::string> library_folders() {
  std::vector<std::string> folders = {""};
  const auto add_toolkit = [&](const std::string& toolkit) {
    folders.push_back(toolkit + "/lib64/");
    folders.push_back(toolkit + "/lib/");
  };
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const toolkit = std::getenv(variable)) add_toolkit(toolkit);
  }
  add_toolkit("/usr/local/cuda");
  return folders;
}

std::vector<std::string> library_paths(const char* variable,
                                       const std::vector<std::string>& names) {
  const char* const wish = std::getenv(variable);
  if (wish != nullptr && *wish != '\0') return {wish};
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    for (const std::string& folder : library_folders()) paths.push_back(folder + name);
  }
  return paths;
}

}  // namespace

OpenedLibrary::OpenedLibrary(const char* variable, const std::vector<std::string>& names,
                             const std::string& what, const std::string& remedy)
    : library_(library_paths(variable, names)) {
  if (library_) return;
  const char* const wish = std::getenv(variable);
  const bool is_wish = wish != nullptr && *wish != '\0';
  throw GpuUnavailable("no " + what + ": " +
                       (is_wish ? std::string(variable) + " is " + wish + ", which cannot be opened"
                                : joined(names, ", ") + " cannot be opened") +
                       "; " + remedy);
}

}  // namespace flashlab::generate
