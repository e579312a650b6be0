// How often each instruction of a program is executed, and how much work that is, as sums of
// conditional polynomials. Private to cost formulas.
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
  /// An instruction of the text is executed as often as the sum of this number says; instructions
  /// in the same loop share one.
  struct Site {
    const InstructionStatement* statement = nullptr;
    std::size_t times = 0;            // the number of a sum
    std::optional<std::size_t> work;  // the same, in units of FlopKind; nothing: no work
  };
  std::vector<Site> sites;
  std::vector<Condition> domain;
  std::vector<GuardedTerm> terms;
  std::size_t num_bodies = 0;  // the first sums are those of loop bodies: how often each runs
  std::size_t num_sums = 0;
  /// Why there are no sums of work, and so none but those of loop bodies; empty: there are.
  std::vector<Diagnostic> no_work;

  void drop_work(std::vector<Diagnostic> reasons);
};

/// Diagnostics say where and why there is no formula. The statements live as long as the program.
Result<NestFormulas> nest_formulas(const Program& program);

}  // namespace flashlab::toy::detail
