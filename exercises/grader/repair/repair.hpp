// Finds single changes that make a wrong submission right. Tries plausible corrections of a typing
// mistake on all inputs of all sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/judge/lane_cases.hpp"
#include "exercises/grader/repair/edits.hpp"
#include "exercises/grader/repair/line_differences.hpp"

namespace flashlab::exercises {

struct SolutionAt;

/// One size and its inputs.
struct RepairSize {
  const SizedCases* sized = nullptr;
  const LaneCase* lanes = nullptr;       // the same inputs for scalars; null: elements are tiles
  const SolutionAt* solution = nullptr;  // its values as formulas; may be null
  bool has_no_formulas = false;          // they are too long, or elements are tiles
};

/// Counts steps, not time, so that a submission gets the same result on every machine. A million
/// steps take 30 to 70 ms; a program of 30 lines needs a tenth of that.
struct RepairBudget {
  std::uint64_t max_candidates = 20'000;
  std::uint64_t max_steps = 1'000'000;
};

/// One change, or two changes that are needed together, if one of them is a transposition or an
/// exchange of operands. Or several lines left out, of which the first alone does harm.
struct Repair {
  Edit edit;
  std::vector<Edit> further;
  bool is_accepted = true;  // false: the results are right then, but the program costs too much
};

/// Where a program departs from the exercise's solution that it is written like.
struct Departures {
  std::vector<LineDifference> all;  // each is a mistake: without its repair the program stays wrong
  std::string repaired;             // the program with all of them repaired
  std::shared_ptr<const toy::Program> model;  // the same; `other` of the differences are its lines
};

struct Repairs {
  std::vector<Repair> repairs;           // right on all inputs of all sizes; the likeliest first
  std::optional<Departures> departures;  // what no single change repairs
  std::uint32_t line = 0;  // the line that the likeliest repairs change; 0: there is none
  std::uint64_t candidates = 0, steps = 0;
  bool complete = true;  // false: the budget ended the search
};

/// Tries every edit, then every insertion of a line of the program or of the exercise's solution,
/// then all departures from the solution together. Candidates are tried first at `sizes[failing]`,
/// where the submission is wrong. On tiles and on several machines, where a trial is expensive,
/// tries the departures first; then, on tiles, the edits that scalars do not show before all
/// others, and two transpositions at once. `suspect` is the line of the first wrong step, or 0. If
/// the program does not bind, tries the departures alone. The likeliest repair is right at all sizes of
/// `everywhere`, too.
Repairs find_repairs(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                     const std::vector<RepairSize>& sizes, std::size_t failing,
                     std::uint32_t suspect = 0, const RepairBudget& budget = {},
                     const std::vector<RepairSize>& everywhere = {});

/// The program after all edits of the repair; nothing if one of them makes no program.
std::optional<toy::Program> repaired_program(const toy::Program& program, const Repair& repair);

/// Returns the choices that the exercise's machine allows.
EditOptions edit_options(const ProgramTask& task, std::int64_t num_registers);

}  // namespace flashlab::exercises
