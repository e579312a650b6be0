// What `flashlab diff` says about two programs.
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

/// Formulas for both sides, or for none when one of them has none: half a comparison compares
/// nothing. Reasons go to standard error as notes.
void add_formulas(Comparison& comparison);

/// Registers, passes, loads and stores of each pass as formulas, compute of one element, cycles.
std::string property_table(const Comparison& comparison, const Terminal& terminal);
/// From which cost of a load on which program is the cheaper one.
std::string crossing_sentence(const Comparison& comparison, const Terminal& terminal);
/// Both, and the counts with their difference.
std::string comparison_text(const Comparison& comparison, const Terminal& terminal);
nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace flashlab::cli
