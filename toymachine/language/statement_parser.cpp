#include "toymachine/language/statement_parser.hpp"

#include <algorithm>
#include <array>

#include "toymachine/language/read_number.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 4> kElementTypes{
    {{"float", ElementType::kFloat},
     {"double", ElementType::kDouble},
     {"bf16", ElementType::kBf16},
     {"fp16", ElementType::kFp16}}};

constexpr std::int64_t kMostRegisterNumber = std::int64_t{1} << 32;  // sums of two still fit

SourceSpan whole_line(const Line& line) {
  const SourceSpan first = line.tokens.front().span;
  const SourceSpan last = line.tokens[line.tokens.size() - 2].span;  // before the end's token
  return {first.line, first.column, last.column + last.length - first.column};
}

/// The instructions that the program's machine knows, or those that it does not.
std::vector<std::string> mnemonics_of(const Program& program, bool known) {
  std::vector<std::string> words;
  for (std::size_t row = 0; row < instruction_set().size(); ++row) {
    if (program.has_instruction(row) == known) {
      words.emplace_back(instruction_set()[row].mnemonic);
    }
  }
  return words;
}

std::vector<std::string> words_of(const Program& program) {
  std::vector<std::string> words = mnemonics_of(program, true);
  words.insert(words.begin(), {"for", "end"});
  return words;
}

/// "matmul or attention": the levels that have the instruction.
std::string levels_of(const InstructionSpec& spec) {
  std::string text;
  for (const Level level : {Level::kMatmul, Level::kSoftmax, Level::kAttention}) {
    if (spec.in(level)) text += (text.empty() ? "" : " or ") + std::string(to_string(level));
  }
  return text;
}

/// a + b, folded where both are numbers.
ExpressionPtr sum_expression(const ExpressionPtr& a, const ExpressionPtr& b) {
  Expression e;
  e.span = b->span;
  if (a->op == ExpressionOp::kInteger && a->integer == 0) return b;
  if (b->op == ExpressionOp::kInteger && b->integer == 0) return a;
  if (a->op == ExpressionOp::kInteger && b->op == ExpressionOp::kInteger &&
      a->integer < kMostRegisterNumber && b->integer < kMostRegisterNumber) {
    e.integer = a->integer + b->integer;
  } else {
    e.op = ExpressionOp::kAdd;
    e.args = {a, b};
  }
  return std::make_shared<const Expression>(std::move(e));
}

ExpressionPtr integer(std::int64_t value, const SourceSpan& span) {
  Expression e;
  e.integer = value;
  e.span = span;
  return std::make_shared<const Expression>(std::move(e));
}

}  // namespace

std::optional<std::int64_t> register_number(std::string_view word) {
  if (word.size() < 2 || (word[0] != 'R' && word[0] != 'r')) return std::nullopt;
  std::int64_t number = 0;
  const auto [at, bad] = read_number(word.substr(1), number);
  if (at != word.data() + word.size() || bad != std::errc{} || number < 0) return std::nullopt;
  return number;
}

std::string operand_name(const InstructionSpec& spec, std::size_t position) {
  std::string_view names = spec.operand_names;
  for (std::size_t i = 0; i < position; ++i) names.remove_prefix(names.find(',') + 2);
  return std::string(names.substr(0, names.find(',')));
}

void StatementParser::error(const SourceSpan& span, std::string what, std::string expected,
                            std::string suggestion) {
  diagnostics_.push_back({Severity::kError, Fault::kProgram, span, std::move(what),
                          std::move(expected), std::move(suggestion)});
}

bool StatementParser::ended(const Cursor& cursor, const std::string& after) {
  if (cursor.at_end()) return true;
  error(cursor.peek().span, "found " + describe(cursor.peek()) + " after " + after,
        "the end of the line");
  return false;
}

ExpressionPtr StatementParser::expression(Cursor& cursor, Usage usage) {
  return ExpressionParser(cursor, scope_, program_, diagnostics_).parse(usage);
}

void StatementParser::isa(const Line& line) {
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

bool StatementParser::extra_instruction(const Token& word) {
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

void StatementParser::operands(const Line& line) {
  const std::size_t at = line.tokens[1].is("=") ? 2 : 1;
  const Token& word = line.tokens[std::min(at, line.tokens.size() - 1)];
  if (word.is_word("any")) {
    program_.operand_rule = OperandRule::kAny;
  } else if (word.is_word("pinned")) {
    program_.operand_rule = OperandRule::kPinned;
  } else {
    error(word.span, "unknown operand rule " + describe(word), "any or pinned",
          nearest(word.text, {"any", "pinned"}).value_or(""));
  }
}

void StatementParser::registers(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  program_.registers = expression(cursor, Usage::kParam);
  if (program_.registers) ended(cursor, "the number of registers");
}

void StatementParser::register_names(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  if (!next_register_) next_register_ = integer(0, line.tokens[0].span);
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
    next_register_ = sum_expression(next_register_,
                                    declaration.count ? declaration.count : integer(1, word.span));
  } while (cursor.accept(","));
  ended(cursor, "the register");
}

std::optional<std::size_t> StatementParser::declared(const Token& word,
                                                     NamedThing::Kind kind) const {
  const auto found = scope_.declared.find(word.text);
  if (found == scope_.declared.end() || found->second.kind != kind) return std::nullopt;
  return found->second.index;
}

void StatementParser::params(const Line& line) {
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

void StatementParser::constant(const Line& line) {
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

bool StatementParser::bracketed(Cursor& cursor, std::vector<ExpressionPtr>& list, Usage usage) {
  while (cursor.accept("[")) {
    ExpressionPtr index = expression(cursor, usage);
    if (!index) return false;
    list.push_back(std::move(index));
    if (!cursor.accept("]")) {
      error(cursor.peek().span, "found " + describe(cursor.peek()), "']' after the index");
      return false;
    }
  }
  return true;
}

bool StatementParser::extents(Cursor& cursor, ArrayDeclaration& declaration) {
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

void StatementParser::element_type(Cursor& cursor, ArrayDeclaration& declaration) {
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

void StatementParser::array(const Line& line, ArrayRole role) {
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
          "one size an axis, such as " + declaration.name + "[n]");
    return;
  }
  element_type(cursor, declaration);
  ended(cursor, "the declaration");
}

/// m, or Q[c]: the cursor stands behind the name.
std::optional<Operand> StatementParser::named_register(Cursor& cursor, std::size_t name) {
  const RegisterDeclaration& declaration = program_.register_names[name];
  if (!declaration.first) return std::nullopt;  // its own line was wrong, and reported
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

std::optional<Operand> StatementParser::register_operand(Cursor& cursor, const std::string& role) {
  if (cursor.peek().kind == TokenKind::kIdentifier) {
    const auto found = scope_.declared.find(cursor.peek().text);
    if (found != scope_.declared.end() && found->second.kind == NamedThing::Kind::kRegister) {
      return named_register(cursor, found->second.index);
    }
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
    error(word.span, "found " + describe(word), "a register for " + role + ", such as R0",
          nearest(word.text, names).value_or(""));
    return std::nullopt;
  }
  operand.register_index = integer(*number, word.span);
  return operand;
}

std::optional<Operand> StatementParser::cell_operand(Cursor& cursor, const std::string& role) {
  const Token& word = cursor.take();
  const auto found = scope_.declared.find(word.text);
  if (word.kind != TokenKind::kIdentifier || found == scope_.declared.end() ||
      found->second.kind != NamedThing::Kind::kArray) {
    std::vector<std::string> names;
    for (const ArrayDeclaration& array : program_.arrays) names.push_back(array.name);
    error(word.span,
          word.kind == TokenKind::kIdentifier ? "there is no array " + describe(word)
                                              : "found " + describe(word),
          "an array cell for " + role + ", such as x[0]", nearest(word.text, names).value_or(""));
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
          std::to_string(axes) + ", one an axis");
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

/// `^T` after a factor: the tile is read with rows and columns exchanged.
bool StatementParser::transposition(Cursor& cursor, Operand& operand) {
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

std::optional<Operand> StatementParser::value_operand(Cursor& cursor, Usage usage) {
  Operand operand;
  operand.value = expression(cursor, usage);
  if (!operand.value) return std::nullopt;
  operand.span = operand.value->span;
  return operand;
}

std::optional<Operand> StatementParser::operand(Cursor& cursor, const InstructionSpec& spec,
                                                std::size_t position) {
  const OperandKind kind = spec.operands[position];
  const std::string role = operand_name(spec, position);
  auto result = kind == OperandKind::kConstant ? value_operand(cursor, Usage::kConst)
                : kind == OperandKind::kOffset ? value_operand(cursor, Usage::kIndex)
                : is_register(kind)            ? register_operand(cursor, role)
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

bool StatementParser::check_pinned(const InstructionSpec& spec,
                                   const std::vector<Operand>& operands) {
  if (program_.operand_rule != OperandRule::kPinned) return true;
  std::int64_t factor = 0;
  for (const Operand& operand : operands) {
    if (operand.kind != OperandKind::kFactor) continue;
    const Expression& e = *operand.register_index;
    if (e.op != ExpressionOp::kInteger || e.integer != factor) {
      error(operand.span,
            "factor " + std::to_string(factor + 1) + " of " + std::string(spec.mnemonic) +
                " is not R" + std::to_string(factor),
            "R" + std::to_string(factor) + ": this program has pinned operands");
      return false;
    }
    ++factor;
  }
  return true;
}

std::optional<InstructionStatement> StatementParser::instruction(const Line& line) {
  Cursor cursor(line.tokens);
  const Token& word = cursor.take();
  const auto row = word.kind == TokenKind::kIdentifier ? find_instruction(word.text) : std::nullopt;
  if (!row) {
    error(
        word.span,
        (word.kind == TokenKind::kIdentifier ? "unknown instruction " : "found ") + describe(word),
        "an instruction of the " + std::string(to_string(program_.level)) +
            " machine, 'for', 'end' or a directive",
        nearest(word.text, words_of(program_)).value_or(""));
    return std::nullopt;
  }
  const InstructionSpec& spec = instruction_set()[*row];
  if (!program_.has_instruction(*row)) {
    const std::string mnemonic(spec.mnemonic), level(to_string(program_.level));
    error(word.span, mnemonic + " is not an instruction of the " + level + " machine",
          "a program with .isa " + levels_of(spec) + ", or with .isa " + level + ", " + mnemonic);
    return std::nullopt;
  }
  InstructionStatement result;
  result.row = *row;
  result.span = whole_line(line);
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    if (i > 0 && !cursor.accept(",")) {
      error(cursor.peek().span,
            "found " + describe(cursor.peek()) + " after " + std::to_string(i) +
                (i == 1 ? " operand" : " operands"),
            "', " + operand_name(spec, i) + "': " + std::string(spec.mnemonic) + " " +
                std::string(spec.operand_names));
      return std::nullopt;
    }
    auto parsed = operand(cursor, spec, i);
    if (!parsed) return std::nullopt;
    result.operands.push_back(std::move(*parsed));
  }
  if (!ended(cursor, std::string(spec.mnemonic) + " " + std::string(spec.operand_names)) ||
      !check_pinned(spec, result.operands)) {
    return std::nullopt;
  }
  return result;
}

std::optional<NameStatement> StatementParser::name(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  auto reg = register_operand(cursor, "the named value");
  if (!reg) return std::nullopt;
  NameStatement result;
  result.register_index = reg->register_index;
  result.register_name = reg->register_name;
  result.name_index = reg->name_index;
  result.span = whole_line(line);
  if (!cursor.accept("=") || cursor.peek().kind != TokenKind::kIdentifier) {
    error(cursor.peek().span, "found " + describe(cursor.peek()), "a label: .name R1 = m");
    return std::nullopt;
  }
  result.label = std::string(cursor.take().text);
  if (!bracketed(cursor, result.subscripts, Usage::kIndex)) return std::nullopt;
  if (cursor.accept("=")) {
    result.claim = expression(cursor, Usage::kClaim);
    if (!result.claim) return std::nullopt;
  }
  if (!ended(cursor, "the label")) return std::nullopt;
  return result;
}

LoopStatement StatementParser::loop(const Line& line) {
  Cursor cursor(line.tokens);
  LoopStatement result;
  result.span = whole_line(line);
  result.lower = result.upper = integer(0, result.span);
  result.step = integer(1, result.span);
  cursor.take();
  const Token& var = cursor.take();
  result.loop = program_.loop_vars.size();
  result.var = std::string(var.text);
  program_.loop_vars.push_back(result.var);
  if (var.kind != TokenKind::kIdentifier || register_number(var.text)) {
    error(var.span, "found " + describe(var), "a loop such as for i in 0..n");
    return result;
  }
  const auto same = [&](const auto& entry) { return entry.first == var.text; };
  const bool taken = scope_.declared.find(var.text) != scope_.declared.end() ||
                     std::any_of(scope_.loops.begin(), scope_.loops.end(), same);
  if (taken) error(var.span, describe(var) + " already has a meaning here", "a new name");
  if (!cursor.peek().is_word("in")) {
    error(cursor.peek().span, "found " + describe(cursor.peek()), "'in' after the loop variable");
    return result;
  }
  cursor.take();
  ExpressionPtr lower = expression(cursor, Usage::kBound);
  if (!lower) return result;
  if (!cursor.accept("..")) {
    error(cursor.peek().span, "found " + describe(cursor.peek()), "'..' after the first value");
    return result;
  }
  ExpressionPtr upper = expression(cursor, Usage::kBound);
  if (!upper) return result;
  if (cursor.peek().is_word("step")) {
    cursor.take();
    ExpressionPtr step = expression(cursor, Usage::kParam);
    if (!step) return result;
    result.step = std::move(step);
  }
  if (ended(cursor, "the loop's range")) {
    result.lower = std::move(lower);
    result.upper = std::move(upper);
  }
  return result;
}

}  // namespace flashlab::toy::detail
