#include "exercises/grader/exercise/pairwise.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

namespace flashlab::exercises {
namespace {

using Line = std::array<Column, 3>;

template <class Values>
void shuffle_columns(Values& values, std::mt19937_64& generator) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[generator() % i]);
  }
}

/// Disjoint lines, each the first that is left: with 16 rows five, which have all columns.
std::vector<Line> disjoint_lines(std::set<Column>& left) {
  std::vector<Line> lines;
  for (auto a = left.begin(); a != left.end();) {
    const auto b = std::find_if(std::next(a), left.end(),
                                [&](Column other) { return left.contains(*a ^ other); });
    if (b == left.end()) {
      ++a;
      continue;
    }
    lines.push_back({*a, *b, *a ^ *b});
    left.erase(lines.back()[1]);
    left.erase(lines.back()[2]);
    a = left.erase(a);
  }
  return lines;
}

}  // namespace

bool bit_of(Column column, std::size_t row) { return std::popcount(column & row) % 2 != 0; }

std::vector<ParameterColumns> pairwise_columns(std::size_t rows, std::size_t parameters,
                                               std::mt19937_64& generator) {
  std::vector<ParameterColumns> all(parameters);
  if (rows < 2 || !std::has_single_bit(rows)) return all;
  std::set<Column> left;
  for (Column column = 1; column < rows; ++column) left.insert(column);
  const std::size_t with_parity =
      rows - 1 > parameters ? std::min(parameters, rows - 1 - parameters) : 0;
  std::vector<Line> lines = disjoint_lines(left);
  shuffle_columns(lines, generator);
  const std::size_t with_line = std::min(lines.size(), with_parity);
  std::vector<Column> unused(left.begin(), left.end()), others;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    shuffle_columns(lines[i], generator);
    if (i < with_line) {
      all[i] = {lines[i][0], lines[i][1]};
      others.push_back(lines[i][2]);
    } else {
      unused.insert(unused.end(), lines[i].begin(), lines[i].end());
    }
  }
  // Taken from the back. The sum of two columns is known where both are, so the last ones give theirs first.
  shuffle_columns(unused, generator);
  others.insert(others.end(), unused.begin(), unused.end());
  for (ParameterColumns& one : all) {
    if (one.half != 0 || others.empty()) continue;
    one.half = others.back();
    others.pop_back();
  }
  for (std::size_t i = with_line; i < with_parity && !others.empty(); ++i) {
    all[i].parity = others.back();
    others.pop_back();
  }
  return all;
}

}  // namespace flashlab::exercises
