// The time of each kernel of a call, by CUDA events round it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/samples.hpp"

struct CUevent_st;

namespace flashlab::cuda {

/// Goes into ExecutionOptions::observer. Events cost time themselves: what kernels take together is
/// less than a call that is watched, and about what one takes that is not.
class KernelTimer : public KernelObserver {
 public:
  KernelTimer() = default;
  ~KernelTimer() override;
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;

  void before(std::string_view kernel, Stream stream) override;
  void after(std::string_view kernel, Stream stream) override;

  /// Of all kernels since the last time, in their order; waits until they have ended. Throws
  /// CudaError.
  std::vector<KernelTime> times();

 private:
  struct Span {
    std::string kernel;
    CUevent_st *start = nullptr, *end = nullptr;
  };
  void forget();

  std::vector<Span> spans_;
  std::string failed_;  // the first error of a CUDA call: observers are told where none may throw
};

}  // namespace flashlab::cuda
