// One problem, run by kernels and held against the oracle: the textbook in double on the same
// inputs, and the error of the plain implementation in the kernel's precision.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/attention_cpu/generated_case.hpp"
#include "tests/attention_cpu/tolerance.hpp"
#include "tests/attention_cuda/kernels_here.hpp"

namespace flashlab::test {

/// What a result is held against: the oracle, the plain implementation's error, and a floor.
struct Expected {
  std::vector<double> oracle;
  Deviation plain, floor;
};

/// The worst error of each kernel's results in errors of the plain implementation, which
/// FLASHLAB_RATIOS=1 prints.
class WorstErrors {
 public:
  void include(const std::string& what, const Deviation& ours, const Expected& expected,
               const GeneratedCase& generated);
  ~WorstErrors();

 private:
  std::map<std::string, std::pair<double, std::string>> worst_;
};

/// The keys first … end - 1 of a problem.
struct KeyPart {
  std::int64_t first, end;
};

/// Catch2's CHECK for every result; outputs start as NaN and nothing else may be written. With parts
/// of the keys, one call for each, whose state the next one takes.
void check_forward_kernels(WorstErrors& worst, const std::vector<KernelCase>& kernels,
                           const GeneratedCase& generated, const std::vector<KeyPart>& parts = {});
/// With the oracle's O and lse as the forward pass left them.
void check_backward_kernels(WorstErrors& worst, const std::vector<KernelCase>& kernels,
                            const GeneratedCase& generated);
void check_kernels(WorstErrors& worst, Pass pass, const std::vector<KernelCase>& kernels,
                   const GeneratedCase& generated);

/// The kernels of a pass that take a type; FLASHLAB_KERNEL=stem takes one of them.
std::vector<KernelCase> chosen_kernels(Pass pass, DataType dtype);

/// Of a test's cases, each kernel runs every n-th, and each of n kernels begins with another one: so
/// every case is run, and every kernel is. n is FLASHLAB_KERNEL_STEP, by default 1 on a GPU and more
/// in the emulation, where .ci/full takes 1.
class KernelTurns {
 public:
  KernelTurns();
  std::size_t step() const { return step_; }
  /// Of these, the kernels that run the next case.
  std::vector<KernelCase> next(const std::vector<KernelCase>& kernels);

 private:
  std::size_t step_, num_cases_ = 0;
};

}  // namespace flashlab::test
