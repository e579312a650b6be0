#include "attention_cuda/kernel_timer.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {
namespace {

/// Records a new event on the stream. On failure returns null and sets `failed`.
cudaEvent_t event_recorded_for(Stream stream, std::string& failed) {
  cudaEvent_t event = nullptr;
  cudaError_t error = cudaEventCreate(&event);
  if (error == cudaSuccess) error = cudaEventRecord(event, stream);
  if (error != cudaSuccess && failed.empty()) failed = cudaGetErrorString(error);
  return event;
}

}  // namespace

KernelTimer::~KernelTimer() { forget(); }

void KernelTimer::before(std::string_view kernel, Stream stream) {
  spans_.push_back({std::string(kernel), nullptr, nullptr});
  spans_.back().start = event_recorded_for(stream, failed_);
}

void KernelTimer::after(std::string_view, Stream stream) {
  if (!spans_.empty()) spans_.back().end = event_recorded_for(stream, failed_);
}

std::vector<KernelTime> KernelTimer::times() {
  if (!failed_.empty()) throw CudaError("an event around a kernel", failed_);
  std::vector<KernelTime> result;
  for (const Span& span : spans_) {
    check_cuda(cudaEventSynchronize(span.end), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, span.start, span.end), "cudaEventElapsedTime");
    result.push_back({span.kernel, ms});
  }
  forget();
  return result;
}

void KernelTimer::forget() {
  for (const Span& span : spans_) {
    for (const auto event : {span.start, span.end}) {
      if (event != nullptr) cudaEventDestroy(event);
    }
  }
  spans_.clear();
}

}  // namespace flashlab::cuda
