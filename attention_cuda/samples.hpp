// Times of calls and of their kernels: plain records, which need no CUDA.
#pragma once

#include <string>
#include <vector>

namespace flashlab::cuda {

/// Milliseconds of each call, in the order of measurement.
struct Samples {
  std::vector<double> ms;

  double median() const;
  double least() const;
  double most() const;
};

struct KernelTime {
  std::string kernel;
  double ms = 0;
};

/// All kernels of one name.
struct KernelTotal {
  std::string kernel;
  int num_calls = 0;
  double ms = 0;
};

/// Returns totals by name, in the order of each name's first call.
std::vector<KernelTotal> totals(const std::vector<KernelTime>& times);

}  // namespace flashlab::cuda
