// The inputs that a submission is judged on, and what must come out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/references.hpp"
#include "toymachine/bind/loop_nest.hpp"

namespace flashlab::exercises {

/// One set of inputs at one size.
struct Case {
  Family family = Family::kRandom;
  NamedArrays inputs;    // values as the arrays' element types hold them
  NamedArrays expected;  // the outputs that are checked
};

struct SizedCases {
  Size size;
  std::vector<Case> cases;
};

/// For every size of the exercise `count` cases, families in turn; then the same for the sizes that
/// are drawn. Throws std::runtime_error when the reference or the derived inputs do not run.
std::vector<SizedCases> make_cases(const ProgramTask& task, std::uint64_t seed, std::size_t count);

/// The sizes that a seed draws, none of them one of the exercise's own or drawn before, where the
/// ranges have others.
std::vector<Size> drawn_sizes(const ProgramTask& task, std::uint64_t seed);

/// The outputs of a program on inputs, in double, on a machine without limits. Throws
/// std::runtime_error with the machine's message.
NamedArrays run_reference(const std::shared_ptr<const toy::Program>& program, const Size& size,
                          const NamedArrays& inputs);

/// Whether `value` is what was expected: relative to `scale`, the array's largest expected value.
bool close_enough(double value, double expected, double scale, double tolerance);
double scale_of(const NamedArray& expected);

}  // namespace flashlab::exercises
