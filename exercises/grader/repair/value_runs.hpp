// Runs of a submission and of the solution whose values are recorded, and the submission's results
// with values of the solution in the place of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/run/step_values.hpp"

namespace flashlab::exercises {

/// Longer runs are too long for a reader, and for the time that an answer may take.
inline constexpr std::uint64_t kMostValueSteps = 1000;

/// A program that ran on one case.
struct ValueRun {
  toy::BoundProgram bound;
  toy::StepValues values;
  bool is_whole = false;  // without an error

  std::uint32_t line(std::uint32_t site) const { return bound.instructions[site].span.line; }
};

/// Binds a program for one machine, with a limit of kMostValueSteps; nothing for several machines.
std::optional<toy::BoundProgram> bound_alone(const ProgramTask& task,
                                             const std::shared_ptr<const toy::Program>& program,
                                             const Size& size);

/// Returns nothing if no step was executed.
std::optional<ValueRun> run_values(toy::BoundProgram bound, const Case& entry);

/// The steps that write registers, by site.
std::map<std::uint32_t, std::vector<std::size_t>> steps_by_site(const ValueRun& run);

/// Whether the results of one case are right with a replacement, each of whose values is used.
bool is_right_with(const ProgramTask& task, const toy::BoundProgram& bound, const Case& entry,
                   const toy::Replacement& replacement);

/// The solution's values in all cases of a size, in the place of values of the submission. Runs
/// that are not long are kept, because many lines are tried.
class ValuesAt {
 public:
  /// Keeps a reference to the cases.
  ValuesAt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
           const SizedCases& sized);

  /// Whether all results are right with the values of the solution's line in the place of the
  /// line's.
  bool is_right(std::uint32_t line, std::uint32_t solution_line);

 private:
  /// The solution's run on a case, until the next call; null if it fails.
  const ValueRun* run_of(std::size_t entry);

  const ProgramTask& task_;
  const SizedCases& sized_;
  std::optional<toy::BoundProgram> mine_, solution_;
  std::vector<std::optional<ValueRun>> kept_;  // by case
  std::optional<ValueRun> last_;
};

}  // namespace flashlab::exercises
