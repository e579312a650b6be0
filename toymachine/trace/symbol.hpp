// A register's value as a formula: a00*b00 + a01*b10, e^(x1 - m), or the name of a finished value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "toymachine/language/operations.hpp"

namespace flashlab::toy {

/// One index of a name. `text` is its form in a generic iteration ("i", "n-1"); empty: the
/// value is shown.
struct Subscript {
  std::int64_t value = 0;
  std::string text;
  bool generic = false;  // represents every iteration of a loop, so it has no meaning outside

  friend bool operator==(const Subscript& a, const Subscript& b) { return a.value == b.value; }
};

/// x[3], m, m' (one prime), c[0][1].
struct SymbolName {
  std::string base;
  std::uint32_t primes = 0;
  std::vector<Subscript> subscripts;

  friend bool operator==(const SymbolName&, const SymbolName&) = default;
};

enum class SymbolKind : std::uint8_t { kUnwritten, kNumber, kName, kOperation, kTransposed };

/// Immutable; copies share their nodes. Sums and maxima are flat. A long one keeps only its first
/// terms, its last one and their number, so that its size does not grow with the number of steps.
class Symbol {
 public:
  struct Node;
  Symbol() = default;  // never written
  static Symbol number(double value);
  static Symbol name(SymbolName name);
  static Symbol name(std::string base) { return name(SymbolName{std::move(base), 0, {}}); }

  SymbolKind kind() const;
  /// Returns the outermost operation, if there is one.
  std::optional<Operation> operation() const;
  bool is_written() const { return node_ != nullptr; }
  /// Returns the name if the whole value is one, else null.
  const SymbolName* as_name() const;
  /// Nodes in the formula as it is printed: the cost of rendering it.
  std::size_t size() const;
  bool mentions(const SymbolName& name) const;
  bool mentions_generic() const;
  /// Returns the formula with one name replaced by another everywhere.
  Symbol renamed(const SymbolName& from, const SymbolName& to) const;
  const Node* node() const { return node_.get(); }

  /// Whether the formulas are equal; numbers and subscripts are compared by value.
  friend bool operator==(const Symbol& a, const Symbol& b);

 private:
  friend Symbol make_symbol(Node node);
  std::shared_ptr<const Node> node_;
};

/// Beyond this size, the operators below give the name "..." instead of a formula. A trace replaces
/// a large formula by its register's name long before that.
inline constexpr std::size_t kMaxSymbolSize = 1000;

/// Returns the operation's formula; `b` and `c` are its second and third argument. It is simplified no more than
/// one would on paper: a - a = 0, e^0 = 1, 0 + a = a, a - 0 = a, 0 a = 0, max(-inf, a) = a, e^-inf =
/// 0, whole numbers.
Symbol symbol_of(Operation operation, const Symbol& a, const Symbol& b = {}, const Symbol& c = {});
/// Returns the numbers of a tile's rows or columns: row[4] is 4, 5, … from its first row on.
Symbol symbol_of_place(Operation operation, std::int64_t first);
Symbol transposed(const Symbol& a);

/// For the effects of the instruction table. A product of tiles is written as one of numbers, and a
/// mask without its offsets.
template <Operation kOperation, class... More>
Symbol operated(detail::OperationTag<kOperation>, const Symbol& a, const More&... more) {
  if constexpr (is_place(kOperation)) {
    return symbol_of_place(kOperation, more...);
  } else if constexpr (spec_of(kOperation).shape == ShapeRule::kMask) {
    return symbol_of(kOperation, a);
  } else if constexpr (kOperation == Operation::kProduct) {
    return symbol_of(Operation::kTimes, a, more...);
  } else {
    return symbol_of(kOperation, a, more...);
  }
}
using detail::operator+, detail::operator-, detail::operator*, detail::operator/;
using detail::exponential, detail::maximum;

/// Names for indices near the end of an axis: x[7] is written as x[n-1] if x has n = 8 elements.
struct AxisNames {
  struct Axis {
    std::string param;  // empty: write numbers
    std::int64_t extent = 0;
  };
  std::map<std::string, std::vector<Axis>, std::less<>> arrays;

  /// "n-1", or the number.
  std::string index(const std::string& array, std::size_t axis, std::int64_t value) const;
};

/// Names of values whose formulas stand elsewhere.
class ValueNames {
 public:
  /// Gives a value that is neither a number nor a name this name. Later formulas may use it.
  void add(const Symbol& value, std::string name);
  const std::string* find(const Symbol& value) const;
  /// "S@29" is written as "S@3".
  void rename(std::string base, std::string to) { bases_[std::move(base)] = std::move(to); }
  const std::string& renamed(const std::string& base) const;
  std::size_t size() const { return names_.size(); }
  /// Forgets all values but these.
  void keep_only(const std::vector<Symbol>& values);

 private:
  struct Named {
    Symbol value;  // so that no other node gets its address
    std::string name;
  };
  std::unordered_map<const Symbol::Node*, Named> names_;
  std::unordered_map<std::string, std::string> bases_;
};

struct SymbolStyle {
  bool unicode = false;  // a₀₀·b₀₀, e^(x₁−m), m′ for a00*b00, e^(x1 - m), m'
  const AxisNames* axes = nullptr;    // may be null
  const ValueNames* names = nullptr;  // may be null
  /// So many named values inside each other are written out in place of their names.
  std::size_t written_out = 0;
  bool names_differences = false;  // not only those inside of others
};

/// Returns the formula with as few parentheses as precedence allows; empty for an unwritten value.
std::string to_string(const Symbol& symbol, const SymbolStyle& style = {});
std::string to_string(const SymbolName& name, const SymbolStyle& style = {});

}  // namespace flashlab::toy
