// The comparison of two programs in `flashlab diff`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

struct Side {
  LoadedProgram loaded;
  toy::BoundProgram bound;
  toy::Executions executions;
  toy::Counters counters;
  std::optional<toy::CostFormulas> formulas;
};

struct Comparison {
  Side left, right;
  toy::CostTable costs;
};

/// Adds formulas to both sides, or to none if one of them has none. Prints the reason to standard
/// error as a note.
void add_formulas(Comparison& comparison);

/// Returns registers, passes, loads and stores of each pass as formulas, compute
/// per element, cycles.
std::string property_table(const Comparison& comparison, const Terminal& terminal);
/// Says from which cost of a load on which program is cheaper.
std::string crossing_sentence(const Comparison& comparison, const Terminal& terminal);
/// Returns both of these, and the counts with their difference.
std::string comparison_text(const Comparison& comparison, const Terminal& terminal);
nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace flashlab::cli
