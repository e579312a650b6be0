// The run that a verdict is about, to be followed step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

struct FailingRun {
  toy::BoundProgram program;
  std::vector<double> dram;  // before the first step
  std::uint64_t step = 0;    // the guilty one, from 1: of a line to change, its first execution
  std::string why;  // what is wrong, what it holds and should hold: the finding without the source
};

/// Returns the finding that names a step of a failed run, or a line to change; null if none does.
const Finding* guilty_step(const Verdict& verdict);

/// Returns the run of the submission on the inputs of that finding, by a grader with these options;
/// nothing if no finding names a step, or if the submission no longer fails there.
std::optional<FailingRun> failing_run(const Exercise& exercise, const toy::SourceText& submission,
                                      const Verdict& verdict, const GraderOptions& options = {});

}  // namespace flashlab::exercises
