// Shared by the targets: claims that must hold, limits, and programs from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::fuzz {

inline void expect(bool good, const char* claim, std::string_view details) {
  if (good) return;
  std::cerr << "not true: " << claim << '\n' << details << std::endl;
  std::abort();
}

/// Returns whether there is a value; if not, there must be a printable reason.
template <class Value>
bool answered(const toy::Result<Value>& result, const toy::SourceText& source) {
  if (result) return true;
  expect(!result.diagnostics.empty(), "a refusal has a reason", source.text());
  expect(!toy::format(result.diagnostics, source).empty(), "a reason can be printed",
         source.text());
  return false;
}

/// Small enough for a thousand inputs per second under the sanitizers.
inline toy::Limits small_limits() {
  toy::Limits limits;
  limits.max_source_bytes = 1 << 13;
  limits.max_nesting = 8;
  limits.max_steps = 5'000;
  limits.max_array_bytes = 1 << 16;
  limits.max_registers = 1 << 8;
  limits.max_machines = 4;
  return limits;
}

/// An input that exceeds this budget is only slow; other targets search for slow inputs.
inline constexpr toy::BudgetLimits kSmallBudget{50, 64 << 20};

/// Runs the work. Ignores that the budget ended.
template <class Work>
void within_budget(const Work& work) {
  try {
    const toy::Budget budget(kSmallBudget);
    work();
  } catch (const toy::BudgetExceeded&) {
  }
}

inline std::shared_ptr<const toy::SourceText> text_of(const std::uint8_t* data, std::size_t size) {
  return std::make_shared<const toy::SourceText>(
      "fuzz.toy", std::string(reinterpret_cast<const char*>(data), size));
}

/// Returns null if the program is rejected, which requires a reason.
inline std::shared_ptr<const toy::Program> program_of(
    const std::shared_ptr<const toy::SourceText>& source) {
  auto assembled = toy::assemble(source, small_limits());
  if (!answered(assembled, *source)) return nullptr;
  return std::make_shared<const toy::Program>(std::move(*assembled));
}

/// Binds with default values; parameters without one are 3.
inline std::optional<toy::BoundProgram> bound_of(
    const std::shared_ptr<const toy::Program>& program) {
  toy::Binding binding;
  binding.limits = small_limits();
  for (const toy::ParamDeclaration& param : program->params) {
    if (param.default_value == nullptr) binding.params[param.name] = 3;
  }
  auto bound = toy::bind(program, binding);
  if (!answered(bound, *program->source)) return std::nullopt;
  return std::move(*bound);
}

}  // namespace flashlab::fuzz
