// What a program computes, independently of where it keeps its values: its operations and stores in
// order, and the values that they read. For each use of a value, the order also records how the
// value came into a register: the program kept it since the last use, or a load brought it there.
//
// A value is an input element or the result of an operation; loads, stores and copies do not change
// it. An event is an operation or a store that some output depends on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal::detail {

inline constexpr std::int32_t kNone = -1;

/// An event. values[i] is the value that operand i reads from a register, or kNone.
struct OrderEvent {
  std::uint32_t step = 0;  // into UnrolledProgram::steps
  std::array<std::int32_t, toy::kMaxOperands> values{kNone, kNone, kNone, kNone};
  std::int32_t result = kNone;       // value in a register afterwards
  std::int32_t cell = kNone;         // written by it
  std::int32_t cell_value = kNone;   // held by the cell afterwards
  std::int32_t products_before = 0;  // earlier events with factors
  bool has_factors = false;
};

/// Where a value must be when it is read: in any register, or in the register of the first
/// or second factor.
enum class Seat : std::uint8_t { kAny, kFirst, kSecond };

inline constexpr std::int32_t kLasting = INT32_MAX;

/// The time from one use of a value to the next. The creation of a computed value counts as a use.
struct Gap {
  std::int32_t value = 0;
  Seat seat = Seat::kAny;
  std::int32_t from = kNone;  // event; kNone: the value has not been in a register before
  std::int32_t to = 0;        // event
  /// The event that overwrites the value in DRAM; kLasting: none does; kNone: DRAM does not hold
  /// it. If until <= from, the value cannot be loaded (unless from == kNone).
  std::int32_t until = kNone;
  bool kept = false;  // the program keeps it in such a seat from `from` to min(to, until)
  /// If it is not kept: the load that brings it back (into UnrolledProgram::steps), and the step
  /// that overwrote the last register that held it.
  std::int32_t load = kNone, lost_at = kNone, lost_register = kNone;
};

/// A load that is not needed: a register holds its value already, or the loaded copy is never used.
struct SpareLoad {
  std::uint32_t step = 0;
  std::int32_t held_in = kNone;  // register that has the value already; kNone: value unused
};

struct OperationOrder {
  std::string unknown;  // if not empty: why there is no order, with the line
  std::vector<OrderEvent> events;
  std::vector<Gap> gaps;  // sorted by `to`, then by operand position
  std::vector<SpareLoad> spare_loads;
  std::int32_t num_values = 0;
  std::vector<std::int32_t> input_cells;  // by value: its element in DRAM; kNone if computed
  std::vector<char> in_order;             // by step: whether it is an event
};

/// Finds the order of operations in O(steps + registers + cells). Under the pinned rule, the
/// register of each factor is a separate seat. `unknown` is then set for instructions other than
/// products and stores, for values that are both a factor and something else, and for sums that are
/// used again after a store.
OperationOrder operation_order(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
                               toy::OperandRule rule);

}  // namespace flashlab::optimal::detail
