// The best possible loads for a program's own order of operations and stores, and which of its
// loads they save.
//
// The order is the sequence of the operations and stores that some output depends on. Copies are
// renamings, as an instruction's destination is any register, and what no output depends on is
// dropped. The loads are placed again: whatever lies in DRAM (inputs, and what the program itself
// stored, while it lies there) may be loaded at any time, and a value may be kept as long as
// registers last. Between two uses a value is either kept or loaded again: intervals on a line, and
// as many as possible are kept. At each point of the line there is room for the registers, less an
// operation's distinct operands before it and its result after it, whose register may be that of an
// operand which is not wanted again. Keeping what is wanted soonest is best (L. A. Belady, "A Study
// of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems Journal 5(2), 1966).
//
// With pinned operands a product's factors sit in R0 and R1, and nothing moves a register: a factor
// stays until the next product at most, and everything that is wanted after the next product has
// two registers less. A sum that is only stored before the next product may stand in R0 or R1, at
// the price of a factor that would have stayed there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal {

struct ScheduleMachine {
  std::optional<std::int64_t> registers;  // nothing: as many as are wanted
  toy::OperandRule operand_rule = toy::OperandRule::kAny;
};

enum class LoadKind : std::uint8_t {
  kCompulsory,  // the first load of a value that the order needs
  kForced,      // a later one, that the best schedule makes, too
  kAvoidable,   // not in the best schedule
};

/// What could have saved an avoidable load.
enum class Saving : std::uint8_t {
  kNone,    // it is not avoidable
  kKept,    // the value was in `register_number` until step `overwritten_at` wrote over it
  kThere,   // it is in `register_number` already
  kUnused,  // no output depends on what is made of it, or it is written over before it is used
};

struct LabelledLoad {
  std::uint32_t step = 0;  // into UnrolledProgram::steps
  LoadKind kind = LoadKind::kCompulsory;
  Saving saving = Saving::kNone;
  std::int32_t register_number = -1;
  std::uint32_t overwritten_at = 0;  // into UnrolledProgram::steps
};

struct LoadSchedule {
  std::string unknown;               // why there is none; the rest says nothing then
  std::vector<LabelledLoad> labels;  // every load of the program, in its order
  std::int64_t best_loads = 0;
  /// Loads that the best schedule makes and the program does not: avoidable ones less these are
  /// what the program makes too many.
  std::int64_t extra_loads = 0;
  std::vector<char> in_order;  // by step: an operation or a store that an output depends on

  std::int64_t count(LoadKind kind) const;
};

/// Among the best schedules the one that keeps most of what the program keeps; on traces where that
/// would take long (some ten thousand loads too many), one that does so where it is easy to see.
LoadSchedule best_loads(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
                        const ScheduleMachine& machine);

/// The order with its best loads as a program in the toy language: extents and constants are
/// numbers, loops are gone. Nothing when the schedule is not known. No instruction at all, which is
/// no program, when nothing is stored.
std::optional<std::string> rescheduled(const toy::BoundProgram& bound,
                                       const toy::UnrolledProgram& unrolled,
                                       const ScheduleMachine& machine);

}  // namespace flashlab::optimal
