#include "attention_cuda/timed_call.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kForwardForBackward = "flash2";
/// Flushing writes this many times the size of L2.
constexpr int kFlushes = 8;

/// The options of the forward pass before a backward one: its best kernel.
ExecutionOptions forward_execution(const ExecutionOptions& execution) {
  ExecutionOptions forward;
  forward.stream = execution.stream;
  forward.products = execution.products;
  return forward;
}

std::size_t forward_workspace_bytes(Pass pass, const AttentionProblem& problem,
                                    const ExecutionOptions& execution) {
  if (pass == Pass::kForward) return 0;
  return cuda::workspace_bytes(kForwardForBackward, problem, forward_execution(execution));
}

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream stream) { check_cuda(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  double ms_since(const Event& start) const {
    check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

std::size_t bytes_of(const TensorView& tensor) {
  if (tensor.empty()) return 0;
  std::size_t bytes = static_cast<std::size_t>(size_in_bytes(tensor.dtype));
  for (const std::int64_t size : tensor.shape) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

DeviceTensors::DeviceTensors(const AttentionProblem& p, Pass pass) : pass_(pass) {
  const std::vector<std::int64_t> like_Q = {p.batch, p.num_heads, p.seqlen_q, p.head_dim},
                                  like_K = {p.batch, p.num_kv_heads, p.seqlen_k, p.head_dim};
  Q_ = make("Q", p.dtype, like_Q);
  K_ = make("K", p.dtype, like_K);
  V_ = make("V", p.dtype, like_K);
  O_ = make("O", p.dtype, like_Q);
  lse_ = make("lse", DataType::kFloat32, {p.batch, p.num_heads, p.seqlen_q});
  if (pass == Pass::kForward) return;
  dO_ = make("dO", p.dtype, like_Q);
  dQ_ = make("dQ", p.dtype, like_Q);
  dK_ = make("dK", p.dtype, like_K);
  dV_ = make("dV", p.dtype, like_K);
}

TensorView DeviceTensors::make(const char* name, DataType dtype,
                               const std::vector<std::int64_t>& shape) {
  TensorView tensor{nullptr, dtype, shape, row_major(shape)};
  memory_.emplace_back(name, bytes_of(tensor));
  tensor.data = memory_.back().data();
  return tensor;
}

ForwardTensors DeviceTensors::forward() const { return {Q_, K_, V_, O_, lse_}; }

BackwardTensors DeviceTensors::backward() const {
  return {Q_, K_, V_, O_, lse_, dO_, dQ_, dK_, dV_};
}

std::vector<TensorView> DeviceTensors::inputs() const {
  if (pass_ == Pass::kForward) return {Q_, K_, V_};
  return {Q_, K_, V_, dO_};
}

std::vector<TensorView> DeviceTensors::outputs() const {
  if (pass_ == Pass::kForward) return {O_, lse_};
  return {dQ_, dK_, dV_};
}

std::size_t DeviceTensors::bytes() const {
  std::size_t bytes = 0;
  for (const DeviceMemory& each : memory_) bytes += each.bytes();
  return bytes;
}

TimedCall::TimedCall(std::string_view variant, const AttentionProblem& problem,
                     const ExecutionOptions& execution)
    : problem_(problem),
      execution_(execution),
      row_(find_kernel(variant, problem, execution, compute_capability())),
      pass_(find_variant(variant).pass),
      tensors_(problem, pass_),
      workspace_("the workspace", cuda::workspace_bytes(variant, problem, execution)),
      forward_workspace_("the forward workspace",
                         forward_workspace_bytes(pass_, problem, execution)),
      flushed_("the bytes that flush L2",
               static_cast<std::size_t>(kFlushes * current_gpu().l2_bytes)),
      found_nan_("a flag", sizeof(int)) {
  execution_.workspace = workspace_.data();
  execution_.workspace_bytes = workspace_.bytes();
  execution_.kernel = row_.stem;
}

AttentionOptions TimedCall::options() const { return problem_.options(); }

void TimedCall::draw_inputs(std::uint64_t seed) {
  constexpr std::uint64_t kMostInputs = 4;
  std::uint64_t number = kMostInputs * seed;
  for (const TensorView& input : tensors_.inputs()) {
    draw_normal(input, number++, execution_.stream);
  }
}

void TimedCall::prepare() {
  if (pass_ == Pass::kForward) return;
  ExecutionOptions forward = forward_execution(execution_);
  forward.workspace = forward_workspace_.data();
  forward.workspace_bytes = forward_workspace_.bytes();
  attention_forward(kForwardForBackward, tensors_.forward(), options(), forward);
}

void TimedCall::clear() {
  constexpr int kNaN = 0xff;  // all bits set, in every type
  for (const TensorView& output : tensors_.outputs()) {
    if (bytes_of(output) == 0) continue;
    check_cuda(cudaMemsetAsync(output.data, kNaN, bytes_of(output), execution_.stream),
               "cudaMemsetAsync");
  }
  flushed_.fill(0, execution_.stream);
  // L2 would write what was just stored back to memory while the call reads. Reading the same bytes
  // from the first one on replaces it by lines that need no writing.
  const auto count = static_cast<std::int64_t>(flushed_.bytes() / sizeof(float));
  look_for_nan({flushed_.data(), DataType::kFloat32, {count}, {1}},
               static_cast<int*>(found_nan_.data()), execution_.stream);
}

void TimedCall::call(const ExecutionOptions& execution) {
  if (pass_ == Pass::kForward) {
    attention_forward(row_.variant, tensors_.forward(), options(), execution);
  } else {
    attention_backward(row_.variant, tensors_.backward(), options(), execution);
  }
}

double TimedCall::time_ms() {
  Event start, end;
  clear();
  start.record(execution_.stream);
  call(execution_);
  end.record(execution_.stream);
  return end.ms_since(start);
}

void TimedCall::run(KernelObserver* observer) {
  ExecutionOptions watched = execution_;
  watched.observer = observer;
  call(watched);
}

std::vector<KernelTime> TimedCall::kernel_times() {
  KernelTimer timer;
  clear();
  run(&timer);
  return timer.times();
}

void TimedCall::check_outputs() const {
  constexpr const char* kNames[2][3] = {{"O", "lse", nullptr}, {"dQ", "dK", "dV"}};
  const std::vector<TensorView> outputs = tensors_.outputs();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    found_nan_.fill(0, execution_.stream);
    look_for_nan(outputs[k], static_cast<int*>(found_nan_.data()), execution_.stream);
    check_cuda(cudaStreamSynchronize(execution_.stream), "cudaStreamSynchronize");
    int found = 0;
    copy_from_gpu(&found, found_nan_.data(), sizeof found);
    if (found != 0) {
      throw std::runtime_error(std::string(row_.stem) + " produced NaN in " +
                               kNames[static_cast<int>(pass_)][k]);
    }
  }
}

Samples sample(TimedCall& call, int repeat, std::uint64_t seed) {
  Samples samples;
  for (int run = 0; run <= repeat; ++run) {  // run 0 is the warm-up
    call.draw_inputs(seed + static_cast<std::uint64_t>(run));
    call.prepare();
    const double ms = call.time_ms();
    call.check_outputs();
    if (run > 0) samples.ms.push_back(ms);
  }
  return samples;
}

std::vector<KernelTotal> sample_by_kernel(TimedCall& call, int repeat, std::uint64_t seed) {
  std::vector<KernelTotal> result;
  std::vector<Samples> samples;
  for (int run = 0; run <= repeat; ++run) {  // run 0 is the warm-up
    call.draw_inputs(seed + static_cast<std::uint64_t>(run));
    call.prepare();
    result = totals(call.kernel_times());
    call.check_outputs();
    samples.resize(result.size());
    for (std::size_t k = 0; run > 0 && k < result.size(); ++k) {
      samples[k].ms.push_back(result[k].ms);
    }
  }
  for (std::size_t k = 0; k < result.size(); ++k) result[k].ms = samples[k].median();
  return result;
}

}  // namespace flashlab::cuda
