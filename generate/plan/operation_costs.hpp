// What an operation on one number costs a thread, in machine code for compute capability 9.0.
// Source  docs/results/operation_costs.json, which generate/bench/operation_costs.py counts in what nvcc
//         makes of the device functions; a test compares the two
#pragma once

#include <array>
#include <cstddef>

#include "generate/plan/element_types.hpp"
#include "toymachine/language/operations.hpp"

namespace flashlab::generate {

struct OperationCost {
  double instructions = 0;  // besides `specials`
  double specials =
      0;  // of the unit for special functions, which also converts integers of 64 bits
  /// What a warp waits for besides, in instructions that need the one before: a quotient ends in a branch, so the next
  /// one begins after it. Measured alone on a multiprocessor: docs/results/one_instruction_h200.json.
  double chained = 0;
};

// In the order of toy::Operation. clang-format off
inline constexpr std::array kOperationCosts{
    OperationCost{1, 0},       // plus
    OperationCost{1, 0},       // minus
    OperationCost{1, 0},       // times
    OperationCost{10, 1, 13},  // over: rounded to the nearest
    OperationCost{2, 0},       // maximum: a comparison and a selection
    OperationCost{2, 0},       // minimum
    OperationCost{1, 0},       // absolute
    OperationCost{1, 1},       // exponential, in fragments
    OperationCost{25.1, 0},    // logarithm
    OperationCost{13.1, 2},    // tanh
    OperationCost{29.6, 2},    // reciprocal root, by way of double
    OperationCost{10, 1, 13},  // reciprocal
    OperationCost{3, 1},       // binary exponential
    OperationCost{27.1, 0},    // binary logarithm
    OperationCost{1, 0},       // less
    OperationCost{2, 0},       // selected
    OperationCost{0, 0},       // product: of tensor cores
    OperationCost{1, 0},       // row maximum: of each element
    OperationCost{1, 0},       // row sum
    OperationCost{2, 0},       // masked: a comparison and a selection
    OperationCost{2, 0},       // masked left
    OperationCost{2.1, 1},     // row number
    OperationCost{2.1, 1},     // column number
};
// clang-format on
static_assert(kOperationCosts.size() == toy::kNumOperations, "a cost for each operation");

constexpr OperationCost cost_of(toy::Operation operation) {
  return kOperationCosts[static_cast<std::size_t>(operation)];
}

/// Instructions of an exponential at level 0: the machine's own series.
inline constexpr double kCostOfSeries = 31;

/// Instructions that round a float to a number of 16 bits, as level 0 stores it.
constexpr double cost_of_narrowing(toy::ElementType type) {
  return type == toy::ElementType::kFp16 ? 18.8 : 4;
}

/// Instructions that make a float of a number of 16 bits from shared memory.
constexpr double cost_of_widening(toy::ElementType type) {
  return type == toy::ElementType::kFp16 ? 9.1 : 1;
}

}  // namespace flashlab::generate
