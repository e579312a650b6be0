// Shared libraries that are opened when they are needed: nothing links against them. Who opens one
// says which error is thrown if there is none.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

namespace flashlab::system {

/// It is never closed, because its code may still run when the process ends.
class OpenedLibrary {
 public:
  OpenedLibrary() = default;
  /// Opens the first of these that can be opened: paths, or names that the dynamic linker looks
  /// for.
  explicit OpenedLibrary(const std::vector<std::string>& candidates) {
    for (const std::string& candidate : candidates) {
      path_ = candidate;
      handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      const char* const error = dlerror();
      why_not_ = error == nullptr ? candidate : error;
    }
  }
  /// Returns the library of this name that the process has opened, or none.
  static OpenedLibrary of_process(const std::string& name) {
    OpenedLibrary result;
    result.path_ = name;
    result.handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    return result;
  }

  explicit operator bool() const { return handle_ != nullptr; }
  /// Returns the candidate that was opened.
  const std::string& path() const { return path_; }
  /// Returns why the last candidate could not be opened.
  const std::string& why_not() const { return why_not_; }

  /// Sets `pointer` to a function of the library; to null and returns false if it has none.
  template <class Function>
  bool find(Function*& pointer, const char* name) const {
    pointer = handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
    return pointer != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string path_, why_not_;
};

}  // namespace flashlab::system
