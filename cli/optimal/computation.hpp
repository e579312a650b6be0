// Selects the computation for `flashlab optimal`: by its name, from a program, or from an exercise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "optimal/problem/computation.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::cli {

struct ComputationOptions {
  std::string name;                      // or a program; empty: an exercise
  std::vector<std::string> definitions;  // -D, for the file's parameters
  std::optional<std::string> score;      // a function of the scores, for the file
  std::string exercise, size;
  ExerciseOptions exercises;

  void add_to(CLI::App& command);
};

/// A computation with its default settings.
struct AskedComputation {
  optimal::Computation computation;
  std::optional<int> registers;
  std::optional<toy::OperandRule> operands;
  std::optional<int> most_loads;
  bool is_named = true;  // false: the heading says what is allowed
  /// For an exercise: cells of results that may hold other values first.
  std::int64_t scratch_cells = 0;
  std::map<std::string, std::int64_t> params = {};  // for its programs, from -D or --size
  std::optional<toy::BoundProgram> program = {};    // the program that defines the computation

  const optimal::MatrixProduct* product() const { return computation.product(); }
};
/// Throws Failure: no such name, file, exercise or size, or too large for the solver.
AskedComputation asked_computation(const ComputationOptions& options);

}  // namespace flashlab::cli
