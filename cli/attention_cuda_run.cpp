#include "cli/attention_cuda_run.hpp"

#include <algorithm>

#include "cli/failure.hpp"

namespace flashlab::cli {
namespace {

Failure failure_of(const ProblemError& error) {
  return request_failure(error.field + ": " + error.value, error.expected);
}

/// What the library refuses is the request's fault, memory that is not there a limit, and a result
/// with NaN or a launch that failed an error of the program.
template <class Work>
auto or_failure(const Work& work) {
  try {
    return work();
  } catch (const ProblemError& error) {
    throw failure_of(error);
  } catch (const std::bad_alloc& error) {
    throw Failure(kExitLimit, std::string("flashlab: error: ") + error.what() + "\n");
  } catch (const std::runtime_error& error) {
    throw Failure(kExitProgramWrong, std::string("flashlab: error: ") + error.what() + "\n");
  }
}

cuda::Products products_of(const AttentionRequest& request) {
  for (const auto products : {cuda::Products::kTensorFloat32, cuda::Products::kTensorFloat32x3}) {
    if (to_string(products) == request.gpu.products) return products;
  }
  return cuda::Products::kNative;
}

/// Of a variant that was asked for; one that only prepares for it has the same products.
cuda::ExecutionOptions execution_of(const AttentionRequest& request, std::string_view variant) {
  cuda::ExecutionOptions execution;
  execution.products = products_of(request);
  const auto is_variant = [&](const VariantInfo* asked) { return asked->name == variant; };
  if (std::none_of(request.variants.begin(), request.variants.end(), is_variant)) return execution;
  execution.kernel = request.gpu.kernel;
  execution.num_splits = request.gpu.num_splits;
  execution.round_statistics = request.gpu.round_statistics;
  return execution;
}

/// One tensor here and there.
struct Pair {
  TensorView host, device;
};

void to_gpu(const std::vector<Pair>& pairs) {
  for (const auto& [host, device] : pairs) {
    cuda::copy_to_gpu(device.data, host.data, cuda::bytes_of(host));
  }
}

void from_gpu(const std::vector<Pair>& pairs) {
  for (const auto& [host, device] : pairs) {
    cuda::copy_from_gpu(host.data, device.data, cuda::bytes_of(host));
  }
}

double run_forward(cuda::TimedCall& call, const ForwardTensors& host) {
  const ForwardTensors device = call.tensors().forward();
  to_gpu({{host.Q, device.Q}, {host.K, device.K}, {host.V, device.V}});
  const double ms = call.time_ms();
  from_gpu({{host.O, device.O}, {host.lse, device.lse}});
  return ms;
}

double run_backward(cuda::TimedCall& call, const BackwardTensors& host) {
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

MeasuredKernel measure(const AttentionRequest& request, const VariantInfo& variant, int repeat,
                       const cuda::GpuInfo& gpu) {
  cuda::TimedCall call(variant.name, request.problem, execution_of(request, variant.name));
  MeasuredKernel result;
  result.variant = variant.name;
  result.kernel = call.kernel();
  result.workspace_bytes = call.workspace_bytes();
  result.samples = cuda::sample(call, repeat, request.seed);
  result.flops =
      static_cast<double>(variant.pass == Pass::kForward ? forward_flops(request.problem)
                                                         : backward_flops(request.problem));
  result.peak = cuda::peak_rates(gpu.name, {request.problem.dtype, products_of(request)});
  if (result.peak) {
    result.floor_ms = cuda::floor_ms(variant.pass, request.problem, *result.peak);
  }
  return result;
}

}  // namespace

cuda::GpuInfo gpu_or_failure() {
  try {
    return cuda::current_gpu();
  } catch (const cuda::CudaError& error) {
    throw request_failure("no GPU to run on: " + error.error + "; --device cpu needs none");
  }
}

std::vector<RefusedVariant> refuse_variants(AttentionRequest& request, const cuda::GpuInfo& gpu) {
  std::vector<RefusedVariant> refused;
  std::vector<const VariantInfo*> left;
  for (const VariantInfo* const variant : request.variants) {
    try {
      cuda::find_kernel(variant->name, request.problem, execution_of(request, variant->name),
                        gpu.compute_capability);
      left.push_back(variant);
    } catch (const ProblemError& error) {
      if (request.variants.size() == 1) throw failure_of(error);
      refused.push_back({std::string(variant->name), error.what()});
    }
  }
  if (left.empty()) {
    throw request_failure("no variant runs on this GPU as asked for: " + refused.front().reason);
  }
  request.variants = std::move(left);
  return refused;
}

RunVariant run_on_gpu(const AttentionRequest& request) {
  return [&request](std::string_view variant, AttentionTensors& tensors) {
    return or_failure([&] {
      cuda::TimedCall call(variant, request.problem, execution_of(request, variant));
      const double ms = find_variant(variant).pass == Pass::kForward
                            ? run_forward(call, tensors.forward())
                            : run_backward(call, tensors.backward());
      return AttentionRun{1e-3 * ms, static_cast<std::int64_t>(call.workspace_bytes()), 0,
                          std::string(call.kernel())};
    });
  };
}

std::vector<MeasuredKernel> measure_on_gpu(const AttentionRequest& request, int repeat,
                                           const cuda::GpuInfo& gpu) {
  std::vector<MeasuredKernel> result;
  for (const VariantInfo* const variant : request.variants) {
    result.push_back(or_failure([&] { return measure(request, *variant, repeat, gpu); }));
    check_floor(result.back(), gpu);
  }
  return result;
}

void check_floor(const MeasuredKernel& measured, const cuda::GpuInfo& gpu) {
  if (measured.samples.least() >= measured.floor_ms) return;
  throw Failure(kExitProgramWrong, "flashlab: error: " + measured.kernel + " took " +
                                       std::to_string(measured.samples.least()) + " ms, and " +
                                       gpu.name + " cannot do it in less than " +
                                       std::to_string(measured.floor_ms) +
                                       " ms: the measurement is wrong\n");
}

double KernelBreakdown::total_ms() const {
  double total = 0;
  for (const cuda::KernelTotal& launch : launches) total += launch.ms;
  return total;
}

std::vector<KernelBreakdown> measure_by_kernel(const AttentionRequest& request, int repeat) {
  std::vector<KernelBreakdown> result;
  for (const VariantInfo* const variant : request.variants) {
    result.push_back(or_failure([&] {
      cuda::TimedCall call(variant->name, request.problem, execution_of(request, variant->name));
      return KernelBreakdown{std::string(variant->name), std::string(call.kernel()),
                             cuda::sample_by_kernel(call, repeat, request.seed)};
    }));
  }
  return result;
}

}  // namespace flashlab::cli
