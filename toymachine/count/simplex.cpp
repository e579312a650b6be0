// Whether linear inequalities have a common solution: the first phase of the simplex method,
// in exact fractions.

#include <utility>

#include "toymachine/budget/budget.hpp"
#include "toymachine/count/inequalities.hpp"

namespace flashlab::toy::detail {
namespace {

/// Each row is an unknown that must be >= 0, as a constant plus multiples of the unknowns that are
/// currently 0. Unknowns in columns are >= 0 as well.
struct Tableau {
  std::vector<std::vector<mpq_class>> rows;
  std::vector<std::size_t> row_unknown, column_unknown;
};

/// The violated row whose unknown has the lowest number (Bland's rule: no cycles).
std::size_t violated_row(const Tableau& tableau) {
  std::size_t best = tableau.rows.size();
  for (std::size_t i = 0; i < tableau.rows.size(); ++i) {
    if (sgn(tableau.rows[i][0]) >= 0) continue;
    if (best == tableau.rows.size() || tableau.row_unknown[i] < tableau.row_unknown[best]) best = i;
  }
  return best;
}

/// Returns the column that can increase the row, lowest unknown first; 0 if there is none.
std::size_t lifting_column(const Tableau& tableau, std::size_t row) {
  std::size_t best = 0;
  for (std::size_t j = 1; j < tableau.rows[row].size(); ++j) {
    if (sgn(tableau.rows[row][j]) <= 0) continue;
    if (best == 0 || tableau.column_unknown[j] < tableau.column_unknown[best]) best = j;
  }
  return best;
}

constexpr std::int64_t kWorkOfFraction = 10;  // in units of check_budget

void exchange(Tableau& tableau, std::size_t row, std::size_t column) {
  std::vector<mpq_class>& pivot_row = tableau.rows[row];
  const mpq_class inverse = 1 / pivot_row[column];
  for (std::size_t j = 0; j < pivot_row.size(); ++j) {
    if (sgn(pivot_row[j]) != 0) pivot_row[j] *= j == column ? mpq_class(1) : mpq_class(-inverse);
  }
  pivot_row[column] = inverse;
  for (std::size_t i = 0; i < tableau.rows.size(); ++i) {
    if (i == row || sgn(tableau.rows[i][column]) == 0) continue;
    check_budget(static_cast<std::int64_t>(pivot_row.size()) * kWorkOfFraction);
    const mpq_class factor = tableau.rows[i][column];
    tableau.rows[i][column] = 0;
    for (std::size_t j = 0; j < pivot_row.size(); ++j) {
      if (sgn(pivot_row[j]) != 0) tableau.rows[i][j] += factor * pivot_row[j];
    }
  }
  std::swap(tableau.row_unknown[row], tableau.column_unknown[column]);
}

bool is_sign_constraint(const std::vector<mpq_class>& row, std::size_t& column) {
  std::size_t found = 0;
  for (std::size_t j = 1; j < row.size(); ++j) {
    if (sgn(row[j]) == 0) continue;
    if (found != 0 || sgn(row[j]) < 0) return false;
    found = j;
  }
  column = found;
  return found != 0 && sgn(row[0]) == 0;
}

/// Replaces an unknown that may be negative by the difference of two that may not.
Tableau tableau_of(const std::vector<std::vector<mpq_class>>& rows) {
  const std::size_t width = rows.empty() ? 1 : rows[0].size();
  std::vector<bool> nonnegative(width, false);
  for (const auto& row : rows) {
    std::size_t column = 0;
    if (is_sign_constraint(row, column)) nonnegative[column] = true;
  }
  Tableau tableau;
  for (const auto& row : rows) {
    std::size_t column = 0;
    if (is_sign_constraint(row, column)) continue;
    std::vector<mpq_class> split{row[0]};
    for (std::size_t j = 1; j < width; ++j) {
      split.push_back(row[j]);
      if (!nonnegative[j]) split.push_back(-row[j]);
    }
    tableau.rows.push_back(std::move(split));
  }
  const std::size_t columns = tableau.rows.empty() ? 1 : tableau.rows[0].size();
  for (std::size_t j = 0; j < columns; ++j) tableau.column_unknown.push_back(j);
  for (std::size_t i = 0; i < tableau.rows.size(); ++i) tableau.row_unknown.push_back(columns + i);
  return tableau;
}

}  // namespace

bool has_rational_solution(const std::vector<std::vector<mpq_class>>& rows) {
  Tableau tableau = tableau_of(rows);
  while (true) {
    const std::size_t row = violated_row(tableau);
    if (row == tableau.rows.size()) return true;
    const std::size_t column = lifting_column(tableau, row);
    if (column == 0) return false;
    exchange(tableau, row, column);
  }
}

}  // namespace flashlab::toy::detail
