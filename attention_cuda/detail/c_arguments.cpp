#include "attention_cuda/detail/c_arguments.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "attention_cuda/registry.hpp"
#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {
namespace {

TensorView view_of(const std::string& name, const flashlab_tensor& tensor) {
  constexpr std::int32_t kMostAxes = 4;
  if (tensor.rank < 0 || tensor.rank > kMostAxes) {
    throw ProblemError(name, "rank " + std::to_string(tensor.rank), "0 … 4");
  }
  return {tensor.data,
          dtype_of(name + ".dtype", tensor.dtype),
          {tensor.shape, tensor.shape + tensor.rank},
          {tensor.strides, tensor.strides + tensor.rank}};
}

ForwardState state_of(const std::string& name, const flashlab_state* state) {
  if (state == nullptr) return {};
  return {view_of(name + ".m", state->m), view_of(name + ".l", state->l),
          view_of(name + ".O", state->O)};
}

}  // namespace

std::string& last_c_error() {
  thread_local std::string text;
  return text;
}

flashlab_options known(const flashlab_options* options) {
  flashlab_options result = {};
  const std::uint64_t bytes = given("options", options).struct_bytes;
  constexpr std::uint64_t kMost = 4096;           // a larger value is not a size
  if (bytes < sizeof(result) || bytes > kMost) {  // future fields will be optional
    throw ProblemError("options.struct_bytes", std::to_string(bytes),
                       std::to_string(sizeof(result)) + " (see flashlab_options_init)");
  }
  const std::span all(reinterpret_cast<const unsigned char*>(options), bytes);
  if (std::ranges::any_of(all.subspan(sizeof(result)), [](auto byte) { return byte != 0; })) {
    throw ProblemError("options.struct_bytes", std::to_string(bytes),
                       "only zeros after the " + std::to_string(sizeof(result)) +
                           " bytes that version " FLASHLAB_VERSION " knows");
  }
  std::memcpy(&result, options, sizeof(result));
  return result;
}

DataType dtype_of(const std::string& name, std::int32_t dtype) {
  return numbered(name, dtype, {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16});
}

ForwardTensors views_of(const flashlab_forward_tensors& tensors) {
  return {view_of("Q", tensors.Q), view_of("K", tensors.K), view_of("V", tensors.V),
          view_of("O", tensors.O), view_of("lse", tensors.lse)};
}

BackwardTensors views_of(const flashlab_backward_tensors& tensors) {
  return {view_of("Q", tensors.Q),   view_of("K", tensors.K),     view_of("V", tensors.V),
          view_of("O", tensors.O),   view_of("lse", tensors.lse), view_of("dO", tensors.dO),
          view_of("dQ", tensors.dQ), view_of("dK", tensors.dK),   view_of("dV", tensors.dV)};
}

AttentionOptions attention_options(const flashlab_options& options) {
  AttentionOptions result;
  result.mask =
      numbered("mask", options.mask, {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight});
  if (options.has_softmax_scale != 0) result.softmax_scale = options.softmax_scale;
  if (options.key_lengths == nullptr ? options.num_key_lengths != 0 : options.num_key_lengths < 0) {
    throw ProblemError("num_key_lengths", std::to_string(options.num_key_lengths),
                       "the number of key_lengths");
  }
  result.key_lengths = {options.key_lengths, static_cast<std::size_t>(options.num_key_lengths)};
  if (options.has_window_left != 0) result.window_left = options.window_left;
  if (options.has_window_right != 0) result.window_right = options.window_right;
  constexpr std::int64_t kMostSequences = std::int64_t{1} << 30;
  if (options.num_sequences < 0 || options.num_sequences > kMostSequences) {
    throw ProblemError("num_sequences", std::to_string(options.num_sequences),
                       "0 … " + std::to_string(kMostSequences));
  }
  const auto bounds = [&](const std::int64_t* numbers) {
    const auto count = static_cast<std::size_t>(options.num_sequences + 1);
    return std::span(numbers, numbers == nullptr ? 0 : count);
  };
  result.cu_seqlens_q = bounds(options.cu_seqlens_q);
  result.cu_seqlens_k = bounds(options.cu_seqlens_k);
  result.query_offset = options.query_offset;
  return result;
}

ExecutionOptions execution_options(const flashlab_options& options) {
  ExecutionOptions result;
  result.stream = static_cast<Stream>(options.stream);
  result.products = numbered("products", options.products,
                             {Products::kNative, Products::kTensorFloat32,
                              Products::kTensorFloat32x3, Products::kFloat16x3});
  result.workspace = options.workspace;
  result.workspace_bytes = options.workspace_bytes;
  result.device_key_lengths = options.device_key_lengths;
  result.device_cu_seqlens_q = options.device_cu_seqlens_q;
  result.device_cu_seqlens_k = options.device_cu_seqlens_k;
  if (options.device_cu_seqlens_q != nullptr) result.num_sequences = options.num_sequences;
  result.num_splits = options.num_splits;
  result.round_statistics = options.round_statistics != 0;
  result.deterministic = options.deterministic != 0;
  if (options.kernel != nullptr) result.kernel = options.kernel;
  result.state_in = state_of("state_in", options.state_in);
  result.state_out = state_of("state_out", options.state_out);
  result.stop_flag = options.stop_flag;
  result.memory_is_checked = options.memory_is_checked != 0;
  return result;
}

std::string_view variant_of(const AttentionProblem& problem, const flashlab_options& options,
                            Pass pass) {
  const std::string_view variant = options.variant != nullptr ? options.variant : kAutoVariant;
  if (variant == kAutoVariant) {
    return pass == Pass::kForward ? forward_variant_here(problem, execution_options(options))
                                  : kAutoBackwardVariant;
  }
  if (find_variant(variant).pass != pass) {
    throw ProblemError("variant", variant, "a " + std::string(to_string(pass)) + " variant");
  }
  return find_variant(variant).name;
}

}  // namespace flashlab::cuda
