// State shared by the steps of binding: the program, its binding, the results so far, and errors.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/bind/evaluate.hpp"

namespace flashlab::toy::detail {

struct BindingState {
  const Program& program;
  const Binding& binding;
  BoundProgram bound;
  Values values;
  std::vector<Diagnostic> diagnostics;
};

/// Base of the steps, each of which adds to the state: declarations, nest, operands.
class BindingStep {
 public:
  explicit BindingStep(BindingState& state)
      : program_(state.program),
        binding_(state.binding),
        bound_(state.bound),
        values_(state.values),
        diagnostics_(state.diagnostics) {}

 protected:
  void error(const SourceSpan& span, std::string what, std::string expected,
             Fault fault = Fault::kProgram, std::string suggestion = {}) {
    diagnostics_.push_back({Severity::kError, fault, span, std::move(what), std::move(expected),
                            std::move(suggestion)});
  }

  const Program& program_;
  const Binding& binding_;
  BoundProgram& bound_;
  Values& values_;
  std::vector<Diagnostic>& diagnostics_;
};

/// Returns "R0 to R3", or "R0" if first and last are equal.
std::string register_range_text(const std::string& letter, std::int64_t first, std::int64_t last);

}  // namespace flashlab::toy::detail
