// Assembles a submitted program and compares it with the exercise's declarations.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::exercises {

/// Converts the assembler's message about the submission into a finding.
Finding finding_of(const toy::Diagnostic& diagnostic, const toy::SourceText& source);

/// Why a submission cannot run: the outcome and the findings.
struct Refusal {
  Outcome outcome = Outcome::kRejected;
  std::vector<Finding> findings;
};

/// Assembles the text and checks its arrays, instructions and parameters against the exercise. If
/// they do not fit, returns null and sets `refusal`.
std::shared_ptr<const toy::Program> read_submission(const ProgramTask& task,
                                                    const toy::SourceText& text, Refusal& refusal);

/// A submission at one size.
struct BoundSubmission {
  /// Of several machines: Machines::joined, whose arrays are those of all of them. Its instructions are for
  /// their places in the text only.
  toy::BoundProgram bound;
  std::optional<toy::Machines> machines;  // nothing: one machine

  /// The program of one machine.
  const toy::BoundProgram& one() const { return machines ? machines->first() : bound; }
};

/// Binds a submission at one size on the exercise's machine or machines.
toy::Result<BoundSubmission> bind_machines(const ProgramTask& task,
                                           const std::shared_ptr<const toy::Program>& program,
                                           const Size& size);

/// Unrolls the program, of several machines in one order (toy::unroll_machines).
toy::Result<toy::UnrolledProgram> unroll(const BoundSubmission& submission,
                                         std::uint64_t max_steps);

/// The same for one machine. Several machines are an error.
toy::Result<toy::BoundProgram> bind_submission(const ProgramTask& task,
                                               const std::shared_ptr<const toy::Program>& program,
                                               const Size& size);

}  // namespace flashlab::exercises
