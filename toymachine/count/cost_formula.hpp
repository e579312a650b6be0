// The costs of a program as formulas in its parameters, derived without a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/count/counters.hpp"
#include "toymachine/count/formula.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// ArrayTraffic (counters.hpp), each as a formula.
struct ArrayTrafficFormulas {
  Formula loads, stores, updates;
  Formula elements_loaded, elements_stored, elements_updated;
  Formula bytes_loaded, bytes_stored, bytes_updated;
};

/// Counters (counters.hpp), each as a formula.
struct CounterFormulas {
  Formula steps, cycles, loads, stores, atomics, sends, receives, compute, flops, exps;
  Formula bytes_loaded, bytes_stored, bytes_updated, bytes_sent, bytes_received;
  std::vector<Formula> by_instruction;         // by row of instruction_set()
  std::vector<ArrayTrafficFormulas> by_array;  // as Program::arrays
};

/// Maps the keys of counter_descriptions(), in the same order, to the fields of CounterFormulas and
/// to the fields of Counters with their values.
struct FormulaField {
  const char* key;
  Formula CounterFormulas::*value;
  Count Counters::*count;
};
const std::vector<FormulaField>& formula_fields();

struct CostFormulas {
  std::vector<std::string>
      symbols;  // Program::params, and `registers` if the program's loops use it
  /// The conditions on the parameters, besides being whole numbers >= 0, for every formula here:
  /// steps and divisors are positive, extents are not negative, and every cell whose index depends
  /// on no loop is in its array (`LOAD x[0]` needs n >= 1).
  std::vector<Condition> domain;
  CounterFormulas total;
  std::vector<CounterFormulas> by_pass;   // as Program::passes
  std::vector<Formula> by_body;           // number of runs of each loop body
  std::vector<std::size_t> body_of_site;  // the body that contains each instruction of the text
  /// The reasons why there are no formulas for FLOPs, bytes, elements and other counters that
  /// depend on the shapes of tiles. Those formulas then have no pieces. Empty: they have.
  std::vector<Diagnostic> no_work;
  const Formula& executions(std::size_t site) const { return by_body[body_of_site[site]]; }
};

enum class FormulaScope : std::uint8_t {
  kEverything,
  /// Executions, and of `total` the counters that follow from them (steps, cycles, loads, stores,
  /// atomics, compute). The shapes of tiles, which take most of the time, are not derived.
  kExecutions,
};

/// Derives the formulas. If that is not possible, diagnostics name the place and the reason;
/// count_executions still counts for given parameters.
Result<CostFormulas> cost_formulas(const Program& program, const CostTable& costs = {},
                                   FormulaScope scope = FormulaScope::kEverything);

/// Returns the cycles of one instruction (a row of instruction_set()) at which two programs cost
/// the same, with all other costs as in `costs`. Empty if no cost makes them equal.
std::vector<QuotientPiece> crossing_cost(const CostFormulas& a, const CostFormulas& b,
                                         const CostTable& costs, std::size_t row);

}  // namespace flashlab::toy
