// Events between streams.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {

/// An event that several threads may hold.
using SharedEvent = std::shared_ptr<CUevent_st>;

/// Returns an event that happens when the stream's work so far has ended. Throws CudaError.
inline SharedEvent recorded_event(Stream stream) {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const SharedEvent shared(event, [](cudaEvent_t owned) { cudaEventDestroy(owned); });
  check_cuda(cudaEventRecord(event, stream), "cudaEventRecord");
  return shared;
}

/// Later work on the stream waits for the event.
inline void wait_on_stream(Stream stream, const SharedEvent& event) {
  check_cuda(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

inline bool has_happened(const SharedEvent& event) {
  return cudaEventQuery(event.get()) == cudaSuccess;
}

}  // namespace flashlab::cuda
