// Counters and arrays as tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

/// Returns a number; "-inf" for -inf, null for a value that was never written.
nlohmann::ordered_json value_json(double value);

/// Returns one object with steps, cycles, loads, …, by_op, by_array.
nlohmann::ordered_json counters_json(const toy::BoundProgram& bound, const toy::Counters& counters);

/// Returns the passes with a title or an instruction, as positions in Program::passes. Empty if
/// there is at most one pass.
std::vector<std::size_t> shown_passes(const toy::Program& program);
/// Returns "1. Get max".
std::string pass_title(const toy::Program& program, std::size_t pass, std::size_t position);
/// Returns the counters of the whole program and of every pass: {…, "by_pass": [{"pass": …, …}]}.
nlohmann::ordered_json all_counters_json(const toy::BoundProgram& bound,
                                         const toy::Executions& executions,
                                         const toy::CostTable& costs);

/// Returns counters by pass, then executions by instruction, then traffic by array.
std::string counters_table(const toy::BoundProgram& bound, const toy::Executions& executions,
                           const toy::CostTable& costs, const Terminal& terminal);

/// Returns "10 LOAD + 8 MAC + 4 STORE = 22 cycles": executions by instruction, in
/// the table's order.
std::string cost_sentence(const toy::BoundProgram& bound, const toy::Executions& executions,
                          const toy::CostTable& costs);

/// Returns {"n": 4, "d": 2}.
nlohmann::ordered_json params_json(const toy::BoundProgram& bound);

/// Returns the array as nested lists.
nlohmann::ordered_json array_json(const toy::BoundArray& array, std::span<const double> dram);
/// Returns the array as rows of numbers under its name; omits the middle of a large one.
std::string array_text(const toy::BoundArray& array, std::span<const double> dram,
                       const Terminal& terminal);

/// Returns the effect of an instruction, with × if the terminal supports it.
std::string effect_text(const toy::InstructionSpec& spec, const Terminal& terminal);

/// Returns "bytes loaded" for "bytes_loaded".
std::string spoken(std::string_view key);

}  // namespace flashlab::cli
