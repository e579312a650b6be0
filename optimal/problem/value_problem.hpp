// A value algebra as a search needs it: the operations that make and use a value, and which
// values are useful.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "optimal/problem/value_algebra.hpp"

namespace flashlab::optimal::detail {

/// A set of values.
class ValueSet {
 public:
  static constexpr int kMostValues = 1024;

  bool has(int value) const { return (words_[word(value)] >> (value & 63) & 1) != 0; }
  void add(int value) { words_[word(value)] |= std::uint64_t{1} << (value & 63); }
  ValueSet& operator|=(const ValueSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }

 private:
  static std::size_t word(int value) { return static_cast<std::size_t>(value) / 64; }
  std::array<std::uint64_t, kMostValues / 64> words_{};
};

class ValueProblem {
 public:
  static constexpr int kMostRegisters = 16, kMostScratch = 8, kMostOutputs = 32;

  struct Operation {
    int number = 0;  // in the algebra
    Operands operands{};
    int result = 0;
    std::int64_t cost = 0;
  };

  /// Errors: std::invalid_argument for sizes above the kMost constants, and for costs whose sums do
  /// not fit 30 bits.
  ValueProblem(const ValueAlgebra& algebra, const ValueMachine& machine);

  const ValueAlgebra& algebra() const { return algebra_; }
  const ValueMachine& machine() const { return machine_; }
  int num_values() const { return algebra_.num_values; }
  std::int64_t load_cost() const { return load_; }
  std::int64_t store_cost() const { return store_; }
  bool is_input(int value) const { return is_input_[index(value)]; }
  /// The outputs that have this value, one bit per output.
  std::uint32_t output_bits(int value) const { return output_bits_[index(value)]; }
  std::uint32_t all_outputs() const { return all_outputs_; }
  /// Whether every output can be made with enough registers.
  bool is_possible() const { return is_possible_; }

  /// The operations that can be executed and lead to an output.
  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<int>& makers(int value) const { return makers_[index(value)]; }
  /// by_last_operand(): the operations whose operand with the highest number is this value, so that
  /// each operation is listed under one value only. from_nothing(): those without operands.
  const std::vector<int>& by_last_operand(int value) const {
    return by_last_operand_[index(value)];
  }
  const std::vector<int>& from_nothing() const { return from_nothing_; }
  /// The cost of the cheapest way to make the value: by an operation, or by a load if it
  /// is an input.
  std::int64_t cheapest(int value) const { return cheapest_[index(value)]; }
  /// All values that lead to an output, in an order in which they can be made: the inputs, and then
  /// each value after the operands of some operation that makes it.
  const std::vector<int>& order() const { return order_; }
  /// The values that can lead to an output that is not stored yet; all others are useless.
  ValueSet useful(std::uint32_t stored) const;
  /// The values that are operands on a way to the output. They include the output's own value only
  /// if it is such an operand.
  const ValueSet& leads_to(std::size_t output) const { return leads_to_[output]; }

 private:
  static std::size_t index(int value) { return static_cast<std::size_t>(value); }
  void check() const;
  void find_order();
  void find_ways(std::size_t output);
  void keep_useful();

  const ValueAlgebra& algebra_;
  ValueMachine machine_;
  std::int64_t load_ = 0, store_ = 0;
  std::uint32_t all_outputs_ = 0;
  bool is_possible_ = true;
  std::vector<Operation> operations_;
  std::vector<std::vector<int>> makers_, by_last_operand_;
  std::vector<int> from_nothing_, order_;
  std::vector<bool> is_input_;
  std::vector<std::uint32_t> output_bits_;
  std::vector<std::int64_t> cheapest_;
  std::vector<ValueSet> leads_to_;  // by output
};

}  // namespace flashlab::optimal::detail
