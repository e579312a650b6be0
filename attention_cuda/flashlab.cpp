// Implements the C functions with the C++ ones. No exception leaves them.
#include "attention_cuda/flashlab.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/detail/c_arguments.hpp"
#include "attention_cuda/detail/call_plans.hpp"
#include "attention_cuda/registry.hpp"
#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {
namespace {

template <class Tensors>
void run_call(const Tensors& tensors, const flashlab_options& options) {
  const CallPlan& plan = plan_of(tensors, options);
  std::visit([&](const auto& views) { run(plan.decision, views, execution_options(options)); },
             plan.tensors);
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
  return guarded([&] { run_call(given("tensors", tensors), known(options)); });
}

flashlab_status flashlab_attention_backward(const flashlab_backward_tensors* tensors,
                                            const flashlab_options* options) {
  return guarded([&] { run_call(given("tensors", tensors), known(options)); });
}

flashlab_status flashlab_forward_workspace_bytes(const flashlab_forward_tensors* tensors,
                                                 const flashlab_options* options, uint64_t* bytes) {
  return guarded([&] {
    given("bytes", bytes);
    *bytes = plan_of(given("tensors", tensors), known(options)).workspace_bytes;
  });
}

flashlab_status flashlab_backward_workspace_bytes(const flashlab_backward_tensors* tensors,
                                                  const flashlab_options* options,
                                                  uint64_t* bytes) {
  return guarded([&] {
    given("bytes", bytes);
    *bytes = plan_of(given("tensors", tensors), known(options)).workspace_bytes;
  });
}

const char* flashlab_last_error() { return last_c_error().c_str(); }

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
