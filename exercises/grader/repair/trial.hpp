// Runs changed programs at one size, to see whether their results are right.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/repair/edits.hpp"
#include "exercises/grader/repair/repair.hpp"

namespace flashlab::exercises {

class Trial {
 public:
  virtual ~Trial() = default;
  /// Returns whether the program with this edit is right. Adds the work to `steps`.
  virtual bool is_right(const Edit& edit, std::uint64_t& steps) = 0;
  /// Returns how many outputs are right in all their cells after edits of different lines, none of
  /// which inserts a line.
  virtual std::size_t right_outputs(const std::vector<Edit>& edits, std::uint64_t& steps) = 0;
};

std::unique_ptr<Trial> make_trial(const ProgramTask& task,
                                  const std::shared_ptr<const toy::Program>& program,
                                  const RepairSize& size);

/// Whether the program is right on all inputs of the size.
bool is_right_at(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                 const RepairSize& size);

}  // namespace flashlab::exercises
