// Implements the C functions with the C++ ones. No exception leaves them.
#include "attention_cpu/flashlab_cpu.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>

#include "attention_cpu/attention.hpp"

namespace flashlab::cpu {
namespace {

/// Calls `work` and returns its status.
template <class Work>
int with_message(const Work& work, char* message, std::size_t message_bytes) noexcept {
  const auto tell = [&](const char* text) {
    if (message == nullptr || message_bytes == 0) return;
    const std::size_t length = std::min(std::strlen(text), message_bytes - 1);
    std::memcpy(message, text, length);
    message[length] = '\0';
  };
  try {
    work();
    return FLASHLAB_CPU_OK;
  } catch (const ProblemError& error) {
    tell(error.what());
    return FLASHLAB_CPU_ERROR_ARGUMENT;
  } catch (const std::exception& error) {
    tell(error.what());
    return FLASHLAB_CPU_ERROR_OTHER;
  }
}

/// The C++ value for a C constant, which is an index into `values`.
template <class Value>
Value constant(std::string_view name, std::int32_t number, std::initializer_list<Value> values) {
  if (number < 0 || number >= std::ssize(values)) {
    throw ProblemError(name, std::to_string(number), "0 … " + std::to_string(values.size() - 1));
  }
  return values.begin()[number];
}

TensorView view_of(std::string_view name, const flashlab_cpu_tensor& tensor) {
  constexpr std::int32_t kMostAxes = 4;
  if (tensor.rank < 0 || tensor.rank > kMostAxes) {
    throw ProblemError(name, "rank " + std::to_string(tensor.rank), "0 … 4");
  }
  TensorView view;
  view.data = tensor.data;
  view.dtype =
      constant(name, tensor.dtype,
               {DataType::kFloat32, DataType::kFloat64, DataType::kBFloat16, DataType::kFloat16});
  view.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  view.strides.assign(tensor.strides, tensor.strides + tensor.rank);
  return view;
}

const flashlab_cpu_call& checked(const flashlab_cpu_call* call) {
  if (call == nullptr) throw ProblemError("call", "null", "a description of the call");
  if (call->struct_bytes != sizeof(flashlab_cpu_call)) {
    throw ProblemError("struct_bytes", std::to_string(call->struct_bytes),
                       std::to_string(sizeof(flashlab_cpu_call)));
  }
  if (call->num_threads < 0) {
    throw ProblemError("num_threads", std::to_string(call->num_threads), "0 or more");
  }
  return *call;
}

AttentionOptions options_of(const flashlab_cpu_call& call) {
  AttentionOptions options;
  options.mask =
      constant("mask", call.mask, {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight});
  if (!std::isnan(call.softmax_scale)) options.softmax_scale = call.softmax_scale;
  if (call.window_left >= 0) options.window_left = call.window_left;
  if (call.window_right >= 0) options.window_right = call.window_right;
  return options;
}

ExecutionOptions execution_of(const flashlab_cpu_call& call) {
  ExecutionOptions execution;
  execution.num_threads = call.num_threads;
  return execution;
}

}  // namespace
}  // namespace flashlab::cpu

using namespace flashlab::
    cpu;  // NOLINT(google-build-using-namespace): the C functions are outside of it

int flashlab_cpu_forward(const flashlab_cpu_call* call, char* message, size_t message_bytes) {
  return with_message(
      [&] {
        const flashlab_cpu_call& given = checked(call);
        attention_forward(given.variant != nullptr ? given.variant : "flash2",
                          {view_of("Q", given.Q), view_of("K", given.K), view_of("V", given.V),
                           view_of("O", given.O), view_of("lse", given.lse)},
                          options_of(given), execution_of(given));
      },
      message, message_bytes);
}

int flashlab_cpu_backward(const flashlab_cpu_call* call, char* message, size_t message_bytes) {
  return with_message(
      [&] {
        const flashlab_cpu_call& given = checked(call);
        attention_backward(
            given.variant != nullptr ? given.variant : "bwd-onepass",
            {view_of("Q", given.Q), view_of("K", given.K), view_of("V", given.V),
             view_of("O", given.O), view_of("lse", given.lse), view_of("dO", given.dO),
             view_of("dQ", given.dQ), view_of("dK", given.dK), view_of("dV", given.dV)},
            options_of(given), execution_of(given));
      },
      message, message_bytes);
}
