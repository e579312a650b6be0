// What timed calls take, and their kernels: plain records, which need no CUDA.
#pragma once

#include <string>
#include <vector>

namespace flashlab::cuda {

/// Milliseconds of one call each, in the order in which they were taken.
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

/// The kernels of one name together.
struct KernelTotal {
  std::string kernel;
  int num_calls = 0;
  double ms = 0;
};

/// By name, in the order of the first call of each.
std::vector<KernelTotal> totals(const std::vector<KernelTime>& times);

}  // namespace flashlab::cuda
