// The start and end of each instruction of a run, in two models of the machine's time.
//
// An instruction takes costs.cycles(row) + work * costs.per_work(row) cycles.
//   serial   One instruction after another; the total is Counters::cycles.
//   overlap  Two units: the memory port executes the instructions with an operand in DRAM, and the
//            compute unit all others. An instruction begins as soon as these rules allow:
//     order  A unit executes its instructions in program order, one at a time.
//     data   The registers that it reads hold their values: the instructions that write them have
//            ended.
//     buffer Every register has k buffers. A load fills the register's next buffer, in turn. Every
//            other access to the register uses the buffer of the last load before it. An
//            instruction that writes a buffer waits until all earlier instructions, in program
//            order, that read or write that buffer have ended.
//            With k = 1 no load runs ahead of the last use of the value that it replaces. k = 2 is
//            double buffering: one value is used while the next one arrives.
// DRAM needs no rule: all its traffic goes through one port, in program order.
//
// A program with .machines has one schedule for each machine, and each machine a third unit: the
// link, which sends and receives. It moves elements from DRAM to DRAM, past the memory port.
//     message  A RECV begins when the SEND of its message has ended. A SEND begins when the last
//              message to the same machine has been received.
//     cell     A cell that a link reads or writes is treated as a register with one buffer: who
//              reads it waits until it was written (data), who writes it until all earlier
//              instructions that use it have ended (buffer).
//
// The schedule is the earliest one that obeys the rules. Overlap therefore never takes longer than
// serial, and more buffers never take longer than fewer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::toy {

enum class Unit : std::uint8_t { kMemory, kCompute, kLink };  // kLink: only with .machines
inline constexpr std::size_t kNumUnits = 3;

constexpr Unit unit_of(const InstructionSpec& spec) {
  if (spec.is_link()) return Unit::kLink;
  return spec.is_load() || spec.is_store() || spec.is_update() ? Unit::kMemory : Unit::kCompute;
}

/// The use of one cycle by a unit: exactly one of these. If a unit waits for both data and buffer,
/// the cycle counts as data as long as an operand is missing.
enum class Cause : std::uint8_t {
  kBusy,
  kData,    // its next instruction reads a register, cell or message that is not there yet
  kBuffer,  // its next instruction writes a register, cell or link that is still in use
  kIdle,    // it has none: another unit's turn (serial), or its work is done (overlap)
};
inline constexpr std::size_t kNumCauses = 4;

std::string_view to_string(Unit unit);
/// Returns the units of the program's machine: a link only with .machines.
std::vector<Unit> units_of(const BoundProgram& program);
std::string_view to_string(Cause cause);

/// Cycles by Cause.
using CauseCycles = std::array<std::int64_t, kNumCauses>;

struct TimelineModel {
  bool overlap = true;
  std::int64_t buffers = 2;  // per register, 1 to kMaxBuffers; ignored if serial
  bool operator==(const TimelineModel&) const = default;
};
inline constexpr std::int64_t kMaxBuffers = 64;
/// "serial", "overlap, 2 buffers".
std::string to_string(const TimelineModel& model);

/// The letter of each instruction in pictures of lanes, by row of the table; all products
/// have the same.
const std::string& instruction_letters();
/// The instruction as in the program's text, without its comment.
std::string instruction_text(const BoundProgram& program, const BoundInstruction& instruction);

inline constexpr std::uint32_t kNoSite = UINT32_MAX;

/// Cycles [start, end) of one unit with the same cause and the same step.
struct TimelineInterval {
  Unit unit = Unit::kMemory;
  Cause cause = Cause::kBusy;
  std::int64_t start = 0, end = 0;
  std::uint64_t step = 0;        // the step that executes or waits; 0: idle
  std::uint32_t site = kNoSite;  // into BoundProgram::instructions
  bool is_elided = false;        // it stands for several, of `num_elided` steps
  std::uint64_t num_elided = 0;
};

struct Timeline {
  TimelineModel model;
  std::int64_t cycles = 0;                     // until the last machine has ended
  std::int64_t end = 0;                        // of this machine's last instruction
  std::array<CauseCycles, kNumUnits> units{};  // each sums to `cycles`
  std::vector<CauseCycles> sites;              // by site: cycles spent in it, and waited before it
  std::vector<TimelineInterval> intervals;     // in the window; for each unit in order of time
  std::uint64_t intervals_left_out = 0;        // in the window, above max_intervals

  const CauseCycles& unit(Unit which) const { return units[static_cast<std::size_t>(which)]; }
};

struct TimelineOptions {
  std::vector<TimelineModel> models{{false, 1}, {true, 1}, {true, 2}};
  CostTable costs;
  std::int64_t from = 0, to = 0;          // records the intervals of cycles [from, to)
  std::uint64_t max_intervals = 100'000;  // per model
  /// Records of each loop the first, second and last iteration. What a unit does in the others is one
  /// interval. Not with a sink.
  bool elide = false;
  /// Receives the intervals in the window, with the position of their model, instead of
  /// Timeline::intervals; no limit applies.
  std::function<void(std::size_t model, const TimelineInterval&)> sink;
  /// Ends the run when all units of all models are past the window; the sums are then incomplete.
  bool window_only = false;
  /// Whose intervals are recorded, if there are several machines.
  std::int64_t machine = 0;
};

/// Runs the program on the shapes of its elements, without values, and times it under all models at
/// once. Errors: those of run_shapes(); a number of buffers out of range (Fault::kRequest); more
/// cycles than fit 64 bits (Fault::kLimit). Memory: O(registers * buffers + program + window).
Result<std::vector<Timeline>> simulate(const BoundProgram& program, const TimelineOptions& options);

/// The same for all machines of a program, by rank and model. Also errors: those of run_machines().
/// Memory: also O(cells that links use).
Result<std::vector<std::vector<Timeline>>> simulate_machines(const Machines& machines,
                                                             const TimelineOptions& options);

}  // namespace flashlab::toy
