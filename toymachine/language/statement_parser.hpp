// Lines to declarations and statements, one line at a time.
#pragma once

#include <optional>
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

/// Fills a Program. Each call reads one line from its first token; mistakes go to the diagnostics
/// and leave the line out. The two passes over the file (declarations, then statements) are the
/// assembler's.
class StatementParser {
 public:
  StatementParser(Program& program, Scope& scope, std::vector<Diagnostic>& diagnostics)
      : program_(program), scope_(scope), diagnostics_(diagnostics) {}

  // Declarations.
  void isa(const Line& line);
  void operands(const Line& line);
  void registers(const Line& line);
  void register_names(const Line& line);
  void params(const Line& line);
  void constant(const Line& line);
  void array(const Line& line, ArrayRole role);

  // Statements.
  std::optional<InstructionStatement> instruction(const Line& line);
  std::optional<NameStatement> name(const Line& line);
  /// Always gives a loop, so that its `end` finds it; the bounds of a bad header are 0..0.
  LoopStatement loop(const Line& line);

  void error(const SourceSpan& span, std::string what, std::string expected,
             std::string suggestion = {});
  /// Reports what is left of a line that should have ended.
  bool ended(const Cursor& cursor, const std::string& after);

 private:
  /// The declaration that the name stands for; nothing when the name was refused, or taken before
  /// by something else, both of which have been reported.
  std::optional<std::size_t> declared(const Token& word, NamedThing::Kind kind) const;
  /// False when the word names no instruction.
  bool extra_instruction(const Token& word);
  ExpressionPtr expression(Cursor& cursor, Usage usage);
  std::optional<Operand> operand(Cursor& cursor, const InstructionSpec& spec, std::size_t position);
  std::optional<Operand> register_operand(Cursor& cursor, const std::string& role);
  std::optional<Operand> named_register(Cursor& cursor, std::size_t name);
  std::optional<Operand> cell_operand(Cursor& cursor, const std::string& role);
  std::optional<Operand> value_operand(Cursor& cursor, Usage usage);
  bool transposition(Cursor& cursor, Operand& operand);
  bool check_pinned(const InstructionSpec& spec, const std::vector<Operand>& operands);
  bool bracketed(Cursor& cursor, std::vector<ExpressionPtr>& list, Usage usage);
  bool extents(Cursor& cursor, ArrayDeclaration& declaration);
  void element_type(Cursor& cursor, ArrayDeclaration& declaration);

  Program& program_;
  Scope& scope_;
  std::vector<Diagnostic>& diagnostics_;
  ExpressionPtr next_register_;  // the first without a name
};

/// The register number of a word such as R12 or r3.
std::optional<std::int64_t> register_number(std::string_view word);

/// The name of operand `position` in the table's operand list: "Rd".
std::string operand_name(const InstructionSpec& spec, std::size_t position);

}  // namespace flashlab::toy::detail
