// Formulas as text, in ASCII and in Unicode.
#include <cctype>
#include <cmath>
#include <string_view>

#include "text/numbers.hpp"
#include "toymachine/trace/symbol.hpp"
#include "toymachine/trace/symbol_node.hpp"

namespace flashlab::toy {
namespace {

/// Only longer axes have their last indices written as n-1, n-2.
constexpr std::int64_t kShortAxis = 5;

struct SubscriptGlyph {
  char plain;
  std::string_view lowered;
};
constexpr SubscriptGlyph kGlyphs[] = {
    {'0', "₀"}, {'1', "₁"}, {'2', "₂"}, {'3', "₃"}, {'4', "₄"}, {'5', "₅"}, {'6', "₆"}, {'7', "₇"},
    {'8', "₈"}, {'9', "₉"}, {'a', "ₐ"}, {'e', "ₑ"}, {'h', "ₕ"}, {'i', "ᵢ"}, {'j', "ⱼ"}, {'k', "ₖ"},
    {'l', "ₗ"}, {'m', "ₘ"}, {'n', "ₙ"}, {'o', "ₒ"}, {'p', "ₚ"}, {'r', "ᵣ"}, {'s', "ₛ"}, {'t', "ₜ"},
    {'u', "ᵤ"}, {'v', "ᵥ"}, {'x', "ₓ"}, {'+', "₊"}, {'-', "₋"}, {'(', "₍"}, {')', "₎"},
};

/// Returns an empty text if Unicode has no such subscript.
std::string lowered(std::string_view text) {
  std::string result;
  for (const char c : text) {
    std::string_view glyph;
    for (const SubscriptGlyph& candidate : kGlyphs) {
      if (candidate.plain == c) glyph = candidate.lowered;
    }
    if (glyph.empty()) return {};
    result += glyph;
  }
  return result;
}

/// The precedence of an operator. A formula of lower precedence inside one of higher
/// precedence needs parentheses.
enum Tightness { kAdditive = 1, kMultiplicative = 2, kAtomic = 3 };

class SymbolWriter {
 public:
  explicit SymbolWriter(const SymbolStyle& style) : style_(style), left_(style.written_out) {}

  std::string write_out(const Symbol& symbol, bool tight) {
    const Symbol::Node& node = *symbol.node();
    switch (node.kind) {
      case SymbolKind::kNumber:
        return short_text(node.number);
      case SymbolKind::kName:
        return name(node.name);
      case SymbolKind::kOperation:
        return operation(node, tight);
      case SymbolKind::kTransposed:
        return operand(node.args[0], kAtomic, tight) + (style_.unicode ? "ᵀ" : "^T");
      case SymbolKind::kUnwritten:
        break;
    }
    return {};
  }

  std::string name(const SymbolName& name) {
    if (name.base == "...") return dots();
    std::string text = style_.names != nullptr ? style_.names->renamed(name.base) : name.base;
    for (std::uint32_t i = 0; i < name.primes; ++i) text += style_.unicode ? "′" : "'";
    std::vector<std::string> indices;
    bool single = true;  // every subscript is one character, so that no separator is needed
    for (std::size_t axis = 0; axis < name.subscripts.size(); ++axis) {
      const Subscript& subscript = name.subscripts[axis];
      std::string index = subscript.text;
      if (index.empty()) {
        index = style_.axes ? style_.axes->index(name.base, axis, subscript.value)
                            : std::to_string(subscript.value);
      }
      single = single && index.size() == 1;
      indices.push_back(std::move(index));
    }
    return text + subscripts(name, indices, single);
  }

 private:
  std::string operation(const Symbol::Node& node, bool tight) {
    switch (node.operation) {
      case Operation::kPlus:
        return listed(node, spaced("+", tight), tight);
      case Operation::kMinus: {
        ++differences_;
        std::string text = operand(node.args[0], kAdditive, tight) +
                           spaced(style_.unicode ? "−" : "-", tight) +
                           operand(node.args[1], kMultiplicative, tight);
        --differences_;
        return text;
      }
      case Operation::kTimes:
        return operand(node.args[0], kMultiplicative, tight) + (style_.unicode ? "·" : "*") +
               factor(node.args[1], tight);
      case Operation::kOver:
        return operand(node.args[0], kMultiplicative, tight) + "/" +
               operand(node.args[1], kAtomic, tight);
      case Operation::kExponential:
        return "e^" + exponent(node.args[0]);
      case Operation::kBinaryExponential:
        return "2^" + exponent(node.args[0]);
      default:
        return function(node);
    }
  }

  /// Returns "log(x)", "max(x, y)".
  std::string function(const Symbol::Node& node) {
    const std::string name(spec_of(node.operation).name);
    if (is_list(node.operation)) return name + "(" + terms(node) + ")";
    std::string arguments;
    for (const Symbol& arg : node.args) {
      arguments += (arguments.empty() ? "" : ", ") + write(arg, false);
    }
    return name + "(" + arguments + ")";
  }

  /// A difference is written out, as e^(S@9 - M@12) says more than e^(S@15), but not inside of another one.
  const std::string* name_of_value(const Symbol& symbol) const {
    if (style_.names == nullptr) return nullptr;
    const bool is_difference = symbol.operation() == Operation::kMinus;
    if (is_difference && differences_ == 0 && !style_.names_differences) return nullptr;
    return style_.names->find(symbol);
  }
  bool is_named(const Symbol& symbol) const {
    return left_ == 0 && name_of_value(symbol) != nullptr;
  }

  /// Writes a part of a formula.
  std::string write(const Symbol& symbol, bool tight) {
    const std::string* const name = name_of_value(symbol);
    if (name != nullptr && left_ == 0) return *name;
    left_ -= name != nullptr ? 1 : 0;
    std::string text = write_out(symbol, tight);
    left_ += name != nullptr ? 1 : 0;
    return text;
  }

  std::string subscripts(const SymbolName& name, const std::vector<std::string>& indices,
                         bool single) {
    std::string plain, bracketed;
    for (const std::string& index : indices) {
      plain += index;
      bracketed += "[" + index + "]";
    }
    const bool one = indices.size() == 1;
    if (style_.unicode) {
      const std::string small = single || one ? lowered(plain) : std::string();
      return small.empty() ? bracketed : small;
    }
    // x1 followed by index 2 would read as x12.
    const bool digit_last = std::isdigit(static_cast<unsigned char>(name.base.back())) != 0;
    return single && !digit_last ? plain : bracketed;
  }

  std::string spaced(std::string_view sign, bool tight) {
    return tight && style_.unicode ? std::string(sign) : " " + std::string(sign) + " ";
  }

  std::string dots() { return style_.unicode ? "…" : "..."; }

  Tightness binding(const Symbol& symbol) const {
    if (is_named(symbol)) return kAtomic;
    if (symbol.kind() == SymbolKind::kNumber) {
      return symbol.node()->number < 0 ? kAdditive : kAtomic;
    }
    const auto operation = symbol.operation();
    if (operation == Operation::kPlus || operation == Operation::kMinus) return kAdditive;
    const bool multiplies = operation == Operation::kTimes || operation == Operation::kOver;
    return multiplies ? kMultiplicative : kAtomic;
  }

  std::string operand(const Symbol& symbol, Tightness needed, bool tight) {
    if (binding(symbol) >= needed) return write(symbol, tight);
    return "(" + write(symbol, tight) + ")";
  }

  /// Writes the right side of a product: a*(b*c) is written a*b*c, but a*(b/c)
  /// keeps its parentheses.
  std::string factor(const Symbol& symbol, bool tight) {
    return operand(symbol, symbol.operation() == Operation::kTimes ? kMultiplicative : kAtomic,
                   tight);
  }

  std::string exponent(const Symbol& symbol) {
    const bool is_power = symbol.operation() == Operation::kExponential ||
                          symbol.operation() == Operation::kBinaryExponential;
    const bool is_plain = binding(symbol) == kAtomic && !is_power;
    const bool is_of_step =
        symbol.as_name() != nullptr && symbol.as_name()->base.find('@') != std::string::npos;
    if (is_plain && !is_named(symbol) && !is_of_step) return write(symbol, false);
    return "(" + write(symbol, true) + ")";
  }

  /// Writes all terms, or the first and the last of many.
  std::string listed(const Symbol::Node& node, const std::string& separator, bool tight) {
    const Tightness needed = kAdditive;
    const bool run = node.count >= kKeptTerms && !node.stride.empty();
    std::string text = operand(node.args.front(), needed, tight);
    const std::size_t last = node.args.size() - 1;
    for (std::size_t i = 1; !run && i < last; ++i) {
      text += separator + operand(node.args[i], needed, tight);
    }
    if (run || node.count > kKeptTerms) text += separator + dots();
    return text + separator + operand(node.args[last], needed, tight);
  }

  /// A run of plain cells is written as a range: x0..x6.
  std::string terms(const Symbol::Node& node) {
    const bool run = node.count >= kKeptTerms && !node.stride.empty();
    if (run && node.args.front().as_name()) {
      return write(node.args.front(), false) + ".." + write(node.args.back(), false);
    }
    return listed(node, ", ", false);
  }

  const SymbolStyle& style_;
  std::size_t left_;             // named values that may still be written out here
  std::size_t differences_ = 0;  // around this place
};

}  // namespace

std::string AxisNames::index(const std::string& array, std::size_t axis, std::int64_t value) const {
  const auto found = arrays.find(array);
  if (found != arrays.end() && axis < found->second.size()) {
    const Axis& names = found->second[axis];
    const std::int64_t from_end = names.extent - value;
    if (!names.param.empty() && names.extent > kShortAxis && (from_end == 1 || from_end == 2)) {
      return names.param + "-" + std::to_string(from_end);
    }
  }
  return std::to_string(value);
}

std::string to_string(const Symbol& symbol, const SymbolStyle& style) {
  return symbol.is_written() ? SymbolWriter(style).write_out(symbol, false) : std::string();
}

std::string to_string(const SymbolName& name, const SymbolStyle& style) {
  return SymbolWriter(style).name(name);
}

}  // namespace flashlab::toy
