// Times each kernel of a call with CUDA events.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/samples.hpp"

struct CUevent_st;

namespace flashlab::cuda {

/// An ExecutionOptions::observer. Events take time themselves: the sum of the kernels' times is
/// less than the time of an observed call, and about that of an unobserved one.
class KernelTimer : public KernelObserver {
 public:
  KernelTimer() = default;
  ~KernelTimer() override;
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;

  void before(std::string_view kernel, Stream stream) override;
  void after(std::string_view kernel, Stream stream) override;

  /// Returns the times of all kernels since the last call, in order. Waits until they have
  /// ended. Throws CudaError.
  std::vector<KernelTime> times();

 private:
  struct Span {
    std::string kernel;
    CUevent_st *start = nullptr, *end = nullptr;
  };
  void forget();

  std::vector<Span> spans_;
  std::string failed_;  // the first CUDA error: observers must not throw
};

}  // namespace flashlab::cuda
