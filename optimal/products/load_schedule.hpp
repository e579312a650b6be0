// The fewest loads for a program's own order of operations and stores, and the program's loads that
// can be avoided.
//
// The order is the sequence of the operations and stores that some output depends on. Copies are
// only renamings, because an instruction's destination may be any register. The loads are placed
// again. Whatever is in DRAM (inputs, and values that the program itself stored, while they are
// there) may be loaded at any time, and a value may be kept as long as there are registers. Between
// two uses, a value is either kept or loaded again: these are intervals on a line, and as many as
// possible are kept. Before an operation, the room for them is the number of registers minus the
// operation's distinct operands. After it, the room is the number of registers minus one for its
// result. The result may take the register of an operand that is not needed again. Keeping the
// values that are needed soonest is best (L. A. Belady, "A Study of Replacement Algorithms for a
// Virtual-Storage Computer", IBM Systems Journal 5(2), 1966).
//
// With pinned operands, a product's factors are in R0 and R1, and no instruction copies a register.
// A factor stays in its register only if the next product has it in the same place. Otherwise that
// product needs another factor there. All other values share the registers other than R0 and R1,
// with one exception: a sum that is only stored before the next product may be in R0 or R1. Then no
// factor can stay in that register.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal {

struct ScheduleMachine {
  std::optional<std::int64_t> registers;  // empty: as many as needed
  toy::OperandRule operand_rule = toy::OperandRule::kAny;
};

enum class LoadKind : std::uint8_t {
  kCompulsory,  // the first load of a value that the order needs
  kForced,      // a later load that the best schedule makes, too
  kAvoidable,   // not in the best schedule
};

/// What could have saved an avoidable load.
enum class Saving : std::uint8_t {
  kNone,    // the load is not avoidable
  kKept,    // the value was in `register_number` until step `overwritten_at`
  kThere,   // the value is in `register_number` already
  kUnused,  // no output depends on the loaded value, or it is overwritten before it is used
};

struct LabelledLoad {
  std::uint32_t step = 0;  // into UnrolledProgram::steps
  LoadKind kind = LoadKind::kCompulsory;
  Saving saving = Saving::kNone;
  std::int32_t register_number = -1;
  std::uint32_t overwritten_at = 0;  // into UnrolledProgram::steps
};

struct LoadSchedule {
  std::string unknown;               // why there is no schedule; empty if there is one
  std::vector<LabelledLoad> labels;  // every load of the program, in order
  std::int64_t best_loads = 0;
  /// The number of loads that are in the best schedule but not in the program. The program's
  /// avoidable loads minus this number are its excess over the best schedule.
  std::int64_t extra_loads = 0;
  std::vector<char> in_order;  // by step: whether an output depends on this operation or store

  std::int64_t count(LoadKind kind) const;
};

/// Finds a schedule with the fewest loads. Among these, it prefers the one that keeps most of what
/// the program keeps. If finding that one would take too long (traces with some ten thousand excess
/// loads), it returns any best schedule.
LoadSchedule best_loads(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
                        const ScheduleMachine& machine);

/// Returns the order with its best loads as a program in the toy language, with numbers for extents
/// and constants and without loops. Returns nothing if the schedule is unknown. If nothing is
/// stored, the text has no instructions and is no valid program.
std::optional<std::string> rescheduled(const toy::BoundProgram& bound,
                                       const toy::UnrolledProgram& unrolled,
                                       const ScheduleMachine& machine);

}  // namespace flashlab::optimal
