// The steps of a wrong program beside those of the program that a repair makes of it: a line that the
// repair leaves as it is, and that has the same values there, is not wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/repair/repair.hpp"
#include "exercises/grader/repair/value_runs.hpp"

namespace flashlab::exercises {

/// The program without its mistakes, as far as it was found; null: it was not.
std::shared_ptr<const toy::Program> right_program(const FailedAttempt& failed,
                                                  const Repairs& repairs);

class RightSteps {
 public:
  /// Nothing if no right program was found, on several machines, and for long runs.
  static std::optional<RightSteps> find(const FailedAttempt& failed, const Repairs& repairs);

  /// Whether the right program has the step's value at the same line, in all cases that are compared.
  bool is_right(std::size_t step) const;
  /// Whether it has there what an exchange of the step's sources makes of the value: its negative, or its
  /// reciprocal. True where that is not known.
  bool is_exchanged(std::size_t step) const;

 private:
  RightSteps(std::vector<ValueRun> mine, std::vector<ValueRun> right,
             std::map<std::uint32_t, std::uint32_t> lines)
      : mine_(std::move(mine)), right_(std::move(right)), lines_(std::move(lines)) {}

  /// The step of a right run that executes the same line for the same time; SIZE_MAX: none.
  std::size_t counterpart(std::size_t run, std::size_t step) const;
  /// Whether `holds` for the values of the step and its counterpart in all cases that have both, and
  /// there is such a case. Nothing if there is none.
  template <class Holds>
  std::optional<bool> in_all_cases(std::size_t step, const Holds& holds) const;

  std::vector<ValueRun> mine_, right_;  // by case
  std::map<std::uint32_t, std::uint32_t>
      lines_;  // of the right program, for lines that it has, too
};

}  // namespace flashlab::exercises
