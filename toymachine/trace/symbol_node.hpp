// The node to which a Symbol points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "toymachine/trace/symbol.hpp"

namespace flashlab::toy {

/// A long sum, maximum or other list keeps this many terms: the first ones, and in the last place
/// its last term.
inline constexpr std::size_t kKeptTerms = 4;

struct Symbol::Node {
  SymbolKind kind = SymbolKind::kNumber;
  Operation operation{};     // kOperation
  double number = 0;         // kNumber
  SymbolName name;           // kName
  std::vector<Symbol> args;  // arguments; the kept terms of a list
  std::uint64_t count = 0;   // terms of a list
  /// The differences between the subscripts of a term and those of the previous one, in reading
  /// order. Empty if the terms are not evenly spaced.
  std::vector<std::int64_t> stride;
  std::size_t size = 1;
};

/// While it exists, in its thread, this value is what a step adds to: it is written before what is
/// added.
class RunningValue {
 public:
  explicit RunningValue(const Symbol& value);
  ~RunningValue();
  RunningValue(const RunningValue&) = delete;
  RunningValue& operator=(const RunningValue&) = delete;
  static const Symbol::Node* current();

 private:
  const Symbol::Node* before_;
};

}  // namespace flashlab::toy
