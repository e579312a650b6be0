// The lines of a program's text, split into words, for programs that are made from it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::exercises {

/// `for i in 0..tiles(q)`.
struct LoopLine {
  std::size_t line = 0, end = 0;             // of `for` and of its `end`, from 0
  std::string variable, lower, upper, rest;  // rest: " step 2", a comment
};

/// `MAC Q, K^T, S, S`.
struct InstructionLine {
  std::size_t line = 0;
  std::string mnemonic;
  std::vector<std::string> operands;
  std::vector<std::size_t> loops;  // around it, into ProgramLines::loops; outermost first
};

class ProgramLines {
 public:
  /// `text` must be a program that assembles.
  explicit ProgramLines(const std::string& text);

  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<LoopLine>& loops() const { return loops_; }
  const std::vector<InstructionLine>& instructions() const { return instructions_; }
  /// The lines of declarations with this word: ".param".
  std::vector<std::size_t> declarations(std::string_view word) const;
  /// The first line that is no declaration: of the body.
  std::size_t body() const { return body_; }

 private:
  std::vector<std::string> lines_;
  std::vector<LoopLine> loops_;
  std::vector<InstructionLine> instructions_;
  std::size_t body_ = 0;
};

/// A text with some lines exchanged for others, which may have several lines or none.
class ChangedLines {
 public:
  explicit ChangedLines(const ProgramLines& program) : lines_(program.lines()) {}

  ChangedLines& replace(std::size_t line, const std::string& by);
  ChangedLines& before(std::size_t line, const std::string& text);
  ChangedLines& after(std::size_t line, const std::string& text);
  ChangedLines& drop(std::size_t line);
  std::string text() const;

 private:
  std::vector<std::string> lines_;  // one may hold several, or "\x01" for none
};

/// The array of a cell: "o" of "o[i][0]".
std::string array_of(const std::string& cell);

/// Whether the word is one of the names in the text: i in "o[i][0]".
bool has_name(std::string_view text, std::string_view word);

}  // namespace flashlab::exercises
