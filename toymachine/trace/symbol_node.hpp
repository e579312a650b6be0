// What a Symbol points to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "toymachine/trace/symbol.hpp"

namespace flashlab::toy {

/// A long sum or maximum keeps this many terms: the first ones and, in the last place, the last
/// one.
inline constexpr std::size_t kKeptTerms = 4;

struct Symbol::Node {
  SymbolOp op = SymbolOp::kNumber;
  double number = 0;         // kNumber
  SymbolName name;           // kName
  std::vector<Symbol> args;  // operands; the kept terms of a sum or maximum
  std::uint64_t count = 0;   // terms of a sum or maximum
  /// How each term's subscripts differ from those of the one before it, in reading order; empty
  /// when the terms do not follow one another evenly.
  std::vector<std::int64_t> stride;
  std::size_t size = 1;
};

}  // namespace flashlab::toy
