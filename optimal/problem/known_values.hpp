// Finds which value of a computation has a given formula, and which output a given cell belongs to.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimal/problem/computation.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::optimal::detail {

/// A value of an algebra, or an input or a partial sum of a product; all kNoValue: none of them.
struct KnownValue {
  int input = kNoValue;     // of a product
  int output = kNoValue;    // of a product: the output of its sum
  std::uint64_t terms = 0;  // bit p for a_ip b_pj
  int value = kNoValue;     // of an algebra
  bool operator==(const KnownValue&) const = default;
  bool is_any() const { return input >= 0 || output >= 0 || value >= 0; }
};

/// The formulas of a computation's values. The constructor writes a program that computes every
/// value, and runs it on formulas.
class KnownValues {
 public:
  /// Errors: std::invalid_argument for a product with too many partial sums.
  explicit KnownValues(const Computation& computation);

  /// Returns the value with this formula; is_any() is false if there is none.
  KnownValue of(const toy::NormalForm& form) const;
  /// Returns the output whose cell is `element` of `array`, or kNoValue.
  int output_at(const std::string& array, std::int64_t element) const;
  bool is_output(const KnownValue& value, int output) const {
    return value.is_any() && value == outputs_[static_cast<std::size_t>(output)];
  }
  /// Whether the set of outputs contains all outputs.
  bool has_all(std::uint64_t outputs) const {
    return static_cast<std::size_t>(std::popcount(outputs)) == outputs_.size();
  }
  /// The program that declares the computation's arrays.
  const toy::BoundProgram& program() const { return program_; }

 private:
  /// Writes the program, and records the value that each step makes.
  class Writer;
  void add_product(const MatrixProduct& product, const ProgramFrame& frame, Writer& writer) const;
  void add_algebra(const ValueAlgebra& algebra, Writer& writer) const;
  void run(const Writer& writer);

  toy::BoundProgram program_;
  std::unordered_multimap<std::size_t, std::pair<toy::NormalForm, KnownValue>> by_hash_;
  std::vector<std::pair<std::string, std::int64_t>> output_cells_;  // by output
  std::vector<KnownValue> outputs_;                                 // by output
};

}  // namespace flashlab::optimal::detail
