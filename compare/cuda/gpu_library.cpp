// The library's side of compare/rows/gpu_library.hpp: copies tensors, runs the calls, and converts
// exceptions into Outcomes.
#include "compare/rows/gpu_library.hpp"

#include "attention_cuda/flashlab.h"
#include "attention_cuda/ranks/rank_group.hpp"
#include "attention_cuda/ranks/run_on_gpus.hpp"
#include "attention_cuda/timed_call.hpp"
#include "compare/counters/hardware_counters.hpp"
#include "compare/cuda/calibrate.hpp"
#include "compare/cuda/measure.hpp"

namespace flashlab::compare {
namespace {

template <class Work>
Outcome outcome_of(const Work& work) noexcept {
  using Kind = Outcome::Kind;
  try {
    work();
    return {};
  } catch (const ProblemError& error) {
    return {Kind::kProblem, {error.field, error.value, error.expected}};
  } catch (const cuda::CudaError& error) {
    return {Kind::kCuda, {error.call, error.error, error.what()}};
  } catch (const std::bad_alloc& error) {
    return {Kind::kNoMemory, {error.what()}};
  } catch (const std::exception& error) {
    return {Kind::kOther, {error.what()}};
  }
}

/// One tensor on the host and on the device.
struct TensorPair {
  TensorView host, device;
};

void to_gpu(const std::vector<TensorPair>& pairs) {
  for (const auto& [host, device] : pairs) {
    cuda::copy_to_gpu(device.data, host.data, cuda::bytes_of(host));
  }
}

void from_gpu(const std::vector<TensorPair>& pairs) {
  for (const auto& [host, device] : pairs) {
    cuda::copy_from_gpu(host.data, device.data, cuda::bytes_of(host));
  }
}

double run_once(cuda::TimedCall& call, const ForwardTensors& host) {
  const ForwardTensors device = call.tensors().forward();
  to_gpu({{host.Q, device.Q}, {host.K, device.K}, {host.V, device.V}});
  const double ms = call.time_ms();
  from_gpu({{host.O, device.O}, {host.lse, device.lse}});
  return ms;
}

double run_once(cuda::TimedCall& call, const BackwardTensors& host) {
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

cuda::TimedCall timed_call(const GpuCall& call) {
  return cuda::TimedCall(call.variant, call.problem, call.execution);
}

class LoadedGpuLibrary final : public GpuLibrary {
 public:
  Outcome current_gpu(cuda::GpuInfo& result) override {
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
      cuda::use_gpu_of(call.ranks);
      if (call.shards) {
        const cuda::GpusRun run =
            cuda::sample_on_gpus(call.variant, {call.problem, *call.shards}, call.execution, repeat,
                                 seed, call.ranks, call.on_progress);
        result = {run.samples, run.workspace_bytes, run.kernels};
        return;
      }
      cuda::TimedCall timed = timed_call(call);
      result = {cuda::sample(timed, repeat, seed), timed.workspace_bytes(),
                std::string(timed.kernel())};
    });
  }
  Outcome sample_kernels(const GpuCall& call, int repeat, std::uint64_t seed,
                         SampledKernels& result) override {
    return outcome_of([&] {
      cuda::TimedCall timed = timed_call(call);
      result = {cuda::sample_by_kernel(timed, repeat, seed), std::string(timed.kernel())};
    });
  }
  Outcome calibrate(const CalibrationOptions& options, CalibrationResult& result) override {
    return outcome_of([&] { result = compare::calibrate(options); });
  }
  Outcome measure(Row& row, const MachineModel& data_sheet,
                  const MeasureOptions& options) override {
    return outcome_of([&] { compare::measure(row, data_sheet, options); });
  }
  Outcome count(const std::function<void(RangeMarker&)>& call, std::vector<CountedRange>& result,
                std::string& why_not) override {
    return outcome_of([&] { result = count_on_gpu(call, why_not); });
  }

 private:
  template <class Tensors>
  Outcome run_any(const GpuCall& call, const Tensors& host, GpuRun& result) {
    return outcome_of([&] {
      cuda::use_gpu_of(call.ranks);
      if (call.shards) {
        const cuda::GpusRun run = cuda::run_on_gpus(call.variant, {call.problem, *call.shards},
                                                    call.execution, host, call.ranks);
        result = {run.samples.median(), run.workspace_bytes, run.kernels};
        return;
      }
      cuda::TimedCall timed = timed_call(call);
      const double ms = run_once(timed, host);
      result = {ms, timed.workspace_bytes(), std::string(timed.kernel())};
    });
  }
};

}  // namespace
}  // namespace flashlab::compare

extern "C" FLASHLAB_API flashlab::compare::GpuLibrary* flashlab_gpu_library(const char* interface) {
  static flashlab::compare::LoadedGpuLibrary library;
  return interface == flashlab::compare::gpu_interface() ? &library : nullptr;
}
