// A class out of one solution: programs that differ as students' programs do.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace flashlab::bench {

/// Texts from one program, always the same for a seed. No two are alike.
class ClassMaker {
 public:
  ClassMaker(const std::string& solution, std::uint64_t seed);

  /// The solution with other register numbers, independent lines in another order, comments.
  std::string right();
  /// Such a program with one line edited: dropped, doubled, another register or instruction, or
  /// swapped with the next. Few of these are still right.
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
