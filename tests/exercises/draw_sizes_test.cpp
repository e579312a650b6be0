// Columns of an orthogonal array: pairs of bits in rows.
#include "exercises/grader/exercise/draw_sizes.hpp"

#include <map>
#include <set>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

namespace {

using namespace flashlab::exercises;

constexpr std::uint64_t kArrays = 50;

/// How often each combination of the columns' bits comes in the rows.
std::map<std::vector<bool>, std::size_t> combinations(const std::vector<Column>& columns,
                                                      std::size_t rows) {
  std::map<std::vector<bool>, std::size_t> counts;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<bool> bits;
    for (const Column column : columns) bits.push_back(bit_of(column, row));
    ++counts[bits];
  }
  return counts;
}

std::vector<Column> all_of(const std::vector<ParameterColumns>& parameters) {
  std::vector<Column> columns;
  for (const ParameterColumns& one : parameters) {
    for (const Column column : {one.half, one.parity}) {
      if (column != 0) columns.push_back(column);
    }
  }
  return columns;
}

}  // namespace

TEST_CASE("each two columns have all four pairs of bits equally often", "[drawn]") {
  for (const std::size_t rows : {4, 8, 16, 32, 64}) {
    for (std::size_t parameters = 1; parameters <= 8; ++parameters) {
      for (std::uint64_t seed = 0; seed < kArrays; ++seed) {
        std::mt19937_64 generator(flashlab::test::seeded(seed));
        const auto columns = all_of(pairwise_columns(rows, parameters, generator));
        INFO(rows << " rows, " << parameters << " parameters, seed " << seed);
        CHECK(columns.size() == std::min(rows - 1, 2 * parameters));
        for (std::size_t i = 0; i < columns.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            const auto counts = combinations({columns[i], columns[j]}, rows);
            CHECK(counts.size() == 4);
            for (const auto& [bits, count] : counts) CHECK(count == rows / 4);
          }
        }
      }
    }
  }
}

TEST_CASE("halves come before parities if there are few rows", "[drawn]") {
  std::mt19937_64 generator(flashlab::test::seeded(1));
  for (const std::size_t parameters : {3, 4, 6, 7}) {
    for (const std::size_t rows : {4, 8}) {
      const auto columns = pairwise_columns(rows, parameters, generator);
      std::size_t halves = 0;
      for (const ParameterColumns& one : columns) halves += one.half != 0 ? 1 : 0;
      CHECK(halves == std::min(parameters, rows - 1));
    }
  }
}

TEST_CASE("with sixteen rows, five parameters have all sixteen pairs of halves and parities",
          "[drawn]") {
  for (const std::size_t parameters : {2, 5, 6}) {
    for (std::uint64_t seed = 0; seed < kArrays; ++seed) {
      std::mt19937_64 generator(flashlab::test::seeded(seed));
      const auto columns = pairwise_columns(16, parameters, generator);
      for (std::size_t i = 0; i < std::min<std::size_t>(parameters, 5); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          INFO(parameters << " parameters, seed " << seed << ": " << i << ", " << j);
          CHECK(combinations(
                    {columns[i].half, columns[i].parity, columns[j].half, columns[j].parity}, 16)
                    .size() == 16);
        }
      }
    }
  }
}

TEST_CASE("a number of rows that is no power of two has no columns", "[drawn]") {
  std::mt19937_64 generator(flashlab::test::seeded(1));
  for (const std::size_t rows : {0, 1, 3, 12}) {
    CHECK(all_of(pairwise_columns(rows, 3, generator)).empty());
  }
  CHECK(pairwise_columns(16, 0, generator).empty());
}
