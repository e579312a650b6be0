// The values that the steps of a run write, and runs in which those of one line are replaced.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// What one step wrote.
struct StepValue {
  std::uint32_t site = 0;
  bool is_stored = false;  // into DRAM; then no numbers are kept
  std::int64_t place = 0;  // a register, or the (first) element in DRAM
  std::array<std::int64_t, kMaxOperands> reads{-1, -1, -1, -1};  // registers; -1: none
  std::int64_t rows = 0, cols = 0;
  std::size_t first = 0;  // into StepValues::numbers
};

struct StepValues {
  std::vector<StepValue> steps;  // step k is steps[k - 1]
  std::vector<float> numbers;    // of the registers that were written, row by row

  std::span<const float> of(const StepValue& step) const {
    return std::span(numbers).subspan(step.first, static_cast<std::size_t>(step.rows * step.cols));
  }
};

/// A line whose results are replaced: its k-th execution leaves values[k] of `from` in its register.
struct Replacement {
  std::uint32_t site = 0;
  const StepValues* from = nullptr;
  std::vector<std::size_t> steps;  // into from->steps; steps that write registers
};

/// Runs the program and records what its steps write, those before an error too.
Result<Execution> run_recorded(const BoundProgram& program, std::span<float> dram,
                               StepValues& values);

/// Runs the program with a replacement. Returns `Execution::stopped` if the line is executed more
/// often than there are values.
Result<Execution> run_replaced(const BoundProgram& program, std::span<float> dram,
                               const Replacement& replacement);

}  // namespace flashlab::toy
