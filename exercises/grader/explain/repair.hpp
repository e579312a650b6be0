// Which single change would make a wrong submission right: what a person who looks for the slip of
// the pen would try, tried on all inputs of all sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/explain/edits.hpp"
#include "exercises/grader/judge/lane_cases.hpp"

namespace flashlab::exercises {

/// One size and its inputs, laid out for any program with the exercise's arrays.
struct RepairSize {
  const Size* size = nullptr;
  const LaneCase* lanes = nullptr;
};

/// Steps, not time, so that the same submission gets the same answer on every machine. A million
/// steps take 30 to 70 ms; a program of 30 lines needs a tenth of that.
struct RepairBudget {
  std::uint64_t max_candidates = 20'000;
  std::uint64_t max_steps = 1'000'000;
};

struct Repair {
  Edit edit;
};

struct Repairs {
  std::vector<Repair> repairs;  // right on all lanes of all sizes; the most likely first
  std::uint32_t line = 0;       // that the likeliest repairs change; 0: there is none
  std::uint64_t candidates = 0, steps = 0;
  bool complete = true;  // false: the budget ended the search
};

/// Tries every edit, then every insertion of a line of the program or of the exercise's solution.
/// `sizes[failing]` is where the submission is wrong and candidates are tried first; `sizes` holds
/// sizes on scalars only. Empty when the program does not bind, or is made of tiles.
Repairs find_repairs(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                     const std::vector<RepairSize>& sizes, std::size_t failing,
                     const RepairBudget& budget = {});

/// What the exercise's machine leaves to choose from.
EditOptions edit_options(const ProgramTask& task, std::int64_t num_registers);

}  // namespace flashlab::exercises
