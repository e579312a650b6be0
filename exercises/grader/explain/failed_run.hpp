// One failed run on scalars: its steps, their formulas, and their places in the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/judge/dataflow.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::exercises {

class FailedRun {
 public:
  /// `failed.attempt` must be unrolled.
  explicit FailedRun(const FailedAttempt& failed);

  /// Turns to another output of the run: the element `i` of the array.
  void look_at(std::size_t array, std::int64_t i);

  const FailedAttempt& failed() const { return failed_; }
  const toy::BoundProgram& bound() const { return bound_; }
  const std::vector<toy::UnrolledStep>& steps() const { return unrolled_.steps; }
  const Dataflow& flow() const { return flow_; }
  /// Returns whether the formulas of the program and of the solution are known.
  bool has_forms() const { return !run_.results.empty() && failed_.solution != nullptr; }
  const toy::NormalForm& form(std::int32_t step) const {
    return run_.results[static_cast<std::size_t>(step)];
  }
  /// Returns whether the solution computes this value, too.
  bool is_known(const toy::NormalForm& value) const {
    return failed_.solution->hashes.contains(value.hash());
  }
  /// The step that stores the wrong output, or in which the machine reports an error; or kNobody.
  std::int32_t failing_step() const { return failing_step_; }
  /// The DRAM element of the wrong output; kNobody after an error.
  std::int32_t element() const { return element_; }
  /// The formula that the wrong output should hold.
  const toy::NormalForm& wanted() const { return wanted_; }
  /// The wrong output: "c[0][1]".
  std::string cell() const;

  /// Returns the whole formula, unless it is far too long to be read.
  std::string text(const toy::NormalForm& form) const;

  std::uint32_t line(std::int32_t step) const;
  /// "9 (line 12)"; with several machines "in line 12 of machine 2".
  std::string at(std::int32_t step) const;
  /// Returns the name of the register that the step writes.
  std::string written_name(std::int32_t step) const;
  /// Returns whether the output in this DRAM element should hold this value.
  bool is_wanted_at(std::int32_t element, const toy::NormalForm& value) const;
  /// Returns an output that should hold this value: "c[1][1]"; empty if none should.
  std::string output_with(const toy::NormalForm& value) const;

 private:
  const FailedAttempt& failed_;
  const toy::BoundProgram& bound_;
  const toy::UnrolledProgram& unrolled_;
  Dataflow flow_;
  toy::NormalRun run_;
  toy::NormalForm wanted_;
  std::vector<toy::NumberName> names_;  // constants of the program and the solution: "scale"
  std::int32_t element_ = kNobody;
  std::int32_t failing_step_ = kNobody;
};

}  // namespace flashlab::exercises
