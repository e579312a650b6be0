// How to execute an innermost loop instruction by instruction over a strip of iterations, instead
// of iteration by iteration, with the same results bit for bit.
//
// Registers are renamed: each instruction of the body has its own row of lanes, one lane per
// iteration. A read uses the row of the last instruction that wrote the register, in the same lane,
// or one lane earlier if that write is later in the body (a carried value), or a value that the
// loop does not change. Instructions that depend on themselves through carried values form a group,
// which runs lane by lane. All others run over the whole strip at once.
// the loop does not change. Instructions that depend on themselves through carried values form a
// group which runs lane after lane; all others run over the whole strip at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::toy::detail {

/// The source of the lanes of one register read.
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
  std::uint32_t memory_operand = 0;  // the operand that is the cell
};

struct StripPlan {
  std::vector<StripInstruction> body;              // in source order
  std::vector<std::vector<std::uint32_t>> groups;  // in order of execution, without stores
  std::vector<std::uint32_t> stores;
  std::vector<std::int64_t> invariants;  // registers that are only read
  struct Written {
    std::int64_t reg = 0;
    std::uint32_t writer = 0;  // the last instruction of the body that writes it
    bool carried = false;      // the body reads it before writing it
  };
  std::vector<Written> written;
};

/// Returns the plan for the loop that begins at `begin_node`. Returns nothing if the body contains
/// a loop, if a register number is computed, if a store rounds to a narrow type, or if an array is
/// both loaded and stored (or stored twice), so that the order of accesses matters.
std::optional<StripPlan> make_strip_plan(const BoundProgram& program, std::uint32_t begin_node);

}  // namespace flashlab::toy::detail
