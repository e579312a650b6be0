// Assembles a submitted program and compares it with the exercise's declarations.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

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

/// Binds a submission at one size on the exercise's machine.
toy::Result<toy::BoundProgram> bind_submission(const ProgramTask& task,
                                               const std::shared_ptr<const toy::Program>& program,
                                               const Size& size);

}  // namespace flashlab::exercises
