// How often each instruction of a program is executed, and its work, as sums of conditional
// polynomials. Private to cost formulas.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/region_tree.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

struct NestFormulas {
  /// An instruction of the text is executed as often as its sum says; instructions in the same loop
  /// share one sum.
  struct Site {
    const InstructionStatement* statement = nullptr;
    std::size_t times = 0;            // the number of a sum
    std::optional<std::size_t> work;  // the sum of its work, in units of FlopKind; empty: no work
  };
  std::vector<Site> sites;
  std::vector<Condition> domain;
  std::vector<GuardedTerm> terms;
  std::size_t num_bodies = 0;  // the first sums count the runs of each loop body
  std::size_t num_sums = 0;
  /// The reasons why there are no sums of work, but only those of loop bodies; empty: there are.
  std::vector<Diagnostic> no_work;

  void drop_work(std::vector<Diagnostic> reasons);
};

/// Diagnostics give the place and reason if there is no formula. The statements belong
/// to the program. `with_work`: also derives the work, for which the shapes of all tiles are needed.
Result<NestFormulas> nest_formulas(const Program& program, bool with_work = true);

}  // namespace flashlab::toy::detail
