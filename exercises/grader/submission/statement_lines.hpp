// Lines of a program's text, for comparisons.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Returns the line's words without its comment: "LOAD", "x[i]", "R0".
std::vector<std::string> words(std::string_view line);

/// Returns the nearest line above (step -1) or below (step 1) with an instruction, `for` or
/// `end`, or 0.
std::uint32_t next_statement(const toy::SourceText& source, std::uint32_t line, int step);

/// The words of all lines of a text, split once. Lines count from 1; line 0 has no words.
class StatementLines {
 public:
  using Words = std::vector<std::string>;
  explicit StatementLines(const toy::SourceText& source);

  const Words& words(std::uint32_t line) const { return words_.at(line); }
  /// The lines with these words.
  std::vector<std::uint32_t> with(const Words& words) const;
  /// next_statement() of the text.
  std::uint32_t next(std::uint32_t line, int step) const;

 private:
  std::vector<Words> words_;                            // [line]
  std::map<Words, std::vector<std::uint32_t>> places_;  // of the lines that are not empty
};

}  // namespace flashlab::exercises
