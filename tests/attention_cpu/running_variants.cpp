#include "tests/attention_cpu/running_variants.hpp"

namespace flashlab::test {
namespace {

/// A problem without queries: whatever runs does nothing.
void attempt(const VariantInfo& variant, cpu::InstructionSet set) {
  cpu::ExecutionOptions execution;
  execution.instruction_set = set;
  const TensorView none = view(static_cast<float*>(nullptr), {1, 1, 0, 1}),
                   lse = view(static_cast<float*>(nullptr), {1, 1, 0});
  if (variant.pass == Pass::kForward) {
    cpu::attention_forward(variant.name, {none, none, none, none, lse}, {}, execution);
  } else {
    cpu::attention_backward(variant.name, {none, none, none, none, lse, none, none, none, none}, {},
                            execution);
  }
}

bool runs_here(const VariantInfo& variant, cpu::InstructionSet set) {
  try {
    attempt(variant, set);
    return true;
  } catch (const ProblemError& error) {
    if (error.field != "variant") throw;
    return false;
  }
}

}  // namespace

std::vector<std::string_view> variants_here(Pass pass, cpu::InstructionSet set) {
  std::vector<std::string_view> names;
  for (const VariantInfo& variant : variants()) {
    if (variant.pass == pass && runs_here(variant, set)) names.push_back(variant.name);
  }
  return names;
}

}  // namespace flashlab::test
