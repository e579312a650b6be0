// Parses operands of instructions: registers, cells, constants and offsets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "toymachine/language/line_parser.hpp"

namespace flashlab::toy::detail {

class OperandParser : public LineParser {
 public:
  using LineParser::LineParser;

 protected:
  std::optional<Operand> operand(Cursor& cursor, const InstructionSpec& spec, std::size_t position);
  std::optional<Operand> register_operand(Cursor& cursor, const std::string& role);

 private:
  std::optional<Operand> named_register(Cursor& cursor, std::size_t name);
  std::optional<Operand> cell_operand(Cursor& cursor, const std::string& role);
  std::optional<Operand> value_operand(Cursor& cursor, Usage usage);
  bool is_constant(const Cursor& cursor, const InstructionSpec& spec, OperandKind kind) const;
  bool is_of_program(const Cursor& cursor) const;
  bool transposition(Cursor& cursor, Operand& operand);
  bool is_destination_first(const Token& word, const InstructionSpec& spec) const;
};

/// Returns the register number of a word such as R12 or r3.
std::optional<std::int64_t> register_number(std::string_view word);

/// Returns the name of operand `position` in the table's operand list: "Rd".
std::string operand_name(const InstructionSpec& spec, std::size_t position);

}  // namespace flashlab::toy::detail
