// The base of the parsers of declarations, operands and statements: a line, and error reports.
#pragma once

#include <string>
#include <vector>

#include "toymachine/language/expression_parser.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::toy::detail {

/// A source line, ready to parse.
struct Line {
  std::vector<Token> tokens;
  std::string title;  // of a .pass line
};

class LineParser {
 public:
  LineParser(Program& program, Scope& scope, std::vector<Diagnostic>& diagnostics)
      : program_(program), scope_(scope), diagnostics_(diagnostics) {}

  void error(const SourceSpan& span, std::string what, std::string expected,
             std::string suggestion = {});
  /// Reports the rest of a line that should have ended.
  bool ended(const Cursor& cursor, const std::string& after);

 protected:
  ExpressionPtr expression(Cursor& cursor, Usage usage);
  /// Appends the indices or sizes `[a][b]…` to the list; false after an error.
  bool bracketed(Cursor& cursor, std::vector<ExpressionPtr>& list, Usage usage);

  Program& program_;
  Scope& scope_;
  std::vector<Diagnostic>& diagnostics_;
};

/// Returns the instructions that the program's machine has, or those that it lacks.
std::vector<std::string> mnemonics_of(const Program& program, bool known);

/// Returns a + b, folded if both are numbers.
ExpressionPtr sum_expression(const ExpressionPtr& a, const ExpressionPtr& b);
ExpressionPtr integer_expression(std::int64_t value, const SourceSpan& span);

}  // namespace flashlab::toy::detail
