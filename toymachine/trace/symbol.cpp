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

Symbol plain(Operation operation, const Symbol& a, const Symbol& b, const Symbol& c) {
  Symbol::Node node;
  node.kind = SymbolKind::kOperation;
  node.operation = operation;
  node.args = {a};
  if (spec_of(operation).shape == ShapeRule::kElementwise) {
    for (const Symbol* more : {&b, &c}) {
      if (node.args.size() < spec_of(operation).arity) node.args.push_back(*more);
    }
  }
  return make_symbol(std::move(node));
}

bool are_alike(const Symbol& a, const Symbol& b) {
  return a.kind() == b.kind() && a.operation() == b.operation();
}

std::optional<double> as_number(const Symbol& symbol) {
  if (symbol.kind() != SymbolKind::kNumber) return std::nullopt;
  return symbol.node()->number;
}

bool is_the_number(const Symbol& symbol, double value) { return as_number(symbol) == value; }

/// Whole numbers up to here are exact in the registers of all runs, also in those of type float.
constexpr double kExactInRegisters = 1 << 24;

/// Returns the value of + - * / < if both numbers are known and the value is whole.
std::optional<Symbol> whole_result(Operation operation, const Symbol& a, const Symbol& b) {
  const auto x = as_number(a);
  const auto y = as_number(b);
  if (!x || !y) return std::nullopt;
  const double value = detail::value_of(operation, *x, *y);
  if (!(std::abs(value) <= kExactInRegisters) || value != std::floor(value)) return std::nullopt;
  return Symbol::number(value);
}

/// Appends the differences between the subscripts of `b` and `a`, in reading order. Returns false
/// if the formulas differ in anything else.
bool collect_stride(const Symbol& a, const Symbol& b, std::vector<std::int64_t>& stride) {
  if (!are_alike(a, b)) return false;
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

/// Returns a list of one term, or the flat node that `symbol` already is.
Symbol::Node flat(Operation operation, const Symbol& symbol) {
  Symbol::Node node;
  if (symbol.operation() == operation) {
    node = *symbol.node();
    node.size = 1;
  } else {
    node.kind = SymbolKind::kOperation;
    node.operation = operation;
    node.args = {symbol};
    node.count = 1;
  }
  return node;
}

/// Concatenates the terms of both operands.
Symbol joined_terms(Operation operation, const Symbol& a, const Symbol& b) {
  Symbol::Node node = flat(operation, a);
  const Symbol::Node more = flat(operation, b);
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
bool is_older(Operation operation, const Symbol& b, const Symbol& a) {
  const bool has_terms = a.operation() == operation;
  if (has_terms || b.operation() == operation) return !has_terms;
  const auto is_label = [](const Symbol& symbol) {
    return symbol.as_name() != nullptr && symbol.as_name()->subscripts.empty();
  };
  if (is_label(a) != is_label(b)) return is_label(b);
  for (const std::int64_t step : stride_between(a, b)) {
    if (step != 0) return step < 0;
  }
  return b.node() != nullptr && b.node() == RunningValue::current();
}

Symbol list(Operation operation, const Symbol& a, const Symbol& b) {
  return is_older(operation, b, a) ? joined_terms(operation, b, a) : joined_terms(operation, a, b);
}

/// Returns the result that one sees at once, if there is one.
std::optional<Symbol> simple_result(Operation operation, const Symbol& a, const Symbol& b) {
  constexpr double kLeast = -HUGE_VAL;
  switch (operation) {
    case Operation::kPlus:
      if (is_the_number(a, 0)) return b;
      if (is_the_number(b, 0)) return a;
      return whole_result(operation, a, b);
    case Operation::kMinus:
      if (is_the_number(a, kLeast) || is_the_number(b, 0)) return a;
      if (a == b) return Symbol::number(0);
      return whole_result(operation, a, b);
    case Operation::kTimes:
      if (is_the_number(a, 0)) return a;
      if (is_the_number(b, 0)) return b;
      return whole_result(operation, a, b);
    case Operation::kOver:
      if (is_the_number(b, 0)) return std::nullopt;
      return whole_result(operation, a, b);
    case Operation::kLess:
      if (a == b) return Symbol::number(0);
      return whole_result(operation, a, b);
    case Operation::kExponential:
    case Operation::kBinaryExponential:
      if (is_the_number(a, 0)) return Symbol::number(1);
      if (is_the_number(a, kLeast)) return Symbol::number(0);
      return std::nullopt;
    case Operation::kReciprocal:
      return symbol_of(Operation::kOver, Symbol::number(1), a);
    default:
      break;
  }
  if (spec_of(operation).grouping != Grouping::kSet) return std::nullopt;
  if (a == b) return a;
  // -inf gives way to everything, as in a maximum, or to nothing.
  const bool gives_way = detail::value_of(operation, kLeast, 0.0) == 0;
  if (is_the_number(a, kLeast)) return gives_way ? b : a;
  if (is_the_number(b, kLeast)) return gives_way ? a : b;
  return std::nullopt;
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
  node.kind = SymbolKind::kName;
  node.name = std::move(name);
  return make_symbol(std::move(node));
}

SymbolKind Symbol::kind() const { return node_ ? node_->kind : SymbolKind::kUnwritten; }

std::optional<Operation> Symbol::operation() const {
  if (kind() != SymbolKind::kOperation) return std::nullopt;
  return node_->operation;
}

const SymbolName* Symbol::as_name() const {
  return kind() == SymbolKind::kName ? &node_->name : nullptr;
}

std::size_t Symbol::size() const { return node_ ? node_->size : 0; }

void ValueNames::add(const Symbol& value, std::string name) {
  if (value.kind() != SymbolKind::kOperation && value.kind() != SymbolKind::kTransposed) return;
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
  if (node_->kind == SymbolKind::kName) return node_->name == name;
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
  if (kind() == SymbolKind::kName) return name(to);
  Node node = *node_;
  node.size = 1;
  for (Symbol& arg : node.args) arg = arg.renamed(from, to);
  return make_symbol(std::move(node));
}

bool operator==(const Symbol& a, const Symbol& b) {
  if (a.node_ == b.node_) return true;
  if (!are_alike(a, b) || a.size() != b.size()) return false;
  const Symbol::Node& x = *a.node_;
  const Symbol::Node& y = *b.node_;
  return x.number == y.number && x.name == y.name && x.count == y.count && x.args == y.args;
}

Symbol symbol_of(Operation operation, const Symbol& a, const Symbol& b, const Symbol& c) {
  if (operation == Operation::kSelected) {
    if (const auto condition = as_number(a)) return *condition != 0 ? b : c;
  }
  if (auto result = simple_result(operation, a, b)) return *result;
  return is_list(operation) ? list(operation, a, b) : plain(operation, a, b, c);
}

Symbol symbol_of_place(Operation operation, std::int64_t first) {
  return Symbol::name(SymbolName{std::string(spec_of(operation).name), 0, {Subscript{first, {}}}});
}

Symbol transposed(const Symbol& a) {
  Symbol::Node node;
  node.kind = SymbolKind::kTransposed;
  node.args = {a};
  return make_symbol(std::move(node));
}

}  // namespace flashlab::toy
