// How large the tiles in registers become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

inline std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

struct TileSize {
  std::int64_t rows = 0, cols = 0;  // 0: never written
  /// Saturates.
  std::int64_t elements() const {
    std::int64_t result = 0;
    return __builtin_mul_overflow(rows, cols, &result) ? INT64_MAX : result;
  }
  /// Elements of its place in shared memory: each row has an odd number of them, so that those of a
  /// column are in different banks. Saturates.
  std::int64_t places() const {
    return cols == INT64_MAX ? INT64_MAX : TileSize{rows, cols | 1}.elements();
  }
  bool operator==(const TileSize&) const = default;
};

struct TileSizes {
  std::vector<TileSize> largest;     // by register: the tile that takes the most places
  std::vector<std::uint32_t> sites;  // by register: the instruction that writes that tile
  std::int64_t most_written = 1;     // elements of the largest tile that an instruction computes
  std::int64_t scratch = 0;          // the same, of instructions that need_scratch()
};

/// Returns upper bounds for one execution of the nodes [first, last), which take no register over.
/// They are reached unless a register holds tiles of different shapes in different iterations.
/// Returns nothing if the walk takes too long.
std::optional<TileSizes> tile_sizes(const toy::BoundProgram& program, std::size_t first,
                                    std::size_t last);

/// Whether the result may be written to a register that a product, or a reduction, still reads.
bool needs_scratch(const toy::BoundProgram& program, const toy::BoundInstruction& instruction);

}  // namespace flashlab::generate
