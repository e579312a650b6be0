#include "toymachine/language/declaration_parser.hpp"

#include <algorithm>
#include <array>

#include "text/nearest.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 4> kElementTypes{
    {{"float", ElementType::kFloat},
     {"double", ElementType::kDouble},
     {"bf16", ElementType::kBf16},
     {"fp16", ElementType::kFp16}}};

}  // namespace

void DeclarationParser::declare(const Line& line, Directive directive) {
  switch (directive) {
    case Directive::kIsa:
      return isa(line);
    case Directive::kOperands:
      return operands(line);
    case Directive::kRegisters:
      return registers(line);
    case Directive::kMachines:
      return machines(line);
    case Directive::kReg:
      return register_names(line);
    case Directive::kParam:
      return params(line);
    case Directive::kConst:
      return constant(line);
    case Directive::kInput:
      return array(line, ArrayRole::kInput);
    case Directive::kTemp:
      return array(line, ArrayRole::kTemp);
    case Directive::kOutput:
      return array(line, ArrayRole::kOutput);
    case Directive::kPass:
    case Directive::kName:
    case Directive::kScore:
    case Directive::kUse:
      return;
  }
}

void DeclarationParser::isa(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  const Token& word = cursor.take();
  const auto level = parse_level(word.text);
  if (!level) {
    error(word.span, "unknown level " + describe(word), "matmul, softmax or attention",
          nearest(word.text, {"matmul", "softmax", "attention"}).value_or(""));
    return;
  }
  program_.level = *level;
  while (cursor.accept(",")) {
    if (!extra_instruction(cursor.take())) return;
  }
  if (cursor.at_end()) return;
  error(cursor.peek().span, "found " + describe(cursor.peek()) + " after the level",
        "the end of the line, or a comma and an instruction beyond the level");
}

bool DeclarationParser::extra_instruction(const Token& word) {
  const auto row = word.kind == TokenKind::kIdentifier ? find_instruction(word.text) : std::nullopt;
  const std::string level(to_string(program_.level));
  const std::string expected = "an instruction that the " + level + " machine does not have";
  if (!row) {
    const bool named = word.kind == TokenKind::kIdentifier;
    error(word.span, (named ? "unknown instruction " : "found ") + describe(word), expected,
          nearest(word.text, mnemonics_of(program_, false)).value_or(""));
    return false;
  }
  const std::string mnemonic(instruction_set()[*row].mnemonic);
  if (instruction_set()[*row].is_link()) {
    error(word.span, mnemonic + " needs several machines", ".machines rank of ranks = 2");
    return false;
  }
  if (instruction_set()[*row].in(program_.level)) {
    error(word.span, mnemonic + " is an instruction of the " + level + " machine already",
          expected);
  } else if (program_.has_instruction(*row)) {
    error(word.span, mnemonic + " is named twice", "each instruction once");
  } else {
    auto& rows = program_.extra_instructions;
    rows.insert(std::upper_bound(rows.begin(), rows.end(), *row), *row);
  }
  return true;
}

void DeclarationParser::operands(const Line& line) {
  const std::size_t at = line.tokens[1].is("=") ? 2 : 1;
  const Token& word = line.tokens[std::min(at, line.tokens.size() - 1)];
  if (word.is_word("any")) {
    program_.operand_rule = OperandRule::kAny;
  } else if (word.is_word("pinned")) {
    program_.operand_rule = OperandRule::kPinned;
  } else if (word.is_word("constants")) {
    program_.operand_rule = OperandRule::kConstants;
  } else {
    error(word.span, "unknown operand rule " + describe(word), "any, pinned or constants",
          nearest(word.text, {"any", "pinned", "constants"}).value_or(""));
  }
}

void DeclarationParser::registers(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  program_.registers = expression(cursor, Usage::kParam);
  if (program_.registers) ended(cursor, "the number of registers");
}

void DeclarationParser::machines(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  const std::string form = "a name for each machine's number, as in .machines rank of ranks = 2";
  const Token& rank = cursor.take();
  const auto rank_index = declared(rank, NamedThing::Kind::kParam);
  if (rank.kind != TokenKind::kIdentifier) {
    return error(rank.span, "found " + describe(rank), form);
  }
  const Token& of = cursor.take();
  if (!of.is_word("of")) return error(of.span, "found " + describe(of), "'of', as in " + form);
  const Token& ranks = cursor.take();
  if (ranks.kind != TokenKind::kIdentifier) {
    return error(ranks.span, "found " + describe(ranks), "a name for the number of machines");
  }
  const auto ranks_index = declared(ranks, NamedThing::Kind::kParam);
  if (!rank_index || !ranks_index || *rank_index == *ranks_index) return;
  if (cursor.accept("=")) {
    scope_.visible_params = *rank_index;
    program_.params[*ranks_index].default_value = expression(cursor, Usage::kParam);
    scope_.visible_params = SIZE_MAX;
    if (!program_.params[*ranks_index].default_value) return;
  }
  if (!ended(cursor, "the number of machines")) return;
  program_.machines = MachinesDeclaration{*rank_index, *ranks_index, line.tokens[0].span};
}

void DeclarationParser::register_names(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  if (!next_register_) next_register_ = integer_expression(0, line.tokens[0].span);
  do {
    const Token& word = cursor.take();
    if (word.kind != TokenKind::kIdentifier) {
      error(word.span, "found " + describe(word), "a name for a register, such as m or Q[4]");
      return;
    }
    const auto index = declared(word, NamedThing::Kind::kRegister);
    if (!index) return;
    RegisterDeclaration& declaration = program_.register_names[*index];
    declaration.first = next_register_;
    if (cursor.accept("[")) {
      declaration.count = expression(cursor, Usage::kParam);
      if (!declaration.count) return;
      if (!cursor.accept("]")) {
        error(cursor.peek().span, "found " + describe(cursor.peek()),
              "']' after the number of registers");
        return;
      }
    }
    next_register_ = sum_expression(
        next_register_, declaration.count ? declaration.count : integer_expression(1, word.span));
  } while (cursor.accept(","));
  ended(cursor, "the register");
}

std::optional<std::size_t> DeclarationParser::declared(const Token& word,
                                                       NamedThing::Kind kind) const {
  const auto found = scope_.declared.find(word.text);
  if (found == scope_.declared.end() || found->second.kind != kind) return std::nullopt;
  // The first declaration holds: a second one, which was refused, changes nothing.
  const SourceSpan& first = found->second.span;
  if (first.line != word.span.line || first.column != word.span.column) return std::nullopt;
  return found->second.index;
}

void DeclarationParser::params(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  do {
    const Token& word = cursor.take();
    if (word.kind != TokenKind::kIdentifier) {
      error(word.span, "found " + describe(word), "a parameter such as n = 8");
      return;
    }
    const auto index = declared(word, NamedThing::Kind::kParam);
    if (!index) return;
    ParamDeclaration& param = program_.params[*index];
    if (cursor.accept("=")) {
      scope_.visible_params = *index;
      param.default_value = expression(cursor, Usage::kParam);
      scope_.visible_params = SIZE_MAX;
      if (!param.default_value) return;
    }
  } while (cursor.accept(","));
  ended(cursor, "the parameter");
}

void DeclarationParser::constant(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  const Token& word = cursor.take();
  if (word.kind != TokenKind::kIdentifier || !cursor.accept("=")) {
    error(word.span, "found " + describe(word), "a constant such as scale = 1/sqrt(d)");
    return;
  }
  const auto index = declared(word, NamedThing::Kind::kConst);
  if (!index) return;
  scope_.visible_consts = *index;
  ExpressionPtr value = expression(cursor, Usage::kConst);
  scope_.visible_consts = SIZE_MAX;
  if (value && ended(cursor, "the constant")) program_.consts[*index].value = value;
}

bool DeclarationParser::extents(Cursor& cursor, ArrayDeclaration& declaration) {
  if (!cursor.accept("(")) return bracketed(cursor, declaration.extents, Usage::kParam);
  const auto list = [&](std::vector<ExpressionPtr>& values) {
    do {
      ExpressionPtr value = expression(cursor, Usage::kParam);
      if (!value) return false;
      values.push_back(std::move(value));
    } while (cursor.accept(","));
    if (cursor.accept(")")) return true;
    error(cursor.peek().span, "found " + describe(cursor.peek()), "')' after the sizes");
    return false;
  };
  if (!list(declaration.extents)) return false;
  if (!cursor.peek().is_word("tile")) return true;
  cursor.take();
  const Token& open = cursor.peek();
  if (!cursor.accept("(")) {
    error(open.span, "found " + describe(open), "a tile such as tile (B, Bd)");
    return false;
  }
  if (!list(declaration.tile)) return false;
  if (declaration.tile.size() == 2 && declaration.extents.size() >= 2) return true;
  error(open.span,
        "the tile has " + std::to_string(declaration.tile.size()) + " sizes and " +
            declaration.name + " has " + std::to_string(declaration.extents.size()) + " axes",
        "rows and columns, of the last two axes: " + declaration.name + "(n, d) tile (B, Bd)");
  return false;
}

void DeclarationParser::element_type(Cursor& cursor, ArrayDeclaration& declaration) {
  if (cursor.at_end()) return;
  const Token& word = cursor.take();
  for (const auto& [name, type] : kElementTypes) {
    if (word.is_word(name)) {
      declaration.element_type = type;
      return;
    }
  }
  error(word.span, "unknown element type " + describe(word), "float, double, bf16 or fp16",
        nearest(word.text, {"float", "double", "bf16", "fp16"}).value_or(""));
}

void DeclarationParser::array(const Line& line, ArrayRole role) {
  Cursor cursor(line.tokens);
  cursor.take();
  const Token& word = cursor.take();
  if (word.kind != TokenKind::kIdentifier) {
    error(word.span, "found " + describe(word), "an array such as x[n]");
    return;
  }
  const auto index = declared(word, NamedThing::Kind::kArray);
  if (!index) return;
  ArrayDeclaration& declaration = program_.arrays[*index];
  declaration.role = role;
  if (!extents(cursor, declaration)) return;
  if (declaration.extents.empty()) {
    error(cursor.peek().span, "the array " + declaration.name + " has no size",
          "one size per axis, such as " + declaration.name + "[n]");
    return;
  }
  element_type(cursor, declaration);
  ended(cursor, "the declaration");
}

}  // namespace flashlab::toy::detail
