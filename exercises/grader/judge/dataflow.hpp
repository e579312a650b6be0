// The data flow of an unrolled program: which step wrote each operand, and what happens to each
// result. Needs no values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {

/// No step: the value is an input, or was never written.
inline constexpr std::int32_t kNobody = -1;

/// One step's data flow. Steps count from 0 here.
struct FlowStep {
  /// By operand position: the step that wrote the operand's value. kNobody for inputs, constants,
  /// offsets, and operands that are not read.
  std::array<std::int32_t, toy::kMaxOperands> sources{kNobody, kNobody, kNobody, kNobody};
  std::int32_t overwritten_by = kNobody;  // the next step that wrote the same register or cell
  bool used = false;                      // some step reads the result
};

class Dataflow {
 public:
  explicit Dataflow(const toy::UnrolledProgram& program);

  const FlowStep& operator[](std::size_t step) const { return steps_[step]; }
  /// Returns the last step that wrote the DRAM element, or kNobody.
  std::int32_t last_store(std::int32_t element) const;
  /// Marks every step on which the value written by `step` depends, including `step`.
  std::vector<char> slice(std::int32_t step) const;

 private:
  std::vector<FlowStep> steps_;
  std::vector<std::int32_t> stored_by_;  // by DRAM element
};

/// Returns the register that a step writes, or -1 if it writes to DRAM.
std::int32_t written_register(const toy::UnrolledStep& step);
/// Returns the DRAM element that a step writes, or -1 if it writes to a register.
std::int32_t written_element(const toy::UnrolledStep& step);
/// Returns the DRAM element that a step reads, or -1.
std::int32_t read_element(const toy::UnrolledStep& step);
/// Returns whether the step copies a register unchanged.
bool is_copy(const toy::UnrolledStep& step);

}  // namespace flashlab::exercises
