// What `flashlab optimal` is to solve: a computation by its name, what a program states, or what an
// exercise asks for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "optimal/problem/computation.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::cli {

struct ComputationOptions {
  std::string name;                      // or a program; empty: an exercise
  std::vector<std::string> definitions;  // -D, of the file's parameters
  std::string exercise, size;
  ExerciseOptions exercises;

  void add_to(CLI::App& command);
};

/// A computation, and what comes with it unless the flags say otherwise.
struct AskedComputation {
  optimal::Computation computation;
  std::optional<int> registers;
  std::optional<toy::OperandRule> operands;
  std::optional<int> most_loads;
  bool is_named = true;  // else the heading says what is allowed
  /// Of an exercise: cells of results that may hold other values first.
  std::int64_t scratch_cells = 0;
  std::map<std::string, std::int64_t> params = {};  // of programs for it, by -D or --size
  std::optional<toy::BoundProgram> program = {};    // that says what to compute

  const optimal::MatrixProduct* product() const { return computation.product(); }
};
/// Throws Failure: no such name, file, exercise or size; what is too large for the solver.
AskedComputation asked_computation(const ComputationOptions& options);

}  // namespace flashlab::cli
