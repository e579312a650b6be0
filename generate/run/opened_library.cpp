#include "generate/run/opened_library.hpp"

#include <dlfcn.h>

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
                             const std::string& what, const std::string& remedy) {
  for (const std::string& path : library_paths(variable, names)) {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    path_ = path;
    if (library_ != nullptr) return;
  }
  const char* const wish = std::getenv(variable);
  const bool is_wish = wish != nullptr && *wish != '\0';
  throw GpuUnavailable("no " + what + ": " +
                       (is_wish ? std::string(variable) + " is " + wish + ", which cannot be opened"
                                : joined(names, ", ") + " cannot be opened") +
                       "; " + remedy);
}

void* OpenedLibrary::address_or_null(const char* name) const { return dlsym(library_, name); }

void* OpenedLibrary::address_of(const char* name) const {
  void* const symbol = address_or_null(name);
  if (symbol == nullptr) throw GpuUnavailable(path_ + " has no " + name + ": it is too old");
  return symbol;
}

}  // namespace flashlab::generate
