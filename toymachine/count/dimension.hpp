// The number of rows or columns of a tile, as a formula in the loops around it.
// Private to counting.
#pragma once

#include <cstdint>
#include <optional>

#include "toymachine/count/iteration_space.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"
#include "toymachine/execute/shape.hpp"

namespace flashlab::toy::detail {

/// The elements of one tile along one axis: min(tile, extent - tile * index), or a number. Indices
/// are in their ranges. Dimensions that compare equal are equal.
class Dimension {
 public:
  Dimension() = default;
  explicit Dimension(std::int64_t number) : number_(number) {}
  Dimension(const Polynomial& extent, const Polynomial& tile, const Polynomial& index);

  std::optional<std::int64_t> number() const {
    return number_ > 0 ? std::optional(number_) : std::nullopt;
  }
  /// A loop with this many iterations; only if the dimension is not a number.
  NestLoop loop(std::size_t loop_number) const;

  bool mentions(const Atom& atom) const { return index_.degree(atom) > 0; }
  Dimension with(const Atom& atom, const Polynomial& value) const;
  bool operator==(const Dimension& other) const = default;

 private:
  std::int64_t number_ = 0;  // 0: not a number
  Polynomial extent_, tile_, index_;
};

inline bool is_one(const Dimension& dimension) { return dimension.number() == 1; }

using TileShape = BasicShape<Dimension>;

bool mentions(const TileShape& shape, const Atom& atom);
TileShape with(const TileShape& shape, const Atom& atom, const Polynomial& value);

}  // namespace flashlab::toy::detail
