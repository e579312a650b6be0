// The costs of a run. All counts come from one source: how often each instruction of the
// text was executed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::toy {

/// Traffic of one array: instructions, elements, and bytes of its element type. An update both
/// reads and writes, so its bytes count twice.
struct ArrayTraffic {
  Count loads, stores, updates;
  Count elements_loaded, elements_stored, elements_updated;
  Count bytes_loaded, bytes_stored, bytes_updated;
};

struct Counters {
  Count steps;            // instructions executed
  Count cycles;           // sum of the cost table over them
  Count loads;            // executions of instructions that read DRAM
  Count stores;           // executions of instructions that write DRAM
  Count atomics;          // executions of instructions that update DRAM in one step
  Count sends, receives;  // messages to and from other machines
  Count compute;          // all others
  Count flops;            // a product counts 2, an elementwise operation 1
  Count exps;             // exponentials and logarithms, counted separately
  Count bytes_loaded, bytes_stored, bytes_updated;
  Count bytes_sent, bytes_received;    // over links
  std::vector<Count> by_instruction;   // by row of instruction_set()
  std::vector<ArrayTraffic> by_array;  // as BoundProgram::arrays
};

/// Returns the counters of a run; count_pass() counts only the instructions of one pass.
Counters count(const BoundProgram& program, const Executions& executions, const CostTable& costs);
Counters count_pass(const BoundProgram& program, const Executions& executions,
                    const CostTable& costs, std::size_t pass);

/// Returns how often each instruction is executed. Sums over the loop nest without executing it:
/// exact for every program, in time independent of the lengths of the ranges. Errors: Fault::kLimit
/// if bounds with large divisors make the sum too long to enumerate; if elements are tiles, also
/// the errors of shapes that do not fit.
Result<Executions> count_executions(const BoundProgram& program);

/// Returns only how often each instruction is executed, by site.
Result<std::vector<Count>> count_times(const BoundProgram& program);

/// Returns the largest number of registers, over all points of the program, that hold a value still
/// to be read. A register counts from its write to its last read. The result is an upper bound if a
/// loop may run no iteration.
std::int64_t peak_registers(const BoundProgram& program);

/// Bytes of one element in a register: those of a float, or of a double if the program has any.
std::int64_t register_element_bytes(const BoundProgram& program);

/// The point where the registers hold the most bytes, by the same rule.
struct RegisterBytes {
  struct Holder {
    std::int64_t register_number = 0;
    std::int64_t rows = 0, cols = 0, bytes = 0;
    SourceSpan written;  // by this instruction
  };
  std::int64_t bytes = 0;
  std::uint32_t site = 0;  // the instruction executed there
  std::vector<Holder> holders;
};
/// Returns nothing for a program whose registers cannot be distinguished without a run, or whose
/// shapes do not match (a run explains that).
std::optional<RegisterBytes> peak_register_bytes(const BoundProgram& program);

/// Returns the largest number of bytes of live temporaries and outputs. A temporary lives from
/// its first store to its last load, an output to the end. Arrays whose stores are never executed
/// do not count.
Count peak_dram_bytes(const BoundProgram& program, const Executions& executions);

/// One row of the table from which every rendering of counters is made (text, JSON, HTML).
struct CounterDescription {
  const char* key;   // in JSON
  const char* unit;  // "", "cycles", "bytes", …
  const char* description;
  Count Counters::*value;
  bool is_rare = false;  // few programs have it: tables leave out a 0
};
const std::vector<CounterDescription>& counter_descriptions();

}  // namespace flashlab::toy
