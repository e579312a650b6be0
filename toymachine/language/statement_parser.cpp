#include "toymachine/language/statement_parser.hpp"

#include <algorithm>

#include "text/nearest.hpp"
#include "toymachine/language/directive.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr const char* kMarkForm = ".score S, i, j of (n, nk) tile (B, Bk)";

SourceSpan whole_line(const Line& line) {
  const SourceSpan first = line.tokens.front().span;
  const SourceSpan last = line.tokens[line.tokens.size() - 2].span;  // before the end's token
  return {first.line, first.column, last.column + last.length - first.column};
}

std::vector<std::string> words_of(const Program& program) {
  std::vector<std::string> words = mnemonics_of(program, true);
  words.insert(words.begin(), {"for", "end"});
  return words;
}

/// Returns "matmul or attention": the levels that have the instruction; empty if none has.
std::string levels_of(const InstructionSpec& spec) {
  std::string text;
  for (const Level level : {Level::kMatmul, Level::kSoftmax, Level::kAttention}) {
    if (spec.in(level)) text += (text.empty() ? "" : " or ") + std::string(to_string(level));
  }
  return text;
}

}  // namespace

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
    if (spec.is_link()) {
      error(word.span, mnemonic + " needs several machines",
            "a line such as .machines rank of ranks = 2");
      return std::nullopt;
    }
    const std::string levels = levels_of(spec);
    std::string isa = ".isa " + level;
    for (const std::size_t extra : program_.extra_instructions) {
      isa += ", " + std::string(instruction_set()[extra].mnemonic);
    }
    error(word.span, mnemonic + " is not an instruction of the " + level + " machine",
          "a program with " + (levels.empty() ? "" : ".isa " + levels + ", or with ") + isa + ", " +
              mnemonic);
    return std::nullopt;
  }
  InstructionStatement result;
  result.row = *row;
  result.span = whole_line(line);
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    if (i > 0 && !cursor.accept(",")) {
      const Token& next = cursor.peek();
      const bool operand = next.kind != TokenKind::kEnd && next.kind != TokenKind::kPunctuation;
      error(next.span,
            operand ? "a comma is missing before " + describe(next)
                    : "found " + describe(next) + " after " + std::to_string(i) +
                          (i == 1 ? " operand" : " operands"),
            "', " + operand_name(spec, i) + "': " + std::string(spec.mnemonic) + " " +
                std::string(spec.operand_names));
      return std::nullopt;
    }
    auto parsed = operand(cursor, spec, i);
    if (!parsed) return std::nullopt;
    result.operands.push_back(std::move(*parsed));
  }
  const auto is_read_register = [](const Operand& one) { return is_register_read(one.kind); };
  if (spec.takes_constants() &&
      std::none_of(result.operands.begin(), result.operands.end(), is_read_register)) {
    error(result.operands.front().span,
          "all operands of " + std::string(spec.mnemonic) + " are constants",
          "a register among them");
    return std::nullopt;
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

bool StatementParser::accept(Cursor& cursor, std::string_view text) {
  const Token& next = cursor.peek();
  if (next.is(text) || next.is_word(text)) {
    cursor.take();
    return true;
  }
  error(next.span, "found " + describe(next), kMarkForm);
  return false;
}

bool StatementParser::score_sizes(Cursor& cursor, ScoreMark& mark) {
  const auto value = [&](ExpressionPtr& result) {
    result = expression(cursor, Usage::kParam);
    return result != nullptr;
  };
  const auto pair = [&](ExpressionPtr& first, ExpressionPtr& second) {
    return accept(cursor, "(") && value(first) && accept(cursor, ",") && value(second) &&
           accept(cursor, ")");
  };
  return accept(cursor, "of") && pair(mark.rows, mark.columns) && accept(cursor, "tile") &&
         pair(mark.tile_rows, mark.tile_columns);
}

std::optional<ScoreMark> StatementParser::score_sizes(const Line& line) {
  Cursor cursor(line.tokens);
  while (!cursor.at_end() && !cursor.peek().is_word("of")) cursor.take();
  ScoreMark mark;
  return score_sizes(cursor, mark) ? std::optional(std::move(mark)) : std::nullopt;
}

std::optional<ScoreMark> StatementParser::score(const Line& line) {
  Cursor cursor(line.tokens);
  cursor.take();
  ScoreMark mark;
  mark.span = whole_line(line);
  const Token& name = cursor.peek();
  const auto found = scope_.declared.find(name.text);
  const bool is_named = found != scope_.declared.end() &&
                        found->second.kind == NamedThing::Kind::kRegister &&
                        !program_.register_names[found->second.index].count;
  if (!is_named) {
    error(name.span, "found " + describe(name),
          "the register of the scores, by its name from .reg: " + std::string(kMarkForm));
    return std::nullopt;
  }
  mark.register_name = found->second.index;
  cursor.take();
  const auto index = [&](ExpressionPtr& result) {
    result = expression(cursor, Usage::kIndex);
    return result != nullptr;
  };
  const bool is_read = accept(cursor, ",") && index(mark.row_tile) && accept(cursor, ",") &&
                       index(mark.column_tile) && score_sizes(cursor, mark) &&
                       ended(cursor, "the tile");
  return is_read ? std::optional(std::move(mark)) : std::nullopt;
}

void StatementParser::unknown_directive(const Token& word) {
  std::vector<std::string> names;
  for (const auto& [name, directive] : kDirectives) names.emplace_back(name);
  error(word.span, "unknown directive " + describe(word), "a directive such as .input",
        nearest(word.text, names).value_or(""));
}

LoopStatement StatementParser::loop(const Line& line) {
  Cursor cursor(line.tokens);
  LoopStatement result;
  result.span = whole_line(line);
  result.lower = result.upper = integer_expression(0, result.span);
  result.step = integer_expression(1, result.span);
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
  const auto declared = scope_.declared.find(var.text);
  if (declared != scope_.declared.end()) {
    error(var.span,
          describe(var) + " already has a meaning here, from line " +
              std::to_string(declared->second.span.line),
          "a new name");
  } else if (std::any_of(scope_.loops.begin(), scope_.loops.end(), same)) {
    error(var.span, describe(var) + " already has a meaning here: a loop around this one has it",
          "a new name");
  }
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
