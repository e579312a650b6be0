// The library's side of the door: copies tensors, runs the calls, and converts exceptions into
// Outcomes.
#include "attention_cuda/door/crossing.hpp"
#include "attention_cuda/flashlab.h"
#include "attention_cuda/ranks/rank_group.hpp"
#include "attention_cuda/ranks/run_on_gpus.hpp"
#include "attention_cuda/timed_call.hpp"

namespace flashlab::cuda::door {
namespace {

/// One tensor on the host and on the device.
struct TensorPair {
  TensorView host, device;
};

void to_gpu(const std::vector<TensorPair>& pairs) {
  for (const auto& [host, device] : pairs) {
    copy_to_gpu(device.data, host.data, bytes_of(host));
  }
}

void from_gpu(const std::vector<TensorPair>& pairs) {
  for (const auto& [host, device] : pairs) {
    copy_from_gpu(host.data, device.data, bytes_of(host));
  }
}

double run_once(TimedCall& call, const ForwardTensors& host) {
  const ForwardTensors device = call.tensors().forward();
  to_gpu({{host.Q, device.Q}, {host.K, device.K}, {host.V, device.V}});
  const double ms = call.time_ms();
  from_gpu({{host.O, device.O}, {host.lse, device.lse}});
  return ms;
}

double run_once(TimedCall& call, const BackwardTensors& host) {
  const BackwardTensors device = call.tensors().backward();
  to_gpu({{host.Q, device.Q},
          {host.K, device.K},
          {host.V, device.V},
          {host.O, device.O},
          {host.lse, device.lse},
          {host.dO, device.dO}});
  const double ms = call.time_ms();
  from_gpu({{host.dQ, device.dQ}, {host.dK, device.dK}, {host.dV, device.dV}});
  return ms;
}

TimedCall timed_call(const GpuCall& call) {
  return TimedCall(call.variant, call.problem, call.execution);
}

class LoadedGpuLibrary final : public GpuLibrary {
 public:
  Outcome current_gpu(GpuInfo& result) override {
    return outcome_of([&] { result = cuda::current_gpu(); });
  }
  Outcome run(const GpuCall& call, const ForwardTensors& host, GpuRun& result) override {
    return run_any(call, host, result);
  }
  Outcome run(const GpuCall& call, const BackwardTensors& host, GpuRun& result) override {
    return run_any(call, host, result);
  }
  Outcome sample(const GpuCall& call, int repeat, std::uint64_t seed,
                 SampledCall& result) override {
    return outcome_of([&] {
      use_gpu_of(call.ranks);
      if (call.shards) {
        const GpusRun run =
            sample_on_gpus(call.variant, {call.problem, *call.shards}, call.execution, repeat, seed,
                           call.ranks, call.on_progress);
        result = {run.samples, run.workspace_bytes, run.kernels};
        return;
      }
      TimedCall timed = timed_call(call);
      result = {cuda::sample(timed, repeat, seed), timed.workspace_bytes(),
                std::string(timed.kernel())};
    });
  }
  Outcome sample_kernels(const GpuCall& call, int repeat, std::uint64_t seed,
                         SampledKernels& result) override {
    return outcome_of([&] {
      TimedCall timed = timed_call(call);
      result = {sample_by_kernel(timed, repeat, seed), std::string(timed.kernel())};
    });
  }

 private:
  template <class Tensors>
  Outcome run_any(const GpuCall& call, const Tensors& host, GpuRun& result) {
    return outcome_of([&] {
      use_gpu_of(call.ranks);
      if (call.shards) {
        const GpusRun run = run_on_gpus(call.variant, {call.problem, *call.shards}, call.execution,
                                        host, call.ranks);
        result = {run.samples.median(), run.workspace_bytes, run.kernels};
        return;
      }
      TimedCall timed = timed_call(call);
      const double ms = run_once(timed, host);
      result = {ms, timed.workspace_bytes(), std::string(timed.kernel())};
    });
  }
};

}  // namespace
}  // namespace flashlab::cuda::door

extern "C" FLASHLAB_API void* flashlab_gpu_library(const char* interface) {
  static flashlab::cuda::door::LoadedGpuLibrary library;
  static flashlab::cuda::door::GpuLibrary& entered = library;
  return interface == flashlab::cuda::door::gpu_library_interface() ? &entered : nullptr;
}
