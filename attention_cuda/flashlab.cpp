// Implements the C functions with the C++ ones. No exception leaves them.
#include "attention_cuda/flashlab.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/registry.hpp"
#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {
namespace {

thread_local std::string last_error;

/// Calls `work` and returns its status.
template <class Work>
flashlab_status guarded(const Work& work) noexcept {
  try {
    try {
      work();
      return FLASHLAB_OK;
    } catch (const ProblemError& error) {
      last_error = error.what();
      return FLASHLAB_ERROR_ARGUMENT;
    } catch (const CudaError& error) {
      last_error = error.what();
      return FLASHLAB_ERROR_CUDA;
    } catch (const std::exception& error) {
      last_error = error.what();
      return FLASHLAB_ERROR_OTHER;
    }
  } catch (...) {  // no memory for the message either
    last_error.clear();
    return FLASHLAB_ERROR_OTHER;
  }
}

template <class Value>
const Value& given(const char* name, const Value* argument) {
  if (argument == nullptr) throw ProblemError(name, "null", "a description of the call");
  return *argument;
}

/// The C++ value for a C constant, which is an index into `values`.
template <class Value>
Value numbered(const std::string& name, std::int32_t number, std::initializer_list<Value> values) {
  if (number < 0 || number >= std::ssize(values)) {
    throw ProblemError(name, std::to_string(number), "0 … " + std::to_string(values.size() - 1));
  }
  return values.begin()[number];
}

/// Returns the options that this version knows. A newer program's struct may be longer if its
/// additional bytes are 0. A shorter struct is rejected, because no earlier version exists.
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
                           " bytes that version " + flashlab_version() + " knows");
  }
  std::memcpy(&result, options, sizeof(result));
  return result;
}

TensorView view_of(const std::string& name, const flashlab_tensor& tensor) {
  constexpr std::int32_t kMostAxes = 4;
  if (tensor.rank < 0 || tensor.rank > kMostAxes) {
    throw ProblemError(name, "rank " + std::to_string(tensor.rank), "0 … 4");
  }
  const auto dtype = numbered(name + ".dtype", tensor.dtype,
                              {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16});
  return {tensor.data,
          dtype,
          {tensor.shape, tensor.shape + tensor.rank},
          {tensor.strides, tensor.strides + tensor.rank}};
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

ForwardState state_of(const std::string& name, const flashlab_state* state) {
  if (state == nullptr) return {};
  return {view_of(name + ".m", state->m), view_of(name + ".l", state->l),
          view_of(name + ".O", state->O)};
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
  return result;
}

std::string_view variant_of(const AttentionProblem& problem, const flashlab_options& options,
                            Pass pass) {
  const std::string_view variant = options.variant != nullptr ? options.variant : kAutoVariant;
  if (variant == kAutoVariant) {
    if (pass == Pass::kBackward) return "bwd-onepass";
    return forward_variant_here(problem, execution_options(options));
  }
  if (find_variant(variant).pass != pass) {
    throw ProblemError("variant", variant, "a " + std::string(to_string(pass)) + " variant");
  }
  return variant;
}

std::uint64_t bytes_needed(const AttentionProblem& problem, const flashlab_options& options,
                           Pass pass) {
  return workspace_bytes(variant_of(problem, options, pass), problem, execution_options(options));
}

std::string arithmetic_text(std::span<const Arithmetic> arithmetic) {
  std::string text;
  for (const auto& [dtype, products] : arithmetic) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(dtype)) + " " +
            std::string(to_string(products));
  }
  return text;
}

/// A row's texts as null-terminated strings.
struct KernelTexts {
  std::string stem, variant, pass, arithmetic, source;
  int min_compute_capability;
};

std::vector<KernelTexts> all_texts() {
  std::vector<KernelTexts> result;
  for (const KernelRow* const row : kernels()) {
    const Pass pass = row->forward != nullptr ? Pass::kForward : Pass::kBackward;
    result.push_back({std::string(row->stem), std::string(row->variant),
                      std::string(to_string(pass)), arithmetic_text(row->arithmetic),
                      std::string(row->source), row->min_compute_capability});
  }
  return result;
}

}  // namespace
}  // namespace flashlab::cuda

using namespace flashlab::cuda;

flashlab_status flashlab_attention_forward(const flashlab_forward_tensors* tensors,
                                           const flashlab_options* options) {
  return guarded([&] {
    const flashlab_options all = known(options);
    const auto views = views_of(given("tensors", tensors));
    const flashlab::AttentionOptions attention = attention_options(all);
    attention_forward(variant_of(check_forward(views, attention), all, flashlab::Pass::kForward),
                      views, attention, execution_options(all));
  });
}

flashlab_status flashlab_attention_backward(const flashlab_backward_tensors* tensors,
                                            const flashlab_options* options) {
  return guarded([&] {
    const flashlab_options all = known(options);
    const auto views = views_of(given("tensors", tensors));
    const flashlab::AttentionOptions attention = attention_options(all);
    attention_backward(variant_of(check_backward(views, attention), all, flashlab::Pass::kBackward),
                       views, attention, execution_options(all));
  });
}

flashlab_status flashlab_forward_workspace_bytes(const flashlab_forward_tensors* tensors,
                                                 const flashlab_options* options, uint64_t* bytes) {
  return guarded([&] {
    given("bytes", bytes);
    const flashlab_options all = known(options);
    const auto problem = check_forward(views_of(given("tensors", tensors)), attention_options(all));
    *bytes = bytes_needed(problem, all, flashlab::Pass::kForward);
  });
}

flashlab_status flashlab_backward_workspace_bytes(const flashlab_backward_tensors* tensors,
                                                  const flashlab_options* options,
                                                  uint64_t* bytes) {
  return guarded([&] {
    given("bytes", bytes);
    const flashlab_options all = known(options);
    const auto problem =
        check_backward(views_of(given("tensors", tensors)), attention_options(all));
    *bytes = bytes_needed(problem, all, flashlab::Pass::kBackward);
  });
}

const char* flashlab_last_error() { return last_error.c_str(); }

const char* flashlab_version() { return FLASHLAB_VERSION; }

int32_t flashlab_kernel_count() { return static_cast<int32_t>(kernels().size()); }

flashlab_status flashlab_get_kernel(int32_t index, flashlab_kernel* kernel) {
  return guarded([&] {
    static const std::vector<KernelTexts> texts = all_texts();
    given("kernel", kernel);
    if (index < 0 || index >= flashlab_kernel_count()) {
      throw flashlab::ProblemError("index", std::to_string(index),
                                   "0 … " + std::to_string(flashlab_kernel_count() - 1));
    }
    const KernelTexts& text = texts[static_cast<std::size_t>(index)];
    *kernel = {text.stem.c_str(),       text.variant.c_str(), text.pass.c_str(),
               text.arithmetic.c_str(), text.source.c_str(),  text.min_compute_capability};
  });
}
