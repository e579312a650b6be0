// Runs a submission at one size: its cost there, and its first failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/judge/lane_cases.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::exercises {

/// A wrong output.
struct WrongOutput {
  std::size_t array = 0;     // into BoundProgram::arrays
  std::int64_t element = 0;  // within the array
  double value = 0;          // NaN: never stored
  double expected = 0;
};

/// The inputs of a failed run, and the failure: an error of the machine, or a wrong output.
struct Failure {
  std::size_t entry = 0;  // into SizedCases::cases
  std::optional<toy::Diagnostic> error;
  std::uint64_t step = 0;  // of the error; 0: unknown
  std::optional<WrongOutput> cell;
};

/// Returns the DRAM of a case before the first step. Errors: as initial_dram().
toy::Result<std::vector<double>> dram_for(const toy::BoundProgram& bound, const Case& entry);

/// Returns the first checked output that is wrong at the end of a run.
std::optional<WrongOutput> wrong_output(const toy::BoundProgram& bound, std::span<const float> dram,
                                        const Case& entry, const Tolerance& tolerance);

/// Runs one case alone on floats, as `flashlab run` does. Returns nothing if the results are right.
/// machines: null, or all of them, if bound is Machines::joined.
std::optional<Failure> run_case(const toy::BoundProgram& bound, const Case& entry,
                                const Tolerance& tolerance,
                                const toy::Machines* machines = nullptr);

struct Attempt {
  const SizedCases* sized = nullptr;
  /// Nothing: `refusal` says why it cannot run. Of several machines: BoundSubmission::bound.
  std::optional<toy::BoundProgram> bound;
  std::optional<toy::Machines> machines;  // nothing: one machine
  std::vector<toy::Diagnostic> refusal;
  toy::Counters counters;
  std::optional<toy::UnrolledProgram> unrolled;  // programs on scalars
  std::optional<Failure> failure;

  bool passed() const { return bound.has_value() && refusal.empty() && !failure; }
};

/// The step that a message of a run names, from 1; 0: none.
std::uint64_t step_in(const std::string& what);

/// Binds the program and counts its cost, without running it. Never throws because of the program.
Attempt count_attempt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                      const SizedCases& sized);

/// Binds the program, counts its cost and runs all cases of the size: in parallel lanes if elements
/// are scalars, one after another on tiles. `lanes` are the cases from make_lane_cases for the
/// solution, or null. Never throws because of the program.
Attempt attempt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                const SizedCases& sized, const LaneCase* lanes);

}  // namespace flashlab::exercises
