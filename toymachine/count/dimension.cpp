#include "toymachine/count/dimension.hpp"

#include <algorithm>

#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {
namespace {

std::optional<std::int64_t> whole_number(const Polynomial& polynomial) {
  const auto value = polynomial.as_constant();
  if (!value || !value->get_num().fits_slong_p()) return std::nullopt;
  return value->get_num().get_si();
}

/// Returns the size if it does not depend on the index, or if the index is known.
std::optional<std::int64_t> known_size(const Polynomial& extent, const Polynomial& tile,
                                       const Polynomial& index) {
  const auto elements = whole_number(extent);
  const auto size = whole_number(tile);
  if (elements == 1 || size == 1) return 1;
  if (!elements || !size) return std::nullopt;
  if (*elements <= *size) return elements;
  if (*elements % *size == 0) return size;
  const auto at = whole_number(index);
  if (!at || *at < 0 || *at > *elements / *size) return std::nullopt;
  return std::min(*size, *elements - *at * *size);
}

}  // namespace

Dimension::Dimension(const Polynomial& extent, const Polynomial& tile, const Polynomial& index)
    : number_(std::max<std::int64_t>(0, known_size(extent, tile, index).value_or(0))) {
  if (number_ > 0) return;
  extent_ = extent;
  tile_ = tile;
  if (!(extent == tile)) index_ = index;  // otherwise there is one tile
}

NestLoop Dimension::loop(std::size_t loop_number) const {
  const Polynomial begin = tile_ * index_;
  NestLoop loop;
  loop.number = loop_number;
  loop.lower = leaf(begin);
  loop.upper = {NestExpression::Op::kMin, {}, {leaf(begin + tile_), leaf(extent_)}};
  if (extent_ == tile_) loop.upper = leaf(extent_);
  return loop;
}

Dimension Dimension::with(const Atom& atom, const Polynomial& value) const {
  if (!mentions(atom)) return *this;
  return {extent_, tile_, substitute(index_, atom, value)};
}

bool mentions(const TileShape& shape, const Atom& atom) {
  return shape.rows.mentions(atom) || shape.cols.mentions(atom);
}

TileShape with(const TileShape& shape, const Atom& atom, const Polynomial& value) {
  return {shape.rows.with(atom, value), shape.cols.with(atom, value), shape.fits};
}

}  // namespace flashlab::toy::detail
