// What a run costs. Counts come from one place: how often each instruction of the text was
// executed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::toy {

/// Traffic of one array: instructions, elements, and bytes of its element type. Updates read and
/// write, so that their bytes count both.
struct ArrayTraffic {
  Count loads, stores, updates;
  Count elements_loaded, elements_stored, elements_updated;
  Count bytes_loaded, bytes_stored, bytes_updated;
};

struct Counters {
  Count steps;    // instructions executed
  Count cycles;   // sum of the cost table over them
  Count loads;    // executions of instructions that read DRAM
  Count stores;   // executions of instructions that write DRAM
  Count atomics;  // executions of instructions that update DRAM in one step
  Count compute;  // all others
  Count flops;    // a product 2, elementwise 1
  Count exps;     // exponentials and logarithms, counted apart
  Count bytes_loaded, bytes_stored, bytes_updated;
  std::vector<Count> by_instruction;   // by row of instruction_set()
  std::vector<ArrayTraffic> by_array;  // as BoundProgram::arrays
};

/// The counters of a run; with `pass`, only the instructions of that pass.
Counters count(const BoundProgram& program, const Executions& executions, const CostTable& costs);
Counters count_pass(const BoundProgram& program, const Executions& executions,
                    const CostTable& costs, std::size_t pass);

/// How often each instruction is executed, by summing over the loop nest, without executing it:
/// exact for every program, in time that does not grow with the lengths of the ranges.
/// Errors: Fault::kLimit when bounds with large divisors make the sum too long to enumerate; those
/// of shapes that do not fit, when elements are tiles.
Result<Executions> count_executions(const BoundProgram& program);

/// Only how often each instruction is executed, by site.
Result<std::vector<Count>> count_times(const BoundProgram& program);

/// The most registers that hold a value still to be read, over all points of the program: a
/// register counts from its write to its last read. An upper bound when a loop may run no iteration
/// at all.
std::int64_t peak_registers(const BoundProgram& program);

/// What one element takes in a register: that of a float, or of a double where the program has any.
std::int64_t register_element_bytes(const BoundProgram& program);

/// Where the registers hold the most bytes, by the same rule.
struct RegisterBytes {
  struct Holder {
    std::int64_t register_number = 0;
    std::int64_t rows = 0, cols = 0, bytes = 0;
    SourceSpan written;  // by this instruction
  };
  std::int64_t bytes = 0;
  std::uint32_t site = 0;  // the instruction that is executed there
  std::vector<Holder> holders;
};
/// Nothing for a program whose registers cannot be told apart without a run, or whose shapes do not
/// go together (which a run explains).
std::optional<RegisterBytes> peak_register_bytes(const BoundProgram& program);

/// The most bytes of temporaries and outputs alive at once. A temporary lives from its first store
/// to its last load, an output to the end; arrays whose stores are never executed do not count.
Count peak_dram_bytes(const BoundProgram& program, const Executions& executions);

/// One line of the table that every rendering of counters is made from (text, JSON, HTML).
struct CounterDescription {
  const char* key;   // in JSON
  const char* unit;  // "", "cycles", "bytes", …
  const char* description;
  Count Counters::*value;
  bool is_rare = false;  // few programs have any: a table leaves out the 0
};
const std::vector<CounterDescription>& counter_descriptions();

}  // namespace flashlab::toy
