// Parses the lines in the program's body: instructions, `.name` and `for`.
#pragma once

#include <optional>
#include <vector>

#include "toymachine/language/operand_parser.hpp"

namespace flashlab::toy::detail {

/// Each call reads one line from its first token. A line with an error is reported and left out.
class StatementParser : public OperandParser {
 public:
  using OperandParser::OperandParser;

  std::optional<InstructionStatement> instruction(const Line& line);
  std::optional<NameStatement> name(const Line& line);
  /// Always returns a loop, so that its `end` has a partner; the bounds of a bad header are 0..0.
  LoopStatement loop(const Line& line);

 private:
  bool check_pinned(const InstructionSpec& spec, const std::vector<Operand>& operands);
};

}  // namespace flashlab::toy::detail
