#include "toymachine/language/operand_parser.hpp"

#include <algorithm>

#include "text/nearest.hpp"
#include "text/read_number.hpp"

namespace flashlab::toy::detail {
namespace {

/// Returns "a[0][1]" for "a01", as texts write a cell: the array's name, and a digit for each axis (or,
/// of one axis, a number). Nothing if the word is none.
std::optional<std::string> meant_cell(std::string_view word,
                                      const std::vector<ArrayDeclaration>& arrays) {
  for (const ArrayDeclaration& array : arrays) {
    if (!word.starts_with(array.name)) continue;
    const std::string_view digits = word.substr(array.name.size());
    const std::size_t axes = array.extents.size();
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
      continue;
    }
    if (axes == 1) return array.name + "[" + std::string(digits) + "]";
    if (digits.size() != axes) continue;
    std::string cell = array.name;
    for (const char digit : digits) cell += std::string("[") + digit + "]";
    return cell;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> register_number(std::string_view word) {
  if (word.size() < 2 || (word[0] != 'R' && word[0] != 'r')) return std::nullopt;
  std::int64_t number = 0;
  if (!read_whole(word.substr(1), number) || number < 0) return std::nullopt;
  return number;
}

std::string operand_name(const InstructionSpec& spec, std::size_t position) {
  std::string_view names = spec.operand_names;
  for (std::size_t i = 0; i < position; ++i) names.remove_prefix(names.find(',') + 2);
  return std::string(names.substr(0, names.find(',')));
}

/// Reads m, or Q[c]; the cursor is after the name.
std::optional<Operand> OperandParser::named_register(Cursor& cursor, std::size_t name) {
  const RegisterDeclaration& declaration = program_.register_names[name];
  if (!declaration.first) return std::nullopt;  // its own line had an error, which was reported
  const Token& word = cursor.take();
  Operand operand;
  operand.span = word.span;
  operand.register_name = name;
  operand.register_index = declaration.first;
  if (!declaration.count) return operand;
  if (!cursor.accept("[")) {
    error(word.span, describe(word) + " is several registers",
          "one of them: " + declaration.name + "[0]");
    return std::nullopt;
  }
  operand.name_index = expression(cursor, Usage::kIndex);
  if (!operand.name_index) return std::nullopt;
  operand.span.length = cursor.peek().span.column + 1 - word.span.column;
  if (!cursor.accept("]")) {
    error(cursor.peek().span, "found " + describe(cursor.peek()), "']' after the index");
    return std::nullopt;
  }
  operand.register_index = sum_expression(declaration.first, operand.name_index);
  return operand;
}

std::optional<Operand> OperandParser::register_operand(Cursor& cursor, const std::string& role) {
  if (cursor.peek().kind == TokenKind::kIdentifier) {
    const auto found = scope_.declared.find(cursor.peek().text);
    if (found != scope_.declared.end() && found->second.kind == NamedThing::Kind::kRegister) {
      return named_register(cursor, found->second.index);
    }
  }
  if (is_of_program(cursor)) {
    error(cursor.peek().span, describe(cursor.peek()) + " is a register of the program",
          "S, or a register of the score function: .reg T");
    return std::nullopt;
  }
  const Token& word = cursor.take();
  Operand operand;
  operand.span = word.span;
  const bool computed = (word.text == "R" || word.text == "r") && cursor.peek().is("[");
  if (computed) {
    cursor.take();
    operand.register_index = expression(cursor, Usage::kIndex);
    if (!operand.register_index) return std::nullopt;
    operand.span.length = cursor.peek().span.column + 1 - word.span.column;
    if (!cursor.accept("]")) {
      error(cursor.peek().span, "found " + describe(cursor.peek()),
            "']' after the register number");
      return std::nullopt;
    }
    return operand;
  }
  const auto number = register_number(word.text);
  if (word.kind != TokenKind::kIdentifier || !number) {
    std::vector<std::string> names;
    for (const RegisterDeclaration& named : program_.register_names) names.push_back(named.name);
    error(word.span, "found " + describe(word),
          "a register for " + role + (scope_.outer ? ": S, or one from .reg" : ", such as R0"),
          nearest(word.text, names).value_or(""));
    return std::nullopt;
  }
  operand.register_index = integer_expression(*number, word.span);
  return operand;
}

std::optional<Operand> OperandParser::cell_operand(Cursor& cursor, const std::string& role) {
  const Token& word = cursor.take();
  const auto found = scope_.declared.find(word.text);
  if (word.kind != TokenKind::kIdentifier || found == scope_.declared.end() ||
      found->second.kind != NamedThing::Kind::kArray) {
    std::vector<std::string> names;
    for (const ArrayDeclaration& array : program_.arrays) names.push_back(array.name);
    const auto cell = meant_cell(word.text, program_.arrays);
    error(word.span,
          word.kind == TokenKind::kIdentifier ? "there is no array " + describe(word)
                                              : "found " + describe(word),
          "an array cell for " + role + ", such as x[0]",
          cell ? *cell : nearest(word.text, names).value_or(""));
    return std::nullopt;
  }
  Operand operand;
  operand.array = found->second.index;
  operand.span = word.span;
  if (!bracketed(cursor, operand.indices, Usage::kIndex)) return std::nullopt;
  const std::size_t axes = program_.arrays[operand.array].extents.size();
  if (operand.indices.size() != axes) {
    error(word.span,
          std::string(word.text) + " has " + std::to_string(operand.indices.size()) +
              (operand.indices.size() == 1 ? " index here" : " indices here"),
          std::to_string(axes) + ", one per axis");
    return std::nullopt;
  }
  if (!operand.indices.empty()) {
    const Token& next = cursor.peek();
    if (next.span.line == word.span.line && next.span.column > word.span.column) {
      const SourceSpan last = operand.indices.back()->span;
      operand.span.length =
          std::max(operand.span.length, last.column + last.length + 1 - word.span.column);
    }
  }
  return operand;
}

/// `^T` after a factor: the tile is read with rows and columns swapped.
bool OperandParser::transposition(Cursor& cursor, Operand& operand) {
  if (!cursor.accept("^")) return true;
  const Token& word = cursor.take();
  if (!word.is_word("T") && !word.is_word("t")) {
    error(word.span, "found " + describe(word) + " after '^'", "T: the register transposed");
    return false;
  }
  operand.transposed = true;
  operand.span.length = word.span.column + word.span.length - operand.span.column;
  return true;
}

std::optional<Operand> OperandParser::value_operand(Cursor& cursor, Usage usage) {
  Operand operand;
  operand.value = expression(cursor, usage);
  if (!operand.value) return std::nullopt;
  operand.span = operand.value->span;
  return operand;
}

/// In a score function: whether a register of the program begins here.
bool OperandParser::is_of_program(const Cursor& cursor) const {
  const Token& word = cursor.peek();
  if (!scope_.outer || word.kind != TokenKind::kIdentifier) return false;
  const auto found = scope_.outer->declared.find(word.text);
  if (found != scope_.outer->declared.end()) {
    return found->second.kind == NamedThing::Kind::kRegister;
  }
  const bool is_computed = (word.text == "R" || word.text == "r") && cursor.peek(1).is("[");
  return is_computed || register_number(word.text).has_value();
}

/// Whether an expression stands where a register may stand.
bool OperandParser::is_constant(const Cursor& cursor, const InstructionSpec& spec,
                                OperandKind kind) const {
  const bool allowed = program_.operand_rule == OperandRule::kConstants || scope_.outer;
  if (!allowed || kind != OperandKind::kSource || !spec.takes_constants()) return false;
  const Token& word = cursor.peek();
  if (word.kind != TokenKind::kIdentifier) return word.kind != TokenKind::kEnd;
  if ((word.text == "R" || word.text == "r") && cursor.peek(1).is("[")) return false;
  const auto found = scope_.declared.find(word.text);
  const auto given = scope_.given.find(word.text);
  if (given != scope_.given.end() && given->second.value) return true;
  if (found == scope_.declared.end()) {
    return !register_number(word.text) && (word.text == "inf" || cursor.peek(1).is("("));
  }
  return found->second.kind == NamedThing::Kind::kParam ||
         found->second.kind == NamedThing::Kind::kConst;
}

/// Whether the first operand is of the kind of the last one, as if the destination came first.
bool OperandParser::is_destination_first(const Token& word, const InstructionSpec& spec) const {
  const OperandKind first = spec.operands[0], last = spec.operands[spec.num_operands - 1];
  if (word.kind != TokenKind::kIdentifier || is_register(first) == is_register(last)) return false;
  const auto found = scope_.declared.find(word.text);
  const auto names = [&](NamedThing::Kind kind) {
    return found != scope_.declared.end() && found->second.kind == kind;
  };
  if (is_register(first)) return is_memory(last) && names(NamedThing::Kind::kArray);
  return names(NamedThing::Kind::kRegister) ||
         (found == scope_.declared.end() && register_number(word.text).has_value());
}

std::optional<Operand> OperandParser::operand(Cursor& cursor, const InstructionSpec& spec,
                                              std::size_t position) {
  OperandKind kind = spec.operands[position];
  if (is_constant(cursor, spec, kind)) kind = OperandKind::kConstant;
  const std::string role = operand_name(spec, position);
  if (position == 0 && is_destination_first(cursor.peek(), spec)) {
    error(cursor.peek().span,
          describe(cursor.peek()) + (is_register(kind) ? " is an array" : " is a register"),
          (is_register(kind) ? "a register for " + role + ", such as R0"
           : is_memory(kind) ? "an array cell for " + role + ", such as x[0]"
                             : "a number for " + role) +
              "; the destination comes last: " + std::string(spec.mnemonic) + " " +
              std::string(spec.operand_names));
    return std::nullopt;
  }
  auto result = kind == OperandKind::kConstant ? value_operand(cursor, Usage::kConst)
                : kind == OperandKind::kOffset || is_machine(kind)
                    ? value_operand(cursor, Usage::kIndex)
                : is_register(kind) ? register_operand(cursor, role)
                                    : cell_operand(cursor, role);
  if (!result) return std::nullopt;
  result->kind = kind;
  if (kind == OperandKind::kFactor && program_.level == Level::kAttention &&
      !transposition(cursor, *result)) {
    return std::nullopt;
  }
  if (is_memory_write(kind) && program_.arrays[result->array].role == ArrayRole::kInput) {
    error(result->span, "the input " + program_.arrays[result->array].name + " is written",
          "an .output or a .temp array");
    return std::nullopt;
  }
  return result;
}

}  // namespace flashlab::toy::detail
