// Who wrote what each step reads, and what becomes of what it writes: facts about an unrolled
// program that need no values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {

/// No step: an input, or nobody.
inline constexpr std::int32_t kNobody = -1;

/// One step's place in the flow of values. Steps count from 0 here.
struct FlowStep {
  /// By operand position: the step that wrote what is read there; kNobody for inputs, constants,
  /// offsets, and operands that are not read.
  std::array<std::int32_t, toy::kMaxOperands> sources{kNobody, kNobody, kNobody, kNobody};
  std::int32_t overwritten_by = kNobody;  // the step that wrote the same register or cell next
  bool used = false;                      // some step reads the result
};

class Dataflow {
 public:
  explicit Dataflow(const toy::UnrolledProgram& program);

  const FlowStep& operator[](std::size_t step) const { return steps_[step]; }
  /// The last step that wrote the DRAM element; kNobody when none did.
  std::int32_t last_store(std::int32_t element) const;
  /// Marks every step that the value written by `step` depends on, itself included.
  std::vector<char> slice(std::int32_t step) const;

 private:
  std::vector<FlowStep> steps_;
  std::vector<std::int32_t> stored_by_;  // by DRAM element
};

/// The register that a step writes; -1 when it writes to DRAM.
std::int32_t written_register(const toy::UnrolledStep& step);
/// The DRAM element that a step writes; -1 when it writes to a register.
std::int32_t written_element(const toy::UnrolledStep& step);
/// The DRAM element that a step reads; -1 when it reads none.
std::int32_t read_element(const toy::UnrolledStep& step);
/// Copies a register into another, unchanged.
bool is_copy(const toy::UnrolledStep& step);

}  // namespace flashlab::exercises
