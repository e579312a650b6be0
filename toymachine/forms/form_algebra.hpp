// Exact values made by hand: the machine's arithmetic on normal forms, what a form is made of, and
// its value at a point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "toymachine/forms/normal_form.hpp"

namespace flashlab::toy {

/// One factor of a product: an input cell, a maximum, a logarithm or e^form, to a power of either
/// sign.
struct FormFactor {
  NormalForm base;
  int power = 1;
};

struct FormProduct {
  NormalForm number;  // that multiplies the factors
  double about = 1;   // the same number
  std::vector<FormFactor> factors;
};

/// The sum of the terms, over the denominator: a sum of several terms, or (unwritten) 1.
struct FormParts {
  std::vector<FormProduct> terms;
  NormalForm denominator;
};

/// What a factor's base is.
struct FormFunction {
  enum class Kind : std::uint8_t { kCell, kMaximum, kLogarithm, kExponential, kUndefined };
  Kind kind = Kind::kUndefined;
  std::string array;                  // of a cell
  std::vector<std::int64_t> indices;  // of a cell
  std::vector<NormalForm> args;       // a maximum's, the exponent, …
};

/// One store of forms: those that it makes are equal when they are one pointer. Forms from
/// elsewhere may be given to it. All members throw std::length_error for forms that become too
/// large.
class FormAlgebra {
 public:
  explicit FormAlgebra(std::size_t max_terms = 2000);

  NormalForm number(double value);  // finite
  NormalForm cell(const std::string& array, const std::vector<std::int64_t>& indices);
  NormalForm add(const NormalForm& a, const NormalForm& b);
  NormalForm subtract(const NormalForm& a, const NormalForm& b);
  NormalForm multiply(const NormalForm& a, const NormalForm& b);
  NormalForm divide(const NormalForm& a, const NormalForm& b);
  NormalForm maximum(const NormalForm& a, const NormalForm& b);
  NormalForm exponential(const NormalForm& a);
  NormalForm logarithm(const NormalForm& a);
  /// The same form, in this store.
  NormalForm local(const NormalForm& form);

  /// What an instruction of the table writes, from what its source registers hold, in their order.
  NormalForm effect(std::size_t row, std::span<const NormalForm> operands);

  /// With other forms for the input cells.
  using Substitute =
      std::function<NormalForm(const std::string& array, const std::vector<std::int64_t>& indices)>;
  NormalForm substituted(const NormalForm& form, const Substitute& cell);

  /// -inf and what has no value have no parts.
  FormParts parts(const NormalForm& form);
  /// Nothing when the form is not a single factor to the power 1.
  std::optional<FormFunction> function(const NormalForm& form);
  /// The number that the form is.
  std::optional<double> number(const NormalForm& form);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// The same in double; NaN for an operand or a result that is none.
double numeric_effect(std::size_t row, std::span<const double> operands);

/// The value of a form where the input cells have such values; NaN where it has none.
using CellValue =
    std::function<double(const std::string& array, const std::vector<std::int64_t>& indices)>;
double value_at(const NormalForm& form, const CellValue& cell);

/// The same at points 0 to num_points - 1: many at once cost little more than one.
using CellValueAt = std::function<double(
    const std::string& array, const std::vector<std::int64_t>& indices, std::size_t point)>;
std::vector<double> values_at(const NormalForm& form, std::size_t num_points,
                              const CellValueAt& cell);

}  // namespace flashlab::toy
