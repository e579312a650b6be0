// What a program does, without where it keeps things: its operations and stores in their order, the
// values that they take, and how its own loads and registers bring those there.
//
// A value is an input's element or an operation's result; loads, stores and copies leave it what it
// is. What no output depends on is no event.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal::detail {

inline constexpr std::int32_t kNone = -1;

/// An operation or a store. Positions are those of the instruction's operands.
struct OrderEvent {
  std::uint32_t step = 0;  // into UnrolledProgram::steps
  std::array<std::int32_t, toy::kMaxOperands> values{kNone, kNone, kNone, kNone};  // read
  std::int32_t result = kNone;       // value in a register afterwards
  std::int32_t cell = kNone;         // that is written
  std::int32_t cell_value = kNone;   // what it holds then
  std::int32_t products_before = 0;  // events before this one that have factors
  bool has_factors = false;
};

/// Where a value has to be when it is wanted: in any register, or in the first or second factor's.
enum class Seat : std::uint8_t { kAny, kFirst, kSecond };

/// From one use of a value to the next. A computed value's birth counts as a use.
struct Gap {
  std::int32_t value = 0;
  Seat seat = Seat::kAny;
  std::int32_t from = kNone;   // event; kNone: the value has not been in a register before
  std::int32_t to = 0;         // event
  std::int32_t until = kNone;  // first event after which DRAM holds the value no longer, kLasting;
                               // no later than `from`: it cannot be loaded
  bool kept = false;           // the program has it in such a seat from `from` to min(to, until)
  /// Where it is not kept, the load that brings it (into UnrolledProgram::steps), and what put an
  /// end to its stay: a step that wrote over the last register that held it.
  std::int32_t load = kNone, lost_at = kNone, lost_register = kNone;
};
inline constexpr std::int32_t kLasting = INT32_MAX;

/// A load that brings nothing that is used before it is there anyway.
struct SpareLoad {
  std::uint32_t step = 0;
  std::int32_t held_in = kNone;  // the register that has the value already; kNone: it is not used
};

struct OperationOrder {
  std::string unknown;  // why there is none: what cannot be told apart, with its line
  std::vector<OrderEvent> events;
  std::vector<Gap> gaps;  // by `to`, then by position of the operand
  std::vector<SpareLoad> spare_loads;
  std::int32_t num_values = 0;
  std::vector<std::int32_t> input_cells;  // by value: its element in DRAM; kNone when computed
  std::vector<char> in_order;             // by step: it is an event
};

/// O(steps + registers + cells). Under the pinned rule each factor's register is a seat of its own;
/// unknown there: instructions other than products and stores, values that are a factor and
/// something else, sums that are used again after a store.
OperationOrder operation_order(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
                               toy::OperandRule rule);

}  // namespace flashlab::optimal::detail
