// Which of a computation's values an exact formula is, and which of its outputs a cell is.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimal/problem/computation.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::optimal::detail {

/// One of the values of an algebra, or an input or a partial sum of a product; kNoValue: none.
struct KnownValue {
  int input = kNoValue;     // of a product
  int output = kNoValue;    // of a product: of which it is a partial sum,
  std::uint64_t terms = 0;  // bit p for a_ip b_pj
  int value = kNoValue;     // of an algebra
  bool operator==(const KnownValue&) const = default;
  bool is_any() const { return input >= 0 || output >= 0 || value >= 0; }
};

/// Made by a program that computes every value of the computation, and run on formulas.
class KnownValues {
 public:
  /// Errors: std::invalid_argument for a product of too many partial sums.
  explicit KnownValues(const Computation& computation);

  /// No value where the formula is none of them.
  KnownValue of(const toy::NormalForm& form) const;
  /// The output whose cell this is, as the array's name and the element in it; kNoValue: none.
  int output_at(const std::string& array, std::int64_t element) const;
  bool is_output(const KnownValue& value, int output) const {
    return value.is_any() && value == outputs_[static_cast<std::size_t>(output)];
  }
  /// Whether a set of outputs is all of them.
  bool has_all(std::uint64_t outputs) const {
    return static_cast<std::size_t>(std::popcount(outputs)) == outputs_.size();
  }
  /// That declares the computation's arrays.
  const toy::BoundProgram& program() const { return program_; }

 private:
  /// Writes the program, and what each of its steps makes.
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
