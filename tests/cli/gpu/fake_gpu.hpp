// The command on a GPU that the emulation plays.
#pragma once

#include <string>

#include "tests/cli/command.hpp"

namespace flashlab::test {

/// A folder for compiled kernels, and the command on a GPU that behaves as `wishes` say.
class FakeGpu {
 public:
  Outcome gpu(const std::string& arguments, const std::string& wishes = "none",
              const std::string& environment = {}) const {
    return flashlab("gpu " + arguments, wishes, environment);
  }
  Outcome flashlab(const std::string& arguments, const std::string& wishes = "none",
                   const std::string& environment = {}) const {
    const std::string fake = FLASHLAB_FAKE_CUDA;
    return place_.shell(environment + " FLASHLAB_CUDA_DRIVER=" + fake + " FLASHLAB_NVRTC=" + fake +
                        " FLASHLAB_FAKE_FOLDER=$PWD FLASHLAB_FAKE_GPU='" + wishes + "' flashlab " +
                        arguments);
  }
  const Workplace& place() const { return place_; }

 private:
  Workplace place_;
};

}  // namespace flashlab::test
