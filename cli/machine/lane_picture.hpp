// Draws a timeline as letters: one lane per unit, time from left to right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "toymachine/timeline/timeline.hpp"

namespace flashlab::cli {

/// Cycles [from, to) as letters. Each letter represents several cycles, so that the picture fits
/// the terminal, and shows what is most frequent among them.
class LanePicture {
 public:
  LanePicture(const toy::BoundProgram& program, std::int64_t from, std::int64_t to,
              const Terminal& terminal);

  /// Returns the columns for cycles on a terminal, after the lane's name.
  static std::int64_t columns(const Terminal& terminal);
  /// Returns the cycles per column, a round number, so that `cycles` fit.
  static std::int64_t cycles_of_column(std::int64_t cycles, const Terminal& terminal);

  void add(std::size_t model, const toy::TimelineInterval& interval);
  /// Returns a heading, two lanes for each model, one axis, and a legend of the letters that occur.
  std::string to_string(const std::vector<toy::Timeline>& timelines) const;

 private:
  using Cycles = std::vector<std::int64_t>;  // by column and kind: row of the table, or cause

  std::size_t num_columns() const;
  char glyph(std::size_t kind) const;
  std::size_t main_kind(const Cycles& cycles, std::size_t column) const;
  std::string axis() const;
  std::string lane(const Cycles& cycles, toy::Unit unit) const;
  std::string legend() const;

  const toy::BoundProgram& program_;
  std::int64_t from_, to_, scale_;  // scale_: cycles per column
  const Terminal& terminal_;
  std::vector<Cycles> lanes_;  // by model and unit
  std::vector<char> seen_;     // by kind
};

}  // namespace flashlab::cli
