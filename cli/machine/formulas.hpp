// Cost formulas as tables and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/terminal/terminal.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

/// Writes products in the order in which the program declares its parameters.
toy::FormulaStyle formula_style(const toy::Program& program, const Terminal& terminal);

/// Returns the same keys as counters_json, each with its formula as a string; also "by_pass".
nlohmann::ordered_json formulas_json(const toy::Program& program,
                                     const toy::CostFormulas& formulas);

/// How much of the formulas is shown.
struct FormulaDetail {
  std::size_t lines =
      0;  // that a formula may take: the terms that grow fastest; 0: all terms and cases
  bool tiles =
      true;  // of arrays that move in tiles: the rows that count tiles, beside those of elements
  std::size_t array_rows = SIZE_MAX;
};

/// Returns counter, formula and, if available, the number. `sizes` say which case of a formula is
/// shown if not all are, and from where sizes grow.
std::string formulas_table(const toy::Program& program, const toy::CostFormulas& formulas,
                           const std::optional<toy::Counters>& numbers,
                           const toy::ParameterValues& sizes, const FormulaDetail& detail,
                           const Terminal& terminal);

/// Returns loads, stores, compute and cycles of each pass; empty for a program without passes.
std::string pass_formulas_table(const toy::Program& program, const toy::CostFormulas& formulas,
                                const Terminal& terminal);

}  // namespace flashlab::cli
