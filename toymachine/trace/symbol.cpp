#include "toymachine/trace/symbol.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "toymachine/language/values.hpp"
#include "toymachine/trace/symbol_node.hpp"

namespace flashlab::toy {

Symbol make_symbol(Symbol::Node node) {
  for (const Symbol& arg : node.args) node.size += arg.size();
  if (node.size > kMaxSymbolSize) return Symbol::name("...");
  Symbol symbol;
  symbol.node_ = std::make_shared<const Symbol::Node>(std::move(node));
  return symbol;
}

namespace {

Symbol binary(SymbolOp op, const Symbol& a, const Symbol& b) {
  Symbol::Node node;
  node.op = op;
  node.args = {a, b};
  return make_symbol(std::move(node));
}

Symbol unary(SymbolOp op, const Symbol& a) {
  Symbol::Node node;
  node.op = op;
  node.args = {a};
  return make_symbol(std::move(node));
}

std::optional<double> as_number(const Symbol& symbol) {
  if (symbol.op() != SymbolOp::kNumber) return std::nullopt;
  return symbol.node()->number;
}

bool is_the_number(const Symbol& symbol, double value) { return as_number(symbol) == value; }

/// Whole numbers up to here are exact in the registers of all runs, also in those of type float.
constexpr double kExactInRegisters = 1 << 24;

/// Returns the function's value if both numbers are known and the value is whole.
template <class Function>
std::optional<Symbol> whole_result(const Symbol& a, const Symbol& b, Function function) {
  const auto x = as_number(a);
  const auto y = as_number(b);
  if (!x || !y) return std::nullopt;
  const double value = function(*x, *y);
  if (!(std::abs(value) <= kExactInRegisters) || value != std::floor(value)) return std::nullopt;
  return Symbol::number(value);
}

/// Appends the differences between the subscripts of `b` and `a`, in reading order. Returns false
/// if the formulas differ in anything else.
bool collect_stride(const Symbol& a, const Symbol& b, std::vector<std::int64_t>& stride) {
  if (a.op() != b.op()) return false;
  if (!a.is_written()) return true;
  const Symbol::Node& x = *a.node();
  const Symbol::Node& y = *b.node();
  if (x.number != y.number || x.args.size() != y.args.size() || x.count != y.count) return false;
  if (x.name.base != y.name.base || x.name.primes != y.name.primes) return false;
  if (x.name.subscripts.size() != y.name.subscripts.size()) return false;
  for (std::size_t i = 0; i < x.name.subscripts.size(); ++i) {
    stride.push_back(y.name.subscripts[i].value - x.name.subscripts[i].value);
  }
  for (std::size_t i = 0; i < x.args.size(); ++i) {
    if (!collect_stride(x.args[i], y.args[i], stride)) return false;
  }
  return true;
}

std::vector<std::int64_t> stride_between(const Symbol& a, const Symbol& b) {
  std::vector<std::int64_t> stride;
  if (!collect_stride(a, b, stride)) return {};
  for (const std::int64_t step : stride) {
    if (step != 0) return stride;
  }
  return {};  // the same term again does not start a run
}

/// Returns a sum or maximum of one term, or the flat node that `symbol` already is.
Symbol::Node flat(SymbolOp op, const Symbol& symbol) {
  Symbol::Node node;
  if (symbol.op() == op) {
    node = *symbol.node();
    node.size = 1;
  } else {
    node.op = op;
    node.args = {symbol};
    node.count = 1;
  }
  return node;
}

/// Concatenates the terms of both operands.
Symbol joined_terms(SymbolOp op, const Symbol& a, const Symbol& b) {
  Symbol::Node node = flat(op, a);
  const Symbol::Node more = flat(op, b);
  const auto seam = stride_between(node.args.back(), more.args.front());
  const bool even = !seam.empty() && (node.count == 1 || node.stride == seam) &&
                    (more.count == 1 || more.stride == seam);
  node.stride = even ? seam : std::vector<std::int64_t>{};
  node.count += more.count;
  for (const Symbol& term : more.args) {
    if (node.args.size() < kKeptTerms) {
      node.args.push_back(term);
    } else {
      node.args.back() = term;
    }
  }
  return make_symbol(std::move(node));
}

/// The older operand is written first: a sum before its next term, the state (a plain label)
/// before a value that is added to it, x0 before x1, a running value before what is added to it.
/// The order of the instruction's operands does not matter.
bool is_older(SymbolOp op, const Symbol& b, const Symbol& a) {
  if (a.op() == op || b.op() == op) return a.op() != op;
  const auto is_label = [](const Symbol& symbol) {
    return symbol.as_name() != nullptr && symbol.as_name()->subscripts.empty();
  };
  if (is_label(a) != is_label(b)) return is_label(b);
  for (const std::int64_t step : stride_between(a, b)) {
    if (step != 0) return step < 0;
  }
  return b.node() != nullptr && b.node() == RunningValue::current();
}

Symbol commutative(SymbolOp op, const Symbol& a, const Symbol& b) {
  return is_older(op, b, a) ? joined_terms(op, b, a) : joined_terms(op, a, b);
}

}  // namespace

namespace {

thread_local const Symbol::Node* running_value = nullptr;

}  // namespace

RunningValue::RunningValue(const Symbol& value)
    : before_(std::exchange(running_value, value.node())) {}
RunningValue::~RunningValue() { running_value = before_; }
const Symbol::Node* RunningValue::current() { return running_value; }

Symbol Symbol::number(double value) {
  Node node;
  node.number = value;
  return make_symbol(std::move(node));
}

Symbol Symbol::name(SymbolName name) {
  Node node;
  node.op = SymbolOp::kName;
  node.name = std::move(name);
  return make_symbol(std::move(node));
}

SymbolOp Symbol::op() const { return node_ ? node_->op : SymbolOp::kUnwritten; }

const SymbolName* Symbol::as_name() const {
  return op() == SymbolOp::kName ? &node_->name : nullptr;
}

std::size_t Symbol::size() const { return node_ ? node_->size : 0; }

void ValueNames::add(const Symbol& value, std::string name) {
  const SymbolOp op = value.op();
  if (op == SymbolOp::kUnwritten || op == SymbolOp::kNumber || op == SymbolOp::kName) return;
  names_[value.node()] = {value, std::move(name)};
}

const std::string* ValueNames::find(const Symbol& value) const {
  const auto found = names_.find(value.node());
  return found == names_.end() ? nullptr : &found->second.name;
}

const std::string& ValueNames::renamed(const std::string& base) const {
  const auto found = bases_.find(base);
  return found == bases_.end() ? base : found->second;
}

void ValueNames::keep_only(const std::vector<Symbol>& values) {
  std::unordered_map<const Symbol::Node*, Named> kept;
  for (const Symbol& value : values) {
    const auto found = names_.find(value.node());
    if (found != names_.end()) kept.insert(*found);
  }
  names_ = std::move(kept);
}

bool Symbol::mentions(const SymbolName& name) const {
  if (!node_) return false;
  if (node_->op == SymbolOp::kName) return node_->name == name;
  for (const Symbol& arg : node_->args) {
    if (arg.mentions(name)) return true;
  }
  return false;
}

bool Symbol::mentions_generic() const {
  if (!node_) return false;
  for (const Subscript& subscript : node_->name.subscripts) {
    if (subscript.generic) return true;
  }
  for (const Symbol& arg : node_->args) {
    if (arg.mentions_generic()) return true;
  }
  return false;
}

Symbol Symbol::renamed(const SymbolName& from, const SymbolName& to) const {
  if (!mentions(from)) return *this;
  if (op() == SymbolOp::kName) return name(to);
  Node node = *node_;
  node.size = 1;
  for (Symbol& arg : node.args) arg = arg.renamed(from, to);
  return make_symbol(std::move(node));
}

bool operator==(const Symbol& a, const Symbol& b) {
  if (a.node_ == b.node_) return true;
  if (a.op() != b.op() || a.size() != b.size()) return false;
  const Symbol::Node& x = *a.node_;
  const Symbol::Node& y = *b.node_;
  return x.number == y.number && x.name == y.name && x.count == y.count && x.args == y.args;
}

Symbol operator+(const Symbol& a, const Symbol& b) {
  if (is_the_number(a, 0)) return b;
  if (is_the_number(b, 0)) return a;
  if (const auto sum = whole_result(a, b, [](double x, double y) { return x + y; })) return *sum;
  return commutative(SymbolOp::kSum, a, b);
}

Symbol operator-(const Symbol& a, const Symbol& b) {
  if (is_the_number(a, -HUGE_VAL)) return a;
  if (is_the_number(b, 0)) return a;
  if (a == b) return Symbol::number(0);
  if (const auto difference = whole_result(a, b, [](double x, double y) { return x - y; })) {
    return *difference;
  }
  return binary(SymbolOp::kDifference, a, b);
}

Symbol operator*(const Symbol& a, const Symbol& b) {
  if (is_the_number(a, 0)) return a;
  if (is_the_number(b, 0)) return b;
  if (const auto product = whole_result(a, b, [](double x, double y) { return x * y; }))
    return *product;
  return binary(SymbolOp::kProduct, a, b);
}

Symbol operator/(const Symbol& a, const Symbol& b) {
  if (!is_the_number(b, 0)) {
    if (const auto quotient = whole_result(a, b, [](double x, double y) { return x / y; })) {
      return *quotient;
    }
  }
  return binary(SymbolOp::kQuotient, a, b);
}

Symbol maximum(const Symbol& a, const Symbol& b) {
  if (a == b || is_the_number(b, -HUGE_VAL)) return a;
  if (is_the_number(a, -HUGE_VAL)) return b;
  return commutative(SymbolOp::kMaximum, a, b);
}

Symbol exponential(const Symbol& a) {
  if (is_the_number(a, 0)) return Symbol::number(1);
  if (is_the_number(a, -HUGE_VAL)) return Symbol::number(0);
  return unary(SymbolOp::kExponential, a);
}

Symbol logarithm(const Symbol& a) { return unary(SymbolOp::kLogarithm, a); }

Symbol product(const Symbol& a, const Symbol& b) { return a * b; }

Symbol row_maximum(const Symbol& a) { return unary(SymbolOp::kRowMaximum, a); }

Symbol row_sum(const Symbol& a) { return unary(SymbolOp::kRowSum, a); }

Symbol masked(const Symbol& a, std::int64_t, std::int64_t) { return unary(SymbolOp::kMasked, a); }

Symbol masked_left(const Symbol& a, std::int64_t, std::int64_t) {
  return unary(SymbolOp::kMaskedLeft, a);
}

Symbol transposed(const Symbol& a) { return unary(SymbolOp::kTransposed, a); }

}  // namespace flashlab::toy
