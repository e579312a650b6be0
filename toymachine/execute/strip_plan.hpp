// How an innermost loop can be executed instruction by instruction over a strip of iterations,
// instead of iteration by iteration, with the same results bit for bit.
//
// Registers are renamed: each instruction of the body has its own row of lanes, one lane an
// iteration. A read sees the row of the last instruction that wrote the register, in the same lane,
// or one lane earlier when that write comes later in the body (a carried value), or a value that
// the loop does not change. Instructions that depend on themselves through carried values form a
// group which runs lane after lane; all others run over the whole strip at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"

namespace flashlab::toy::detail {

/// Where one register read takes its lanes from.
struct LaneSource {
  enum class Kind : std::uint8_t { kSameLane, kPreviousLane, kInvariant };
  Kind kind = Kind::kInvariant;
  std::uint32_t index = 0;  // instruction of the body, or entry of StripPlan::invariants
};

struct StripInstruction {
  std::uint32_t instruction = 0;  // into BoundProgram::instructions
  std::vector<LaneSource> reads;  // register reads, in the order of the operands
  bool is_load = false;
  bool is_store = false;
  std::uint32_t memory_operand = 0;  // which operand is the cell
};

struct StripPlan {
  std::vector<StripInstruction> body;  // in source order
  std::vector<std::vector<std::uint32_t>>
      groups;  // in an order of execution; stores not among them
  std::vector<std::uint32_t> stores;
  std::vector<std::int64_t> invariants;  // registers that are read and never written
  struct Written {
    std::int64_t reg = 0;
    std::uint32_t writer = 0;  // the last instruction of the body that writes it
    bool carried = false;      // the body reads it before it writes it
  };
  std::vector<Written> written;
};

/// The plan for the loop that begins at `begin_node`, or nothing: the body holds a loop, a register
/// is computed, a store rounds to a narrow type, or an array is both loaded and stored (or stored
/// twice), so that the order of accesses matters.
std::optional<StripPlan> make_strip_plan(const BoundProgram& program, std::uint32_t begin_node);

}  // namespace flashlab::toy::detail
