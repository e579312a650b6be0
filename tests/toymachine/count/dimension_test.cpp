// Sizes of tiles at the end of an axis, and ranges of loops as inequalities.
#include "toymachine/count/dimension.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/catch_shim.hpp"
#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {
namespace {

using Op = NestExpression::Op;
using Facts = std::vector<Polynomial>;

const Polynomial size_n = Polynomial::symbol("n");
const Polynomial tile_b = Polynomial::symbol("B");
const Polynomial variable_i = loop_atom(0);
const Polynomial variable_j = loop_atom(1);

NestExpression combined(Op op, std::vector<NestExpression> args, const Polynomial& number = {}) {
  return {op, number, std::move(args)};
}

}  // namespace

TEST_CASE("a tile's size is a number where its index or its axis says so", "[dimension]") {
  struct Case {
    Polynomial extent, tile, index;
    std::optional<std::int64_t> number;
  };
  const Case cases[] = {{7, 3, 0, 3},
                        {7, 3, 1, 3},
                        {7, 3, 2, 1},             // the last tile is smaller
                        {7, 3, 3, std::nullopt},  // there is no such tile
                        {7, 3, -1, std::nullopt},
                        {8, 3, 2, 2},
                        {7, 3, variable_i, std::nullopt},  // 3 or 1
                        {6, 3, variable_i, 3},             // every tile is whole
                        {6, 3, 1, 3},
                        {3, 3, variable_i, 3},  // one tile
                        {2, 3, variable_i, 2},  // one tile that is not full
                        {4, 3, variable_i, std::nullopt},
                        {1, tile_b, variable_i, 1},  // an axis of one element
                        {size_n, 1, variable_i, 1},  // tiles of one element
                        {size_n, 3, 0, std::nullopt},
                        {7, tile_b, 0, std::nullopt},
                        {0, 3, 0, std::nullopt},
                        {Polynomial(mpq_class(7, 2)) * 2, 3, 2, 1}};
  for (const Case& c : cases) {
    CAPTURE(to_string(c.extent), to_string(c.tile), to_string(c.index));
    CHECK(Dimension(c.extent, c.tile, c.index).number() == c.number);
  }
  CHECK(Dimension(5).number() == 5);
  CHECK(Dimension(1).number() == 1);
  CHECK_FALSE(Dimension().number());
  CHECK(is_one(Dimension(1)));
  CHECK_FALSE(is_one(Dimension(2)));
  CHECK_FALSE(is_one(Dimension()));
}

TEST_CASE("a tile's size depends on its index only if there are several tiles", "[dimension]") {
  const Atom i = loop_atom(0), j = loop_atom(1);
  const Dimension ragged(size_n, tile_b, variable_i);
  CHECK(ragged.mentions(i));
  CHECK_FALSE(ragged.mentions(j));
  CHECK_FALSE(ragged == Dimension(size_n, tile_b, variable_j));
  CHECK(ragged.with(i, variable_j) == Dimension(size_n, tile_b, variable_j));
  CHECK(ragged.with(j, 0) == ragged);
  const Dimension whole(size_n, size_n, variable_i);
  CHECK_FALSE(whole.mentions(i));
  CHECK(whole == Dimension(size_n, size_n, variable_j));
  CHECK(Dimension(7, 3, variable_i).with(i, 2).number() == 1);
  CHECK(Dimension(7, 3, variable_i).with(i, 1).number() == 3);
}

TEST_CASE("a shape mentions what its rows or its columns mention", "[dimension]") {
  const Atom i = loop_atom(0);
  const Dimension ragged(7, 3, variable_i), three(3);
  const TileShape rows{ragged, three}, cols{three, ragged}, none{three, three};
  CHECK(mentions(rows, i));
  CHECK(mentions(cols, i));
  CHECK_FALSE(mentions(none, i));
  CHECK(with(rows, i, 2) == TileShape{Dimension(1), three});
  CHECK(with(cols, i, 2) == TileShape{three, Dimension(1)});
  TileShape misfit = rows;
  misfit.fits = false;
  CHECK_FALSE(with(misfit, i, 2).fits);
}

TEST_CASE("a size as a loop runs from its tile's beginning to its tile's end", "[dimension]") {
  const NestLoop ragged = Dimension(size_n, tile_b, variable_i).loop(5);
  CHECK(ragged.number == 5);
  CHECK(ragged.lower == leaf(tile_b * variable_i));
  CHECK(ragged.upper == combined(Op::kMin, {leaf(tile_b * variable_i + tile_b), leaf(size_n)}));
  const NestLoop whole = Dimension(size_n, size_n, variable_i).loop(6);
  CHECK(whole.number == 6);
  CHECK(whole.lower == leaf(0));
  CHECK(whole.upper == leaf(size_n));
}

TEST_CASE("a value below a bound is an inequality for each part of the bound", "[ranges]") {
  const NestExpression n = leaf(size_n);
  struct Case {
    NestExpression bound;
    bool exact;
    Facts below;
  };
  const Case cases[] = {
      {n, true, {size_n - variable_i - 1}},
      {combined(Op::kMin, {n, leaf(tile_b)}),
       true,
       {size_n - variable_i - 1, tile_b - variable_i - 1}},
      {combined(Op::kCeilDiv, {n}, 3), true, {size_n - 3 * variable_i - 1}},
      {combined(Op::kFloorDiv, {n}, 3), true, {size_n - 3 * variable_i - 3}},
      {combined(Op::kMax, {n, leaf(tile_b)}), false, {}},
      {combined(Op::kMin, {combined(Op::kMax, {n, n}), n}), false, {size_n - variable_i - 1}},
      {combined(Op::kMin, {n, combined(Op::kMax, {n, n})}), false, {size_n - variable_i - 1}}};
  for (const Case& c : cases) {
    Facts facts;
    CHECK(add_below(variable_i, c.bound, facts) == c.exact);
    CHECK(facts == c.below);
  }
}

TEST_CASE("a value at or above a bound is an inequality for each part of the bound", "[ranges]") {
  const NestExpression n = leaf(size_n);
  struct Case {
    NestExpression bound;
    bool exact;
    Facts above;
  };
  const Case cases[] = {
      {n, true, {variable_i - size_n}},
      {combined(Op::kMax, {n, leaf(tile_b)}), true, {variable_i - size_n, variable_i - tile_b}},
      {combined(Op::kCeilDiv, {n}, 3), true, {3 * variable_i - size_n}},
      {combined(Op::kFloorDiv, {n}, 3), true, {3 * variable_i + 2 - size_n}},
      {combined(Op::kMin, {n, leaf(tile_b)}), false, {}},
      {combined(Op::kMax, {n, combined(Op::kMin, {n, n})}), false, {variable_i - size_n}}};
  for (const Case& c : cases) {
    Facts facts;
    CHECK(add_at_least(variable_i, c.bound, facts) == c.exact);
    CHECK(facts == c.above);
  }
}

TEST_CASE("a bound below a bound is taken apart from either side", "[ranges]") {
  const NestExpression n = leaf(size_n), b = leaf(tile_b);
  struct Case {
    NestExpression low;
    Polynomial shift;
    NestExpression high;
    bool exact;
    Facts less;
  };
  const Case cases[] = {
      {b, 2, n, true, {size_n - tile_b - 3}},
      {combined(Op::kMax, {b, leaf(5)}), 1, n, true, {size_n - tile_b - 2, size_n - 7}},
      {combined(Op::kFloorDiv, {b}, 4), 1, n, true, {4 * (size_n - 1) - tile_b - 1}},
      {combined(Op::kCeilDiv, {b}, 4), 1, n, true, {4 * (size_n - 2) - tile_b}},
      {combined(Op::kFloorDiv, {b}, 4),
       0,
       combined(Op::kMin, {n, leaf(9)}),
       true,
       {4 * size_n - tile_b - 1, 35 - tile_b}},
      {combined(Op::kMin, {b, b}), 0, n, false, {}},
      {combined(Op::kFloorDiv, {b}, 4), 0, combined(Op::kCeilDiv, {n}, 2), false, {}},
      {combined(Op::kMax, {b, combined(Op::kMin, {b, b})}), 0, n, false, {size_n - tile_b - 1}}};
  for (const Case& c : cases) {
    Facts facts;
    CHECK(add_less(c.low, c.shift, c.high, facts) == c.exact);
    CHECK(facts == c.less);
  }
}

TEST_CASE("a loop gives the facts about its own variable", "[ranges]") {
  NestLoop loop;
  loop.number = 1;
  loop.lower = leaf(variable_i);
  loop.upper = leaf(size_n);
  Facts facts;
  add_range(loop, facts);
  CHECK(facts == Facts{variable_j - variable_i, size_n - variable_j - 1});
  CHECK(mentions(loop, loop_atom(0)));
  CHECK_FALSE(mentions(loop, loop_atom(1)));
  std::swap(loop.lower, loop.upper);
  CHECK(mentions(loop, loop_atom(0)));
  substitute_in(loop, loop_atom(0), 3);
  CHECK(loop.upper == leaf(3));
  CHECK(loop.lower == leaf(size_n));
}

TEST_CASE("bounds of numbers become numbers", "[ranges]") {
  const NestExpression seven = leaf(variable_i + 5), four = leaf(4);
  const auto at_two = [](const NestExpression& expression) {
    return substitute(expression, loop_atom(0), 2);
  };
  CHECK(at_two(combined(Op::kMin, {seven, four})) == leaf(4));
  CHECK(at_two(combined(Op::kMax, {seven, four})) == leaf(7));
  CHECK(at_two(combined(Op::kCeilDiv, {seven}, 2)) == leaf(4));
  CHECK(at_two(combined(Op::kFloorDiv, {seven}, 2)) == leaf(3));
  const NestExpression open = combined(Op::kMin, {seven, leaf(size_n)});
  CHECK(at_two(open) == combined(Op::kMin, {leaf(7), leaf(size_n)}));
}

TEST_CASE("the first iterations of a loop are taken off, or left alone", "[ranges]") {
  NestLoop loop;
  loop.lower = leaf(size_n);
  loop.upper = leaf(tile_b);
  loop.step = 3;
  CHECK(value_in_iteration(loop, 0) == size_n);
  CHECK(value_in_iteration(loop, 2) == size_n + 6);
  CHECK(without_first(loop, 0) == loop);
  CHECK(without_first(loop, 2).lower == leaf(size_n + 6));
  CHECK(without_first(loop, 2).upper == loop.upper);
  CHECK(only_first(loop).lower == loop.lower);
  CHECK(only_first(loop).upper == combined(Op::kMin, {leaf(tile_b), leaf(size_n + 1)}));
  loop.upper = combined(Op::kMin, {leaf(tile_b), leaf(9)});
  CHECK(only_first(loop).upper == combined(Op::kMin, {leaf(tile_b), leaf(9), leaf(size_n + 1)}));
  loop.lower = combined(Op::kMax, {leaf(size_n), leaf(1)});
  CHECK(without_first(loop, 1).lower == combined(Op::kMax, {leaf(size_n + 3), leaf(4)}));
  loop.lower = combined(Op::kCeilDiv, {leaf(size_n)}, 2);
  CHECK(without_first(loop, 1).lower ==
        combined(Op::kAdd, {combined(Op::kCeilDiv, {leaf(size_n)}, 2), leaf(3)}));
}

}  // namespace flashlab::toy::detail
