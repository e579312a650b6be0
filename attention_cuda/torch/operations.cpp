#include "attention_cuda/torch/operations.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attention_cuda/detail/c_arguments.hpp"
#include "attention_cuda/detail/call_plans.hpp"
#include "attention_cuda/torch/stable_abi.hpp"

namespace flashlab::cuda {
namespace {

using torch_abi::check, torch_abi::StableValue, torch_abi::Tensor;

constexpr std::int64_t kAxes = 4;

/// What both operations have after their tensors.
struct Rest {
  Tensor key_lengths, cu_seqlens_q, cu_seqlens_k;
  std::optional<double> softmax_scale;
  std::vector<std::int64_t> options;
  std::int64_t score = 0;
};

Tensor tensor_of(StableValue value) {
  return Tensor(std::bit_cast<torch_abi::TensorHandle>(value));
}

/// An optional value is a pointer to one on the heap, which belongs to the receiver, or null.
std::optional<StableValue> optional_of(StableValue value) {
  const auto* const place = std::bit_cast<const StableValue*>(value);
  if (place == nullptr) return std::nullopt;
  const StableValue found = *place;
  delete place;
  return found;
}

Tensor optional_tensor_of(StableValue value) {
  const auto found = optional_of(value);
  return found ? tensor_of(*found) : Tensor();
}

std::vector<std::int64_t> numbers_of(StableValue value) {
  const auto list = std::bit_cast<torch_abi::ListHandle>(value);
  const torch_abi::Functions& torch = torch_abi::functions();
  std::size_t size = 0;
  std::vector<std::int64_t> numbers;
  torch_abi::Error error = torch.list_size(list, &size);
  numbers.resize(size);
  for (std::size_t k = 0; k < size && error == 0; ++k) {
    StableValue item = 0;
    error = torch.list_item(list, k, &item);
    numbers[k] = std::bit_cast<std::int64_t>(item);
  }
  torch.delete_list(list);
  check(error, "a list of numbers");
  return numbers;
}

Rest rest_of(const StableValue* values) {
  Rest rest;
  rest.key_lengths = optional_tensor_of(values[0]);
  rest.cu_seqlens_q = optional_tensor_of(values[1]);
  rest.cu_seqlens_k = optional_tensor_of(values[2]);
  if (const auto scale = optional_of(values[3])) rest.softmax_scale = std::bit_cast<double>(*scale);
  rest.options = numbers_of(values[4]);
  rest.score = std::bit_cast<std::int64_t>(values[5]);
  return rest;
}

/// A tensor that is used as it is.
flashlab_tensor view_of(const char* name, const Tensor& tensor, const Tensor& Q) {
  const torch_abi::Functions& torch = torch_abi::functions();
  if (tensor.device_type() != Q.device_type() || tensor.device_index() != Q.device_index()) {
    throw ProblemError(name, "on " + device_text(tensor), device_text(Q) + ", as Q");
  }
  flashlab_tensor view = {};
  const std::int32_t dtype = tensor.dtype();
  if (dtype == torch.bfloat16()) {
    view.dtype = FLASHLAB_BFLOAT16;
  } else if (dtype == torch.float16()) {
    view.dtype = FLASHLAB_FLOAT16;
  } else if (dtype != torch.float32()) {
    throw ProblemError(name, dtype_text(tensor),
                       "one of torch.float32, torch.bfloat16, torch.float16");
  }
  const std::int64_t rank = tensor.rank();
  if (rank > kAxes) throw ProblemError(name, std::to_string(rank) + " axes", "at most 4");
  view.rank = static_cast<std::int32_t>(rank);
  view.data = tensor.data();
  std::copy_n(tensor.sizes(), rank, view.shape);
  std::copy_n(tensor.strides(), rank, view.strides);
  return view;
}

Tensor empty(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
             std::int32_t dtype, const Tensor& beside) {
  torch_abi::TensorHandle handle = nullptr;
  check(torch_abi::functions().empty_strided(std::ssize(shape), shape.data(), strides.data(), dtype,
                                             beside.device_type(), beside.device_index(), &handle),
        "memory for a result or the workspace");
  return Tensor(handle);
}

/// A dense tensor of the same shape and type. Heads are inside of rows if `like` has them so.
/// flashlab_operations.py's _dense_like says the same to torch.compile.
Tensor dense_like(const Tensor& like) {
  const std::int64_t* const n = like.sizes();
  const std::int64_t* const from = like.strides();
  std::array<std::int64_t, kAxes> strides;
  strides[3] = 1;
  if (from[1] < from[2]) {
    strides[1] = n[3];
    strides[2] = n[1] * n[3];
  } else {
    strides[2] = n[3];
    strides[1] = n[2] * n[3];
  }
  strides[0] = n[1] * n[2] * n[3];
  return empty({n, static_cast<std::size_t>(kAxes)}, strides, like.dtype(), like);
}

Tensor empty_lse(const Tensor& Q) {
  const std::int64_t* const n = Q.sizes();
  const std::array strides = {n[1] * n[2], n[2], std::int64_t{1}};
  return empty({n, 3}, strides, torch_abi::functions().float32(), Q);
}

/// An argument with numbers in memory of the device.
const std::int64_t* numbers_on_device(const char* name, const Tensor& numbers, const Tensor& Q,
                                      std::optional<std::int64_t> length) {
  if (!numbers.is_given()) return nullptr;
  const bool is_right = numbers.dtype() == torch_abi::functions().int64() && numbers.rank() == 1 &&
                        numbers.device_type() == Q.device_type() &&
                        numbers.device_index() == Q.device_index() &&
                        (!length || numbers.sizes()[0] == *length) &&
                        (numbers.sizes()[0] < 2 || numbers.strides()[0] == 1);
  if (!is_right) {
    throw ProblemError(
        name, dtype_text(numbers) + " " + shape_text(numbers) + " on " + device_text(numbers),
        "torch.int64 or torch.int32 [" + (length ? std::to_string(*length) : "sequences + 1") +
            "] on " + device_text(Q) + ", or a list");
  }
  return static_cast<const std::int64_t*>(numbers.data());
}

const char* kernel_text(std::int64_t index, const char* flashlab_kernel::*text) {
  flashlab_kernel kernel = {};
  if (flashlab_get_kernel(static_cast<std::int32_t>(index), &kernel) != FLASHLAB_OK) {
    throw ProblemError("options", "kernel " + std::to_string(index), "a kernel of this library");
  }
  return kernel.*text;
}

/// The C options. They point into `rest`.
flashlab_options options_of(const Rest& rest, const Tensor& Q) {
  const std::vector<std::int64_t>& all = rest.options;
  const auto is_complete = [&] {
    if (all.size() < kNumTorchOptions) return false;
    const std::int64_t lists[] = {all[kTorchNumKeyLengths], all[kTorchNumBoundsQ],
                                  all[kTorchNumBoundsK]};
    std::int64_t left = std::ssize(all) - std::int64_t{kNumTorchOptions};
    for (const std::int64_t numbers : lists) {
      if (numbers < 0 || numbers > left) return false;
      left -= numbers;
    }
    return left == 0 && lists[1] == lists[2];
  };
  if (!is_complete()) {
    throw ProblemError("options", std::to_string(all.size()) + " numbers",
                       "those of flashlab_operations.py");
  }
  if (rest.score != 0) {
    throw ProblemError("score", std::to_string(rest.score), "0: no function of scores");
  }
  flashlab_options options;
  flashlab_options_init(&options);
  options.mask = static_cast<std::int32_t>(all[kTorchMask]);
  options.products = static_cast<std::int32_t>(all[kTorchProducts]);
  if (all[kTorchVariant] >= 0) {
    options.variant = kernel_text(all[kTorchVariant], &flashlab_kernel::variant);
  }
  if (all[kTorchKernel] >= 0) {
    options.kernel = kernel_text(all[kTorchKernel], &flashlab_kernel::stem);
  }
  const auto has = [&](TorchFlag flag) { return (all[kTorchFlags] & flag) != 0 ? 1 : 0; };
  options.deterministic = has(kTorchDeterministic);
  options.round_statistics = has(kTorchRoundStatistics);
  options.has_window_left = has(kTorchHasWindowLeft);
  options.has_window_right = has(kTorchHasWindowRight);
  options.window_left = all[kTorchWindowLeft];
  options.window_right = all[kTorchWindowRight];
  options.num_splits = static_cast<std::int32_t>(all[kTorchNumSplits]);
  options.query_offset = all[kTorchQueryOffset];
  if (rest.softmax_scale) {
    options.has_softmax_scale = 1;
    options.softmax_scale = *rest.softmax_scale;
  }
  const std::int64_t* next = all.data() + kNumTorchOptions;
  const auto list = [&](TorchOption size) { return std::exchange(next, next + all[size]); };
  options.num_key_lengths = all[kTorchNumKeyLengths];
  const std::int64_t* const lengths = list(kTorchNumKeyLengths);
  if (options.num_key_lengths > 0) options.key_lengths = lengths;
  const std::int64_t *const bounds_q = list(kTorchNumBoundsQ), *const bounds_k =
                                                                   list(kTorchNumBoundsK);
  if (all[kTorchNumBoundsQ] > 0) {
    options.cu_seqlens_q = bounds_q;
    options.cu_seqlens_k = bounds_k;
    options.num_sequences = all[kTorchNumBoundsQ] - 1;
  }
  options.device_key_lengths = numbers_on_device("key_lengths", rest.key_lengths, Q, Q.sizes()[0]);
  options.device_cu_seqlens_q =
      numbers_on_device("cu_seqlens_q", rest.cu_seqlens_q, Q, std::nullopt);
  options.device_cu_seqlens_k = numbers_on_device(
      "cu_seqlens_k", rest.cu_seqlens_k, Q,
      rest.cu_seqlens_q.is_given() ? std::optional(rest.cu_seqlens_q.sizes()[0]) : std::nullopt);
  if (options.device_cu_seqlens_q != nullptr) {
    options.num_sequences = rest.cu_seqlens_q.sizes()[0] - 1;
  }
  options.memory_is_checked = 1;  // inputs are on Q's device, and all else is new
  return options;
}

/// Runs a call with the workspace that it needs, on the current stream.
template <class Tensors>
void run_on_stream(const Tensors& tensors, flashlab_options& options, const Tensor& Q) {
  const CallPlan& plan = plan_of(tensors, options);
  const torch_abi::Functions& torch = torch_abi::functions();
  Tensor workspace;
  if (plan.workspace_bytes > 0) {
    constexpr std::uintptr_t kAlignment = 256;  // PyTorch's CUDA memory has it; CPU tensors may not
    const bool is_aligned = Q.device_type() == torch.cuda();
    const std::array size = {
        static_cast<std::int64_t>(plan.workspace_bytes + (is_aligned ? 0 : kAlignment))};
    const std::array stride = {std::int64_t{1}};
    workspace = empty(size, stride, torch.uint8(), Q);
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
    options.workspace =
        reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
    options.workspace_bytes = plan.workspace_bytes;
  }
  if (torch.current_stream != nullptr && Q.device_type() == torch.cuda()) {
    check(torch.current_stream(Q.device_index(), &options.stream), "the current stream");
  }
  std::visit([&](const auto& views) { run(plan.decision, views, execution_options(options)); },
             plan.tensors);
}

bool have_axes(const Tensor& Q, const Tensor& K, const Tensor& V) {
  return Q.rank() == kAxes && K.rank() == kAxes && V.rank() == kAxes;
}

bool is_fork = false;  // of a process that had the operations: CUDA does not work there

void check_process(const Tensor& Q) {
  if (is_fork && Q.device_type() == torch_abi::functions().cuda()) {
    throw ProblemError("process", "a fork of one that used the GPU",
                       "one of its own: multiprocessing's start method spawn");
  }
}

void forward(const Tensor& Q, const Tensor& K, const Tensor& V, const Rest& rest, Tensor& O,
             Tensor& lse) {
  check_process(Q);
  flashlab_forward_tensors tensors = {};
  tensors.Q = view_of("Q", Q, Q);
  tensors.K = view_of("K", K, Q);
  tensors.V = view_of("V", V, Q);
  if (!have_axes(Q, K, V)) {  // says which
    flashlab_options none;
    flashlab_options_init(&none);
    plan_of(tensors, none);
  }
  const torch_abi::DeviceGuard guard(Q);
  O = dense_like(Q);
  lse = empty_lse(Q);
  tensors.O = view_of("O", O, Q);
  tensors.lse = view_of("lse", lse, Q);
  flashlab_options options = options_of(rest, Q);
  run_on_stream(tensors, options, Q);
}

void backward(const Tensor (&inputs)[6], const Rest& rest, Tensor (&gradients)[3]) {
  const auto& [dO, Q, K, V, O, lse] = inputs;
  check_process(Q);
  flashlab_backward_tensors tensors = {};
  tensors.Q = view_of("Q", Q, Q);
  tensors.K = view_of("K", K, Q);
  tensors.V = view_of("V", V, Q);
  tensors.O = view_of("O", O, Q);
  tensors.lse = view_of("lse", lse, Q);
  tensors.dO = view_of("dO", dO, Q);
  if (!have_axes(Q, K, V)) {  // says which
    flashlab_options none;
    flashlab_options_init(&none);
    plan_of(tensors, none);
  }
  const torch_abi::DeviceGuard guard(Q);
  for (int k = 0; k < 3; ++k) gradients[k] = dense_like(inputs[1 + k]);
  tensors.dQ = view_of("dQ", gradients[0], Q);
  tensors.dK = view_of("dK", gradients[1], Q);
  tensors.dV = view_of("dV", gradients[2], Q);
  flashlab_options options = options_of(rest, Q);
  run_on_stream(tensors, options, Q);
}

/// Throws the error of a failed call in PyTorch: ValueError or RuntimeError in Python.
void throw_unless_ok(flashlab_status status) {
  if (status == FLASHLAB_OK) return;
  const torch_abi::Functions& torch = torch_abi::functions();
  const char* const text = flashlab_last_error();
  (status == FLASHLAB_ERROR_ARGUMENT ? torch.throw_value_error : torch.throw_runtime_error)(text);
}

flashlab_status forward_on(StableValue* stack) {
  const Tensor Q = tensor_of(stack[0]), K = tensor_of(stack[1]), V = tensor_of(stack[2]);
  return guarded([&] {
    const Rest rest = rest_of(stack + 3);
    Tensor O, lse;
    forward(Q, K, V, rest, O, lse);
    stack[0] = O.release();
    stack[1] = lse.release();
  });
}

flashlab_status backward_on(StableValue* stack) {
  const Tensor inputs[6] = {tensor_of(stack[0]), tensor_of(stack[1]), tensor_of(stack[2]),
                            tensor_of(stack[3]), tensor_of(stack[4]), tensor_of(stack[5])};
  return guarded([&] {
    const Rest rest = rest_of(stack + 6);
    Tensor gradients[3];
    backward(inputs, rest, gradients);
    for (int k = 0; k < 3; ++k) stack[k] = gradients[k].release();
  });
}

// When these throw, nothing of the call is left: all tensors are deleted.
void boxed_forward(StableValue* stack, std::uint64_t, std::uint64_t) {
  throw_unless_ok(forward_on(stack));
}
void boxed_backward(StableValue* stack, std::uint64_t, std::uint64_t) {
  throw_unless_ok(backward_on(stack));
}

}  // namespace
}  // namespace flashlab::cuda

const char* flashlab_register_torch_operations(const char* dispatch_key) {
  using namespace flashlab::cuda;
  static std::string why;
  if (auto missing = torch_abi::load()) {
    why = *std::move(missing);
    return why.c_str();
  }
  const torch_abi::Functions& torch = torch_abi::functions();
  torch_abi::LibraryHandle library = nullptr;  // lives as long as the process
  constexpr std::uint64_t kVersion = std::uint64_t{2} << 56 | std::uint64_t{10} << 48;  // 2.10
  if (torch.init_impl("flashlab", dispatch_key, "flashlab", 0, &library) != 0 ||
      torch.implement(library, "attention_forward", boxed_forward, kVersion) != 0 ||
      torch.implement(library, "attention_backward", boxed_backward, kVersion) != 0) {
    return "PyTorch refused the operations of flashlab";
  }
  pthread_atfork(nullptr, nullptr, [] { is_fork = true; });
  return nullptr;
}
