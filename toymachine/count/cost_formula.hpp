// What a program costs, as formulas in its parameters, without running it.
#pragma once

#include <cstddef>
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
  Formula steps, cycles, loads, stores, atomics, compute, flops, exps;
  Formula bytes_loaded, bytes_stored, bytes_updated;
  std::vector<Formula> by_instruction;         // by row of instruction_set()
  std::vector<ArrayTrafficFormulas> by_array;  // as Program::arrays
};

/// The fields of CounterFormulas under the keys of counter_descriptions(), in the same order, each
/// beside the field of Counters that has its value.
struct FormulaField {
  const char* key;
  Formula CounterFormulas::*value;
  Count Counters::*count;
};
const std::vector<FormulaField>& formula_fields();

struct CostFormulas {
  std::vector<std::string>
      symbols;  // Program::params, and `registers` if the program's loops use it
  /// What the parameters must satisfy beside being whole numbers >= 0, for every formula here:
  /// steps and divisors are positive, extents not negative, and every cell whose index depends on
  /// no loop lies in its array (`LOAD x[0]` needs n >= 1).
  std::vector<Condition> domain;
  CounterFormulas total;
  std::vector<CounterFormulas> by_pass;   // as Program::passes
  std::vector<Formula> by_body;           // how often each loop body runs
  std::vector<std::size_t> body_of_site;  // the one that each instruction of the text stands in
  /// Why FLOPs, bytes, elements and whatever else depends on the shapes of tiles have no formula;
  /// those formulas have no pieces then. Empty: they have.
  std::vector<Diagnostic> no_work;
  const Formula& executions(std::size_t site) const { return by_body[body_of_site[site]]; }
};

/// Derives the formulas. Diagnostics name the place where that is not possible, and why; the
/// numbers for given parameters still come from count_executions.
Result<CostFormulas> cost_formulas(const Program& program, const CostTable& costs = {});

/// For which cycles of one instruction (a row of instruction_set()) two programs cost the same, all
/// other costs as in `costs`. Empty when no cost makes them equal.
std::vector<QuotientPiece> crossing_cost(const CostFormulas& a, const CostFormulas& b,
                                         const CostTable& costs, std::size_t row);

}  // namespace flashlab::toy
