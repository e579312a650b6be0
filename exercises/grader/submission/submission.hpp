// A submitted program, assembled and held against what the exercise declares.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// A message about the submission as the assembler words it, for people to read.
Finding finding_of(const toy::Diagnostic& diagnostic, const toy::SourceText& source);

/// What keeps a submission from being run: the outcome and what to say about it.
struct Refusal {
  Outcome outcome = Outcome::kRejected;
  std::vector<Finding> findings;
};

/// Assembles the text and checks that it is one for this exercise: the arrays that it declares, its
/// instructions, its parameters. On refusal the result is null and `refusal` says why.
std::shared_ptr<const toy::Program> read_submission(const ProgramTask& task,
                                                    const toy::SourceText& text, Refusal& refusal);

/// Binds a submission to one size, on the exercise's machine.
toy::Result<toy::BoundProgram> bind_submission(const ProgramTask& task,
                                               const std::shared_ptr<const toy::Program>& program,
                                               const Size& size);

}  // namespace flashlab::exercises
