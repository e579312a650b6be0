// Computations by name, and the programs allowed for each.
#include "optimal/problem/computation.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "text/lists.hpp"
#include "text/read_number.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::optimal {
namespace {

constexpr const char* kProductAllowed =
    "sums may take their products in any order and begin with any of them";
std::string quoted(const std::string& text) {
  constexpr std::size_t kMostShown = 60;
  std::string shown = text.substr(0, kMostShown);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c == 127; }, '?');
  return "'" + shown + (shown.size() < text.size() ? "..." : "") + "'";
}

/// Reads 1, 2, … up to the largest int.
std::optional<int> size_of(std::string_view digits) {
  int value = 0;
  if (!read_whole(digits, value) || value < 1) return {};
  return value;
}

toy::Result<Computation> product(const std::string& text, const MatrixProduct& product) {
  const auto by = [](int rows, int columns) {
    return std::to_string(rows) + " x " + std::to_string(columns);
  };
  const bool fits = std::max({product.rows, product.inner, product.columns}) <= kMostProductBits &&
                    product_bits(product, false) <= kMostProductBits;
  if (!fits) {
    return toy::request_error(quoted(text) + " is too large for the solver",
                              "rows x inner x columns, plus the elements of A and B: at most " +
                                  std::to_string(kMostProductBits) + " together");
  }
  Computation result{text,
                     "The product of " + by(product.rows, product.inner) + " and " +
                         by(product.inner, product.columns),
                     kProductAllowed, product, product_frame(product)};
  return result;
}

struct Family {
  std::string_view name, sizes;  // sizes: what the size counts
  int least, most;
  ValueAlgebra (*algebra)(int size);
};
constexpr Family kFamilies[] = {
    {"sum", "elements", 2, 8, vector_sum},
    {"max", "elements", 2, 8, vector_maximum},
    {"softmax", "elements", 2, 5, [](int n) { return safe_softmax(n); }},
    {"online", "elements", 2, 5, online_statistics},
    {"attention", "keys", 1, 3, [](int n) { return one_query_attention(n); }},
    {"merge", "columns of num", 1, 4, merged_states},
};

toy::Result<Computation> of_family(const Family& family, const std::string& text, int size) {
  const std::string limits = std::to_string(family.least) + " to " + std::to_string(family.most) +
                             " " + std::string(family.sizes);
  if (size > family.most)
    return toy::request_error(quoted(text) + " is too large for the solver", limits);
  if (size < family.least) return toy::request_error(quoted(text) + " is too small", limits);
  ValueAlgebra algebra = family.algebra(size);
  return with_algebra(text, std::move(algebra));
}

}  // namespace

int product_bits(const MatrixProduct& product, bool spills) {
  return product.num_terms() + product.num_inputs() + (spills ? product.num_outputs() : 0);
}

std::string computation_names() {
  return "2x2x2 (rows x inner x columns), dot:8, sum:4, max:4, softmax:2, online:3, attention:2, "
         "merge:1";
}

toy::Result<Computation> named_computation(const std::string& text) {
  const toy::Diagnostic unknown =
      toy::request_error(quoted(text) + " is not a computation that the solver knows",
                         computation_names() + ", sizes from 1");
  if (text.starts_with("dot:")) {
    const auto inner = size_of(std::string_view(text).substr(4));
    if (inner) return product(text, {1, *inner, 1});
    return unknown;
  }
  const auto sizes = split_at(text, 'x');
  if (sizes.size() == 3) {
    const auto rows = size_of(sizes[0]), inner = size_of(sizes[1]), columns = size_of(sizes[2]);
    if (rows && inner && columns) return product(text, {*rows, *inner, *columns});
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  for (const Family& family : kFamilies) {
    if (text.substr(0, colon) != family.name || colon == text.size()) continue;
    const auto size = size_of(std::string_view(text).substr(colon + 1));
    if (size) return of_family(family, text, *size);
  }
  return unknown;
}

Computation with_algebra(std::string name, ValueAlgebra algebra) {
  std::string title = algebra.title, allowed = algebra.allowed;
  ProgramFrame frame = algebra.frame;
  return {std::move(name), std::move(title), std::move(allowed), std::move(algebra),
          std::move(frame)};
}

}  // namespace flashlab::optimal
