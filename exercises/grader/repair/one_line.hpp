// Lines that a program may lack that is written in another way than the exercise's solution: the solution's
// instructions with the registers that this program has, wherever they can make a difference.
#pragma once

#include <cstddef>
#include <vector>

#include "exercises/grader/repair/edits.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

class OneLine {
 public:
  /// `solution` has the program's loop variables. Both must outlive this.
  OneLine(const toy::Program& program, const toy::Program& solution);

  /// The instructions that the solution has, as rows of instruction_set(); first those that the program has less often.
  std::vector<std::size_t> rows() const;

  /// Insertions of lines with this instruction at all places where something before them writes what they read, and
  /// something after them reads what they write; first those that update a register, and those in the fewest loops.
  std::vector<Edit> insertions(std::size_t row) const;

  /// Edits that put such a line in the place of another instruction of the program.
  std::vector<Edit> replacements(std::size_t row) const;

 private:
  const toy::Program &program_, &solution_;
};

}  // namespace flashlab::exercises
