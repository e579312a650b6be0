// Parses the lines in the program's body: instructions, `.name` and `for`.
#pragma once

#include <optional>
#include <vector>

#include "toymachine/language/operand_parser.hpp"

namespace flashlab::toy::detail {

/// `.score S, i, j of (n, nk) tile (B, Bk)`: here S is the tile (i, j) of n x nk scores, in tiles of
/// B x Bk.
struct ScoreMark {
  std::size_t register_name = 0;  // into Program::register_names
  ExpressionPtr row_tile, column_tile;
  ExpressionPtr rows, columns, tile_rows, tile_columns;
  SourceSpan span;
};

/// Each call reads one line from its first token. A line with an error is reported and left out.
class StatementParser : public OperandParser {
 public:
  using OperandParser::OperandParser;

  std::optional<InstructionStatement> instruction(const Line& line);
  std::optional<NameStatement> name(const Line& line);
  std::optional<ScoreMark> score(const Line& line);
  /// The same without the place of the tile, which needs the loops around the line.
  std::optional<ScoreMark> score_sizes(const Line& line);
  void unknown_directive(const Token& word);
  /// Always returns a loop, so that its `end` has a partner; the bounds of a bad header are 0..0.
  LoopStatement loop(const Line& line);

 private:
  bool score_sizes(Cursor& cursor, ScoreMark& mark);
  bool accept(Cursor& cursor, std::string_view text);
  bool check_pinned(const InstructionSpec& spec, const std::vector<Operand>& operands);
};

}  // namespace flashlab::toy::detail
