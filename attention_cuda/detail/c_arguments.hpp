// The arguments of the C functions as the C++ functions take them.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/flashlab.h"
#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {

/// The text of the calling thread's last failed call.
std::string& last_c_error();

/// Calls `work` and returns its status. No exception leaves it.
template <class Work>
flashlab_status guarded(const Work& work) noexcept {
  const auto failed = [](flashlab_status status, const char* text) {
    last_c_error() = text;
    return status;
  };
  try {
    try {
      work();
      return FLASHLAB_OK;
    } catch (const ProblemError& error) {
      return failed(FLASHLAB_ERROR_ARGUMENT, error.what());
    } catch (const CudaError& error) {
      return failed(FLASHLAB_ERROR_CUDA, error.what());
    } catch (const RankFailure& error) {
      return failed(FLASHLAB_ERROR_RANK, error.what());
    } catch (const std::exception& error) {
      return failed(FLASHLAB_ERROR_OTHER, error.what());
    }
  } catch (...) {  // no memory for the message either
    last_c_error().clear();
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

// All of these throw ProblemError.

/// Returns the options that this version knows. A newer program's struct may be longer if its
/// additional bytes are 0. A shorter struct is rejected, because no earlier version exists.
flashlab_options known(const flashlab_options* options);
DataType dtype_of(const std::string& name, std::int32_t dtype);
ForwardTensors views_of(const flashlab_forward_tensors& tensors);
BackwardTensors views_of(const flashlab_backward_tensors& tensors);
AttentionOptions attention_options(const flashlab_options& options);
/// What "auto" is in the backward pass, and what takes its place where it cannot be deterministic.
inline constexpr std::string_view kAutoBackwardVariant = "bwd-onepass",
                                  kOrderedBackwardVariant = "bwd-twopass";
/// The variant that runs: the options' one, or for "auto" the one that suits the problem and the GPU.
std::string_view variant_of(const AttentionProblem& problem, const flashlab_options& options,
                            Pass pass);
ExecutionOptions execution_options(const flashlab_options& options);

}  // namespace flashlab::cuda
