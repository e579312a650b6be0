// Shared libraries of CUDA, opened when they are needed: nothing links against them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "system/opened_library.hpp"

namespace flashlab::generate {

/// There is no GPU, no driver, or a library is missing. what(): one line that says what to install.
class GpuUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class OpenedLibrary {
 public:
  /// Opens $`variable` if it is set, otherwise the first of `names` in the folders of the dynamic
  /// linker, in $CUDA_HOME, in $CUDA_PATH, or in /usr/local/cuda. Throws GpuUnavailable: "no `what`
  /// (…): …; `remedy`".
  OpenedLibrary(const char* variable, const std::vector<std::string>& names,
                const std::string& what, const std::string& remedy);

  /// Sets `pointer` to a function of the library. Throws GpuUnavailable.
  template <class Function>
  void find(Function*& pointer, const char* name) const {
    if (!library_.find(pointer, name)) {
      throw GpuUnavailable(library_.path() + " has no " + name + ": it is too old");
    }
  }
  /// The same, and null if the library is older than the function.
  template <class Function>
  void find_if_there(Function*& pointer, const char* name) const {
    library_.find(pointer, name);
  }

 private:
  system::OpenedLibrary library_;
};

}  // namespace flashlab::generate
