// A function of the scores: lines that a program executes at each of its `.score` lines.
#pragma once

#include <functional>
#include <vector>

#include "toymachine/language/declaration_parser.hpp"
#include "toymachine/language/name_collector.hpp"
#include "toymachine/language/statement_parser.hpp"

namespace flashlab::toy::detail {

/// Reads the function's lines. They have a scope of their own: the program's parameters and constants,
/// what the function declares, and what the mark gives: S, i, j, row, col, n, nk, B, Bk.
class ScoreFunction : LineParser {
 public:
  /// `outer` is the program's scope.
  ScoreFunction(Program& program, const Scope& outer, std::vector<Diagnostic>& diagnostics);

  /// Collects names: after those of the program.
  void collect(const std::vector<Line>& lines, const std::vector<Line>& program_lines);
  /// Gives the names of the mark's sizes their meaning.
  void give_sizes(const ScoreMark& mark);
  /// Parses declarations: after those of the program, whose registers come first.
  void declare(const DeclarationParser& of_program);
  /// Calls `add` with the function's instructions at this mark. Errors are reported once.
  void insert(const ScoreMark& mark, const std::function<void(InstructionStatement)>& add);
  bool has_instructions() const { return num_instructions_ > 0; }

 private:
  void check_line(const Line& line, Directive directive);
  /// Whether the instruction may be part of a function; makes it one of the program's machine.
  bool allows(const Line& line);
  void give(const char* name, ExpressionPtr value, bool varies);

  Scope own_scope_;
  DeclarationParser declarations_;
  StatementParser parser_;
  std::vector<Line> lines_;
  std::size_t num_instructions_ = 0;
  std::size_t num_marks_ = 0;
  bool failed_ = false;
};

}  // namespace flashlab::toy::detail
