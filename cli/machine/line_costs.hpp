// What a program costs, line by line, in texts short enough for the end of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {

/// A short text at the end of a line, and what it leaves out; `details` may be empty.
struct LineHint {
  std::uint32_t line = 0;
  std::string text, details;
};

class LineCosts {
 public:
  /// Derives the formulas. `defaults`: the program with its default parameters, for the numbers that
  /// stand where a formula is unknown or too long; null: it has none that fit. `remark` ends the hint
  /// of the first line. Ends early, without costs, after half a second of processor time.
  LineCosts(std::shared_ptr<const toy::Program> program, const toy::BoundProgram* defaults,
            std::string remark);

  /// Returns how often each instruction runs ("n - 1 times"), and in the first line what the whole
  /// program loads, stores and costs, or why that is not known.
  std::vector<LineHint> hints() const;
  /// Returns, in Markdown, what the instruction of the line does and costs; of the first line, what
  /// the program costs; empty for other lines.
  std::string about_line(std::uint32_t line) const;

 private:
  std::string formula_text(const toy::Formula& formula, std::size_t most) const;
  LineHint total() const;

  std::shared_ptr<const toy::Program> program_;
  std::vector<const toy::InstructionStatement*> instructions_;  // in source order
  std::optional<toy::CostFormulas> formulas_;
  std::optional<toy::Counters> numbers_;  // with the default parameters
  std::vector<toy::Count> times_;         // likewise, by site; empty: not known
  std::string remark_;
  std::string default_values_;  // "n = 8, d = 4"
  std::string unknown_;         // why there are no formulas
};

/// The lines before and after those in which two versions of a text differ.
class UnchangedLines {
 public:
  UnchangedLines(const toy::SourceText& from, const toy::SourceText& to);
  /// Returns where a line of `from` stands in `to`; 0 if it is not one of these lines.
  std::uint32_t place_of(std::uint32_t line) const;

 private:
  std::size_t from_count_, to_count_;   // lines
  std::size_t before_ = 0, after_ = 0;  // equal lines at the beginning and at the end
};

/// Returns the hints of LineCosts for another version of the text: those of unchanged lines, and the
/// total. Their details say that they are older. `new_lines`: by old line from 1, where it stands now;
/// 0: it is not there.
std::vector<LineHint> carried_over(std::vector<LineHint> hints,
                                   const std::vector<std::uint32_t>& new_lines);

/// Returns, in Markdown, what an instruction does.
std::string about_instruction(const toy::InstructionSpec& spec);

}  // namespace flashlab::cli
