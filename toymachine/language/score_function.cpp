#include "toymachine/language/score_function.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kMostInstructions = 256;  // at each mark, so that no program becomes huge
constexpr const char* kRegister = "S";
constexpr std::string_view kExpectedLine =
    "instructions that work element by element, .reg, .const, .param and .input";

ExpressionPtr scaled_index(const ExpressionPtr& a, const ExpressionPtr& b) {
  if (b->op == ExpressionOp::kInteger && b->integer == 1) return a;
  Expression e;
  e.op = ExpressionOp::kMul;
  e.span = a->span;
  e.args = {a, b};
  return std::make_shared<const Expression>(std::move(e));
}

/// Whether the program names registers by their numbers, so that no others are known to be free.
bool numbers_registers(const std::vector<Line>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const Line& line) {
    for (std::size_t i = 1; i + 1 < line.tokens.size(); ++i) {
      const Token& token = line.tokens[i];
      if (token.kind != TokenKind::kIdentifier) continue;
      const bool is_computed =
          (token.text == "R" || token.text == "r") && line.tokens[i + 1].is("[");
      if (is_computed || register_number(token.text)) return true;
    }
    return false;
  });
}

}  // namespace

ScoreFunction::ScoreFunction(Program& program, const Scope& outer,
                             std::vector<Diagnostic>& diagnostics)
    : LineParser(program, own_scope_, diagnostics),
      declarations_(program, own_scope_, diagnostics),
      parser_(program, own_scope_, diagnostics) {
  own_scope_.outer = &outer;
}

void ScoreFunction::give(const char* name, ExpressionPtr value, bool varies) {
  own_scope_.given[name] = {std::move(value), varies};
}

void ScoreFunction::collect(const std::vector<Line>& lines,
                            const std::vector<Line>& program_lines) {
  lines_ = lines;
  for (const auto& [name, thing] : own_scope_.outer->declared) {
    if (thing.kind == NamedThing::Kind::kParam || thing.kind == NamedThing::Kind::kConst) {
      own_scope_.declared[name] = thing;
    }
  }
  for (const char* const varying : {"i", "j", "row", "col"}) give(varying, nullptr, true);
  for (const char* const fixed : {"n", "nk", "B", "Bk", kRegister}) give(fixed, nullptr, false);
  for (const Line& line : lines_) {
    const auto directive = directive_of(line);
    if (directive) check_line(line, *directive);
    const bool has_registers = directive == Directive::kReg;
    if (has_registers && numbers_registers(program_lines)) {
      error(line.tokens[0].span, "the program names registers by number, so none is free",
            "a program whose registers all have names from .reg");
    }
  }
  if (diagnostics_.empty()) NameCollector(program_, own_scope_, diagnostics_).collect(lines_);
  for (const Line& line : program_lines) {  // a loop's name would hide a parameter's
    if (line.tokens.size() < 2 || !line.tokens[0].is_word("for")) continue;
    const auto same = own_scope_.declared.find(line.tokens[1].text);
    if (same == own_scope_.declared.end() || same->second.kind == NamedThing::Kind::kRegister ||
        own_scope_.outer->declared.contains(line.tokens[1].text)) {
      continue;
    }
    return error(same->second.span, describe(line.tokens[1]) + " is a loop variable of the program",
                 "another name");
  }
}

void ScoreFunction::check_line(const Line& line, Directive directive) {
  const bool fits = directive == Directive::kReg || directive == Directive::kConst ||
                    directive == Directive::kParam || directive == Directive::kInput;
  if (fits) return;
  error(line.tokens[0].span, describe(line.tokens[0]) + " is no line of a score function",
        std::string(kExpectedLine));
}

void ScoreFunction::declare(const DeclarationParser& of_program) {
  if (!diagnostics_.empty()) return;
  declarations_.number_registers_after(of_program);
  for (const Line& line : lines_) {
    if (const auto directive = directive_of(line)) declarations_.declare(line, *directive);
  }
}

void ScoreFunction::give_sizes(const ScoreMark& mark) {
  give("n", mark.rows, false);
  give("nk", mark.columns, false);
  give("B", mark.tile_rows, false);
  give("Bk", mark.tile_columns, false);
}

bool ScoreFunction::allows(const Line& line) {
  const Token& word = line.tokens[0];
  const auto row = word.kind == TokenKind::kIdentifier ? find_instruction(word.text) : std::nullopt;
  if (word.is_word("for") || word.is_word("end")) {
    error(word.span, "a score function has no loops", std::string(kExpectedLine));
    return false;
  }
  if (!row) return true;  // the parser reports it
  const InstructionSpec& spec = instruction_set()[*row];
  const auto writes_memory = [](OperandKind kind) { return is_memory_write(kind); };
  const auto kinds = spec.kinds();
  const bool fits = std::none_of(kinds.begin(), kinds.end(), writes_memory) &&
                    !spec.has(OperandKind::kFactor) && !spec.is_link() &&
                    spec.flop_kind != FlopKind::kReduction;
  if (!fits) {
    error(word.span, std::string(spec.mnemonic) + " does not work element by element on registers",
          std::string(kExpectedLine));
    return false;
  }
  if (!program_.has_instruction(*row)) {
    auto& extra = program_.extra_instructions;
    extra.insert(std::upper_bound(extra.begin(), extra.end(), *row), *row);
  }
  return true;
}

void ScoreFunction::insert(const ScoreMark& mark,
                           const std::function<void(InstructionStatement)>& add) {
  ++num_marks_;
  if (failed_ || (num_marks_ == 1 && !diagnostics_.empty())) return;
  const std::size_t errors = diagnostics_.size();
  give_sizes(mark);
  give("i", mark.row_tile, true);
  give("j", mark.column_tile, true);
  give("row", scaled_index(mark.row_tile, mark.tile_rows), true);
  give("col", scaled_index(mark.column_tile, mark.tile_columns), true);
  own_scope_.declared[kRegister] = {NamedThing::Kind::kRegister, mark.register_name, mark.span};
  num_instructions_ = 0;
  for (const Line& line : lines_) {
    if (line.tokens.empty() || line.tokens[0].kind == TokenKind::kEnd) continue;
    if (line.tokens[0].kind == TokenKind::kDirective) {
      if (!directive_of(line)) parser_.unknown_directive(line.tokens[0]);
      continue;
    }
    if (++num_instructions_ > kMostInstructions) {
      error(
          line.tokens[0].span,
          "the score function has more than " + std::to_string(kMostInstructions) + " instructions",
          "at most " + std::to_string(kMostInstructions));
      break;
    }
    if (!allows(line)) continue;
    if (auto instruction = parser_.instruction(line)) add(std::move(*instruction));
  }
  failed_ = diagnostics_.size() > errors;
}

}  // namespace flashlab::toy::detail
