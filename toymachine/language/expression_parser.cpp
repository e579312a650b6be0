#include "toymachine/language/expression_parser.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "text/nearest.hpp"
#include "toymachine/language/affine_check.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr int kDeepestExpression = 100;  // nested parentheses, calls and signs
constexpr int kLargest = 1000;           // nodes; keeps every recursion over the tree shallow

struct Function {
  std::string_view name;
  ExpressionOp op;
  std::size_t fewest, most;
};
constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr std::array<Function, 13> kFunctions{{{"min", ExpressionOp::kMin, 2, kAny},
                                               {"max", ExpressionOp::kMax, 2, kAny},
                                               {"ceildiv", ExpressionOp::kCeilDiv, 2, 2},
                                               {"floordiv", ExpressionOp::kFloorDiv, 2, 2},
                                               {"floor", ExpressionOp::kFloor, 1, 1},
                                               {"ceil", ExpressionOp::kCeil, 1, 1},
                                               {"sqrt", ExpressionOp::kSqrt, 1, 1},
                                               {"exp", ExpressionOp::kExp, 1, 1},
                                               {"log", ExpressionOp::kLog, 1, 1},
                                               {"tiles", ExpressionOp::kTiles, 1, 2},
                                               {"extent", ExpressionOp::kExtent, 1, 2},
                                               {"sum", ExpressionOp::kSum, 1, 1},
                                               {"registers", ExpressionOp::kRegisters, 0, 0}}};

const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

SourceSpan join(const SourceSpan& a, const SourceSpan& b) {
  return {a.line, a.column, b.column + b.length - a.column};
}

bool is_reduction(ExpressionOp op) { return op == ExpressionOp::kSum || op == ExpressionOp::kMax; }

}  // namespace

std::string describe(const Token& token) {
  constexpr std::size_t kLongest = 40;
  if (token.kind == TokenKind::kEnd) return "the end of the line";
  if (token.text.size() <= kLongest) return "'" + std::string(token.text) + "'";
  return "'" + std::string(token.text.substr(0, kLongest)) + "…'";
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Function& f : kFunctions) all.emplace_back(f.name);
    return all;
  }();
  return names;
}

ExpressionPtr ExpressionParser::fail(const SourceSpan& span, std::string what, std::string expected,
                                     std::string suggestion) {
  diagnostics_.push_back({Severity::kError, Fault::kProgram, span, std::move(what),
                          std::move(expected), std::move(suggestion)});
  return nullptr;
}

ExpressionPtr ExpressionParser::parse(Usage usage) {
  usage_ = usage;
  depth_ = 0;
  nodes_ = 0;
  ExpressionPtr result = sum();
  if (result && (usage == Usage::kBound || usage == Usage::kIndex) &&
      !check_affine(*result, usage, diagnostics_)) {
    return nullptr;
  }
  return result;
}

ExpressionPtr ExpressionParser::make(Expression expression) {
  if (++nodes_ > kLargest) {
    if (nodes_ > kLargest + 1) return nullptr;  // reported once
    return fail(expression.span, "this expression is too long",
                "at most " + std::to_string(kLargest) + " terms");
  }
  return std::make_shared<const Expression>(std::move(expression));
}

ExpressionPtr ExpressionParser::binary(ExpressionOp op, ExpressionPtr a, ExpressionPtr b) {
  if (!a || !b) return nullptr;
  Expression e;
  e.op = op;
  e.span = join(a->span, b->span);
  e.args = {std::move(a), std::move(b)};
  return make(std::move(e));
}

ExpressionPtr ExpressionParser::sum() {
  ExpressionPtr left = product();
  while (left && (cursor_.peek().is("+") || cursor_.peek().is("-"))) {
    const ExpressionOp op = cursor_.take().is("+") ? ExpressionOp::kAdd : ExpressionOp::kSub;
    left = binary(op, left, product());
  }
  return left;
}

ExpressionPtr ExpressionParser::product() {
  ExpressionPtr left = factor();
  while (left && (cursor_.peek().is("*") || cursor_.peek().is("/"))) {
    const ExpressionOp op = cursor_.take().is("*") ? ExpressionOp::kMul : ExpressionOp::kDiv;
    left = binary(op, left, factor());
  }
  return left;
}

ExpressionPtr ExpressionParser::factor() {
  const Token& token = cursor_.peek();
  if (!token.is("-") && !token.is("+")) return primary();
  if (++depth_ > kDeepestExpression) {
    return fail(token.span, "this expression is nested too deeply",
                "at most " + std::to_string(kDeepestExpression) + " levels");
  }
  cursor_.take();
  ExpressionPtr operand = factor();
  --depth_;
  if (!operand || token.is("+")) return operand;
  Expression e;
  e.op = ExpressionOp::kNegate;
  e.span = join(token.span, operand->span);
  e.args = {std::move(operand)};
  return make(std::move(e));
}

ExpressionPtr ExpressionParser::primary() {
  const Token& token = cursor_.peek();
  if (++depth_ > kDeepestExpression) {
    return fail(token.span, "this expression is nested too deeply",
                "at most " + std::to_string(kDeepestExpression) + " levels");
  }
  ExpressionPtr result;
  if (token.kind == TokenKind::kIdentifier) {
    result = name();
  } else if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kReal) {
    cursor_.take();
    Expression e;
    e.op = token.kind == TokenKind::kInteger ? ExpressionOp::kInteger : ExpressionOp::kReal;
    e.integer = token.integer;
    e.real = token.real;
    e.span = token.span;
    result = make(std::move(e));
  } else if (token.is("(")) {
    cursor_.take();
    result = sum();
    if (result && !expect(")", "the expression in parentheses")) result = nullptr;
  } else {
    result = fail(token.span, "found " + describe(token), "a number, a name or '('");
  }
  --depth_;
  return result;
}

bool ExpressionParser::expect(std::string_view punctuation, std::string_view after) {
  if (cursor_.accept(punctuation)) return true;
  fail(cursor_.peek().span, "found " + describe(cursor_.peek()),
       "'" + std::string(punctuation) + "' after " + std::string(after));
  return false;
}

ExpressionPtr ExpressionParser::name() {
  const Token& token = cursor_.take();
  if (token.text == "inf") {
    Expression e;
    e.op = ExpressionOp::kInfinity;
    e.span = token.span;
    return make(std::move(e));
  }
  if (token.text == "registers" && !cursor_.peek().is("(")) {
    Expression e;
    e.op = ExpressionOp::kRegisters;
    e.span = token.span;
    return make(std::move(e));
  }
  if (cursor_.peek().is("(")) return call(token);
  if (cursor_.peek().is("[")) return cell_or_label(token);
  return reference(token);
}

ExpressionPtr ExpressionParser::call(const Token& token) {
  const Function* function = find_function(token.text);
  if (!function || function->op == ExpressionOp::kRegisters) {
    return fail(token.span, "there is no function " + describe(token),
                "a function such as min(a, b)", nearest(token.text, function_names()).value_or(""));
  }
  cursor_.take();  // the opening parenthesis
  if (function->op == ExpressionOp::kTiles || function->op == ExpressionOp::kExtent) {
    return array_function(token, function->op);
  }
  const bool ranged =
      cursor_.peek().kind == TokenKind::kIdentifier && cursor_.peek(1).is_word("in");
  if (is_reduction(function->op) && (ranged || function->op == ExpressionOp::kSum)) {
    return reduction(token, function->op);
  }
  Expression e;
  e.op = function->op;
  e.span = token.span;
  if (!arguments(e.args)) return nullptr;
  if (e.args.size() < function->fewest || e.args.size() > function->most) {
    return fail(token.span,
                describe(token) + " has " + std::to_string(e.args.size()) + " arguments",
                std::to_string(function->fewest) + (function->most == kAny ? " or more" : ""));
  }
  return make(std::move(e));
}

bool ExpressionParser::arguments(std::vector<ExpressionPtr>& args) {
  do {
    ExpressionPtr arg = sum();
    if (!arg) return false;
    args.push_back(std::move(arg));
  } while (cursor_.accept(","));
  return expect(")", "the arguments");
}

ExpressionPtr ExpressionParser::array_function(const Token& token, ExpressionOp op) {
  const Token& array = cursor_.take();
  const auto found = scope_.declared.find(array.text);
  if (found == scope_.declared.end() || found->second.kind != NamedThing::Kind::kArray) {
    return fail(array.span, describe(array) + " is not an array", "an array's name");
  }
  Expression e;
  e.op = op;
  e.index = found->second.index;
  e.name = std::string(array.text);
  e.span = token.span;
  if (cursor_.accept(",")) {
    ExpressionPtr axis = sum();
    if (!axis) return nullptr;
    e.args.push_back(std::move(axis));
  }
  if (!expect(")", "the arguments")) return nullptr;
  return make(std::move(e));
}

ExpressionPtr ExpressionParser::reduction(const Token& token, ExpressionOp op) {
  if (usage_ != Usage::kClaim) {
    return fail(token.span, describe(token) + " over a range is not allowed here",
                "it only in the claim of a .name line");
  }
  const Token& var = cursor_.take();
  if (var.kind != TokenKind::kIdentifier || !cursor_.peek().is_word("in")) {
    return fail(var.span, "found " + describe(var), "a range such as sum(j in 0..n: x[j])");
  }
  cursor_.take();  // in
  ExpressionPtr lower = sum();
  if (!lower || !expect("..", "the first value")) return nullptr;
  ExpressionPtr upper = sum();
  if (!upper || !expect(":", "the range")) return nullptr;
  bound_.emplace_back(std::string(var.text), program_.loop_vars.size());
  program_.loop_vars.emplace_back(var.text);
  ExpressionPtr body = sum();
  Expression e;
  e.op = op == ExpressionOp::kSum ? ExpressionOp::kSum : ExpressionOp::kMaxOver;
  e.index = bound_.back().second;
  e.name = bound_.back().first;
  bound_.pop_back();
  if (!body || !expect(")", "the range's expression")) return nullptr;
  e.span = token.span;
  e.args = {std::move(lower), std::move(upper), std::move(body)};
  return make(std::move(e));
}

ExpressionPtr ExpressionParser::cell_or_label(const Token& token) {
  const auto found = scope_.declared.find(token.text);
  const bool is_array =
      found != scope_.declared.end() && found->second.kind == NamedThing::Kind::kArray;
  const bool is_label = scope_.labels.find(token.text) != scope_.labels.end();
  if (!is_array && !is_label) {
    std::vector<std::string> arrays;
    for (const ArrayDeclaration& array : program_.arrays) arrays.push_back(array.name);
    return fail(token.span, "there is no array " + describe(token), "the name of an array",
                nearest(token.text, arrays).value_or(""));
  }
  if (usage_ != Usage::kClaim) {
    return fail(token.span, "the cell " + describe(token) + " is used in an expression",
                "integers known before the run; cells only in the claim of a .name line");
  }
  Expression e;
  e.name = std::string(token.text);
  e.span = token.span;
  while (cursor_.accept("[")) {
    ExpressionPtr index = sum();
    if (!index || !expect("]", "the index")) return nullptr;
    e.args.push_back(std::move(index));
  }
  const bool input = is_array && program_.arrays[found->second.index].role == ArrayRole::kInput;
  e.op = input || !is_label ? ExpressionOp::kCell : ExpressionOp::kLabel;
  if (e.op == ExpressionOp::kCell) {
    e.index = found->second.index;
    const std::size_t axes = program_.arrays[e.index].extents.size();
    if (axes != e.args.size()) {
      return fail(token.span, e.name + " has " + std::to_string(e.args.size()) + " indices here",
                  std::to_string(axes) + ", one per axis");
    }
  }
  return make(std::move(e));
}

ExpressionPtr ExpressionParser::reference(const Token& token) {
  Expression e;
  e.name = std::string(token.text);
  e.span = token.span;
  const auto same = [&](const auto& entry) { return entry.first == token.text; };
  if (auto v = std::find_if(bound_.rbegin(), bound_.rend(), same); v != bound_.rend()) {
    e.op = ExpressionOp::kLoopVar;
    e.index = v->second;
    return make(std::move(e));
  }
  const auto given = scope_.given.find(token.text);
  if (given != scope_.given.end() && given->second.value) {
    if (given->second.varies && (usage_ == Usage::kParam || usage_ == Usage::kConst)) {
      return fail(token.span, describe(token) + " is used where only constants are allowed",
                  "parameters only");
    }
    e = *given->second.value;
    e.span = token.span;
    return make(std::move(e));
  }
  const auto loop = std::find_if(scope_.loops.rbegin(), scope_.loops.rend(), same);
  if (loop != scope_.loops.rend()) {
    if (usage_ == Usage::kParam || usage_ == Usage::kConst) {
      return fail(
          token.span,
          "the loop variable " + describe(token) + " is used where only constants are allowed",
          "parameters only");
    }
    e.op = ExpressionOp::kLoopVar;
    e.index = loop->second;
    return make(std::move(e));
  }
  const auto found = scope_.declared.find(token.text);
  if (found == scope_.declared.end()) {
    if (usage_ != Usage::kClaim || scope_.labels.find(token.text) == scope_.labels.end()) {
      return unknown(token);
    }
    e.op = ExpressionOp::kLabel;
    return make(std::move(e));
  }
  const NamedThing::Kind kind = found->second.kind;
  const std::size_t index = found->second.index;
  if (kind == NamedThing::Kind::kRegister) {
    if (usage_ != Usage::kClaim || scope_.labels.find(token.text) == scope_.labels.end()) {
      return fail(token.span, describe(token) + " is a register",
                  "a number, a parameter or a loop variable");
    }
    e.op = ExpressionOp::kLabel;
    return make(std::move(e));
  }
  if (kind == NamedThing::Kind::kArray) {
    return fail(token.span, "the array " + describe(token) + " is used without an index",
                "a number, a parameter or a loop variable");
  }
  if (kind == NamedThing::Kind::kConst && usage_ != Usage::kConst && usage_ != Usage::kClaim) {
    return fail(token.span, "the constant " + describe(token) + " is a real number",
                "integers here: a .param, a loop variable or a number");
  }
  const bool early = kind == NamedThing::Kind::kParam ? index < scope_.visible_params
                                                      : index < scope_.visible_consts;
  if (!early) {
    return fail(token.span, describe(token) + " is used before it is declared",
                "names declared earlier");
  }
  e.op = kind == NamedThing::Kind::kParam ? ExpressionOp::kParam : ExpressionOp::kConst;
  e.index = index;
  return make(std::move(e));
}

ExpressionPtr ExpressionParser::unknown(const Token& token) {
  std::vector<std::string> names;
  for (const auto& [declared, thing] : scope_.declared) names.push_back(declared);
  for (const auto& [loop, index] : scope_.loops) names.push_back(loop);
  names.insert(names.end(), {"registers", "inf"});
  if (usage_ == Usage::kClaim) {
    for (const auto& [label, count] : scope_.labels) names.push_back(label);
  }
  return fail(token.span, "unknown name " + describe(token),
              "a parameter, a loop variable or a number", nearest(token.text, names).value_or(""));
}

}  // namespace flashlab::toy::detail
