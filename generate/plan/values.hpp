// The values of a launch: a register between the steps that write it and those that read what they
// wrote. One register may have several, of different shapes, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generate/plan/reaching.hpp"
#include "generate/plan/steps.hpp"

namespace flashlab::generate {

/// The length of a tile along an axis: that of tile `index` of an axis with `extent` elements. A tile
/// that may be the last one may be shorter than `size()`.
struct TileLength {
  std::int64_t extent = 1, tile = 1;
  toy::Affine index;

  std::int64_t size() const { return tile; }
  bool is_always_whole() const { return extent % tile == 0; }
  bool operator==(const TileLength& other) const {
    return extent == other.extent && tile == other.tile && index.constant == other.index.constant &&
           index.terms == other.index.terms;
  }
};

/// A number and a column stand for tiles in which they are repeated.
enum class Shape : std::uint8_t { kNumber, kColumn, kMatrix };

struct Value {
  std::int64_t number = 0;  // the register
  Shape shape = Shape::kNumber;
  bool is_mixed = false;  // some definitions have a smaller shape: in these it is repeated
  TileLength rows, cols;
  std::vector<std::size_t> definitions;  // into Values::definitions
  std::vector<std::size_t> reads;        // steps, sorted
};

struct Values {
  std::vector<Definition> definitions;
  std::vector<Value> values;
  /// By step and operand: the value that is read or written; -1: no register.
  std::vector<std::vector<std::int64_t>> operands;
  /// By step: whether what it writes is read by the next step alone.
  std::vector<bool> only_for_next;
};

/// Finds the values and their shapes. Returns nothing, and why in `why_not`, if sizes do not fit
/// together provably, or a step needs what fragments cannot do.
std::optional<Values> values_of(const toy::BoundProgram& program, const std::vector<Step>& steps,
                                Reason& why_not);

/// The length of the operand's tile along an axis, counted from the last one.
TileLength tile_length(const toy::BoundArray& array, const std::vector<toy::Affine>& axes,
                       std::size_t axis_from_last);

}  // namespace flashlab::generate
