// Exact values outside of a run: the machine's arithmetic on normal forms, the parts of a form, and
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
#include "toymachine/language/operations.hpp"

namespace flashlab::toy {

/// One factor of a product: an input cell, or a function such as a maximum, a logarithm or e^form, to
/// a positive or negative power.
struct FormFactor {
  NormalForm base;
  int power = 1;
};

struct FormProduct {
  NormalForm number;  // factor in front of the others
  double about = 1;   // the same number
  std::vector<FormFactor> factors;
};

/// The sum of the terms divided by the denominator, which is a sum of several terms,
/// or (unwritten) 1.
struct FormParts {
  std::vector<FormProduct> terms;
  NormalForm denominator;
};

/// The function that a factor's base is.
struct FormFunction {
  enum class Kind : std::uint8_t { kCell, kFunction, kUndefined };
  Kind kind = Kind::kUndefined;
  Operation operation{};              // of a function
  std::string array;                  // of a cell
  std::vector<std::int64_t> indices;  // of a cell
  std::vector<NormalForm> args;       // arguments of a maximum, the exponent, …

  bool is(Operation function) const { return kind == Kind::kFunction && operation == function; }
};

/// A store of forms: forms made by it are equal if they are the same pointer. It accepts forms from
/// other stores. All members throw std::length_error for forms that become too large.
class FormAlgebra {
 public:
  explicit FormAlgebra(std::size_t max_terms = 2000);

  NormalForm number(double value);  // finite
  NormalForm cell(const std::string& array, const std::vector<std::int64_t>& indices);
  /// Returns the operation on one to three scalars.
  NormalForm apply(Operation operation, const NormalForm& a, const NormalForm& b = {},
                   const NormalForm& c = {});
  NormalForm add(const NormalForm& a, const NormalForm& b);
  NormalForm subtract(const NormalForm& a, const NormalForm& b);
  NormalForm multiply(const NormalForm& a, const NormalForm& b);
  NormalForm divide(const NormalForm& a, const NormalForm& b);
  NormalForm maximum(const NormalForm& a, const NormalForm& b);
  NormalForm exponential(const NormalForm& a);
  NormalForm logarithm(const NormalForm& a);
  /// Returns the same form in this store.
  NormalForm local(const NormalForm& form);

  /// Returns the form that an instruction of the table writes, given the forms in its source
  /// registers, in order.
  NormalForm effect(std::size_t row, std::span<const NormalForm> operands);

  /// Replaces the input cells by other forms.
  using Substitute =
      std::function<NormalForm(const std::string& array, const std::vector<std::int64_t>& indices)>;
  NormalForm substituted(const NormalForm& form, const Substitute& cell);

  /// -inf and undefined forms have no parts.
  FormParts parts(const NormalForm& form);
  /// Returns the function if the form is a single factor to the power 1, else nothing.
  std::optional<FormFunction> function(const NormalForm& form);
  /// Returns the number if the form is one.
  std::optional<double> number(const NormalForm& form);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// The same in double precision; NaN if an operand is unwritten or the result is illegal.
double numeric_effect(std::size_t row, std::span<const double> operands);

/// Returns the value of a form with these values of the input cells; NaN if it has none.
using CellValue =
    std::function<double(const std::string& array, const std::vector<std::int64_t>& indices)>;
double value_at(const NormalForm& form, const CellValue& cell);

/// The same at points 0 to num_points - 1; many points cost little more than one.
using CellValueAt = std::function<double(
    const std::string& array, const std::vector<std::int64_t>& indices, std::size_t point)>;
std::vector<double> values_at(const NormalForm& form, std::size_t num_points,
                              const CellValueAt& cell);

}  // namespace flashlab::toy
