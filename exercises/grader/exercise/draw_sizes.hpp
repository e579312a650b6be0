// Columns of an orthogonal array: in 2^m rows, each two of its columns have all four pairs of bits equally often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace flashlab::exercises {

/// A column is a set of bits of the row's number, and its bit in a row is their sum modulo 2. Two columns that
/// differ have all pairs of bits. 0: no column.
using Column = std::uint64_t;
bool bit_of(Column column, std::size_t row);

/// The columns of one parameter: whether its value lies in the upper half of its range, and whether it is odd.
struct ParameterColumns {
  Column half = 0, parity = 0;
};

/// Shares 2^m - 1 columns out: first a half for each parameter, then parities. As many parameters as there
/// are disjoint lines, those at the front, have two columns of a line, {a, b, a + b}. So two of them have all
/// sixteen pairs of halves and parities, if there are sixteen rows or more. The array is drawn by the generator.
/// All columns are 0 if the number of rows is no power of 2.
std::vector<ParameterColumns> pairwise_columns(std::size_t rows, std::size_t parameters,
                                               std::mt19937_64& generator);

}  // namespace flashlab::exercises
