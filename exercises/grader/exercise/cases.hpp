// The inputs that a submission is run on, and the expected outputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/references.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"

namespace flashlab::exercises {

/// One set of inputs at one size.
struct Case {
  Family family = Family::kRandom;
  NamedArrays inputs;    // values rounded to the arrays' element types
  NamedArrays expected;  // the outputs that are checked
};

struct SizedCases {
  Size size;
  std::vector<Case> cases;
  /// The counts of the naive program here, by the keys of Cost::full. Empty: not counted yet, or there is
  /// no such program.
  std::map<std::string, toy::Count> naive = {};
  /// The counts of the solution here, by the keys of Cost::most_of_solution. Empty as `naive` is.
  std::map<std::string, toy::Count> solution = {};
};

/// Whether the inputs are neither huge nor tiny: a result that is wrong on these is wrong by its
/// formula.
bool is_ordinary(Family family);

/// Returns the positions of the cases, those that are easiest to understand first: random inputs,
/// then sorted and equal ones, then tiny ones, a spike, huge ones.
std::vector<std::size_t> plainest_first(const std::vector<Case>& cases);

/// Makes `count` cases for every size of the exercise, cycling through its families, and
/// then for the drawn sizes, where programs on tiles have fewer cases each. Throws std::runtime_error if the reference or the program for
/// derived inputs fails.
std::vector<SizedCases> make_cases(const ProgramTask& task, std::uint64_t seed, std::size_t count);

/// Draws the inputs of one case for each family, and computes what is expected. `number` tells these
/// cases from those of other sizes. Throws std::runtime_error if the reference or the program for
/// derived inputs fails.
SizedCases cases_at(const ProgramTask& task, const Size& size, const std::vector<Family>& families,
                    std::uint64_t seed, std::uint64_t number);

/// Returns the sizes that a seed draws, small ones first. They differ from the exercise's own sizes and
/// from each other; fewer than asked for if the ranges have no more. They share out each parameter's
/// range: each draw has its own part of it, and of a range of few values every one is drawn.
std::vector<Size> drawn_sizes(const ProgramTask& task, std::uint64_t seed);

/// Returns the larger sizes at which costs are counted, as the seed draws them.
std::vector<Size> counted_sizes(const ProgramTask& task, std::uint64_t seed);

/// The cases at sizes where a run takes long: for each size random inputs, and huge ones where range is
/// judged. A program must be right there before its costs or its time earn points.
struct LargeCases {
  std::vector<SizedCases> counted;  // at counted_sizes()
  std::optional<SizedCases> timed;  // at Speed::size
};
/// Throws as make_cases().
LargeCases make_large_cases(const ProgramTask& task, std::uint64_t seed);

/// Returns the outputs of the exercise's reference; all of ProgramTask::check are among them. Throws
/// std::runtime_error.
NamedArrays reference_results(const ProgramTask& task, const Size& size, const NamedArrays& inputs);

/// Runs a program in double on a machine without limits and returns its outputs. Throws
/// std::runtime_error with the machine's message.
NamedArrays run_reference(const std::shared_ptr<const toy::Program>& program, const Size& size,
                          const NamedArrays& inputs);

/// Returns whether `value` is within tolerance * scale of `expected`. `scale` is scale_of() the
/// array: its largest finite expected value.
bool close_enough(double value, double expected, double scale, double tolerance);
double scale_of(const NamedArray& expected);

}  // namespace flashlab::exercises
