// Makes a class from one solution: programs that differ like students' programs.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace flashlab::bench {

/// Makes different texts from one program. The same seed gives the same texts.
class ClassMaker {
 public:
  ClassMaker(const std::string& solution, std::uint64_t seed);

  /// Returns the solution with other register numbers, another order of independent
  /// lines, and comments.
  std::string right();
  /// Returns such a program with one edited line: removed, doubled, another register or
  /// instruction, or swapped with the next line. Few of these are still right.
  std::string edited();

 private:
  using Lines = std::vector<std::string>;
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(generator_() % limit); }
  Lines shuffled();
  void rename_registers(Lines& lines);
  void reorder(Lines& lines);
  std::string finished(const Lines& lines);

  Lines solution_;
  std::size_t num_registers_ = 0, num_made_ = 0;
  std::mt19937_64 generator_;
};

}  // namespace flashlab::bench
