#include "toymachine/language/line_parser.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::int64_t kMostRegisterNumber = std::int64_t{1} << 32;  // sums of two still fit

}  // namespace

void LineParser::error(const SourceSpan& span, std::string what, std::string expected,
                       std::string suggestion) {
  diagnostics_.push_back({Severity::kError, Fault::kProgram, span, std::move(what),
                          std::move(expected), std::move(suggestion)});
}

bool LineParser::ended(const Cursor& cursor, const std::string& after) {
  if (cursor.at_end()) return true;
  error(cursor.peek().span, "found " + describe(cursor.peek()) + " after " + after,
        "the end of the line");
  return false;
}

ExpressionPtr LineParser::expression(Cursor& cursor, Usage usage) {
  return ExpressionParser(cursor, scope_, program_, diagnostics_).parse(usage);
}

bool LineParser::bracketed(Cursor& cursor, std::vector<ExpressionPtr>& list, Usage usage) {
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

std::vector<std::string> mnemonics_of(const Program& program, bool known) {
  std::vector<std::string> words;
  for (std::size_t row = 0; row < instruction_set().size(); ++row) {
    if (program.has_instruction(row) == known) {
      words.emplace_back(instruction_set()[row].mnemonic);
    }
  }
  return words;
}

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

ExpressionPtr integer_expression(std::int64_t value, const SourceSpan& span) {
  Expression e;
  e.integer = value;
  e.span = span;
  return std::make_shared<const Expression>(std::move(e));
}

}  // namespace flashlab::toy::detail
