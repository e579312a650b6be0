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

/// A number while JSON's readers can hold it exactly (2^53), a string beyond.
nlohmann::ordered_json count_json(const toy::Count& count);
/// A number; "-inf" for -inf, null for what nobody wrote.
nlohmann::ordered_json value_json(double value);

/// steps, cycles, loads, …, by_op, by_array: one object.
nlohmann::ordered_json counters_json(const toy::BoundProgram& bound, const toy::Counters& counters);

/// The passes that have a title or an instruction, by position in Program::passes. One pass or none
/// at all is no division worth showing, so then this is empty.
std::vector<std::size_t> shown_passes(const toy::Program& program);
/// "1. Get max".
std::string pass_title(const toy::Program& program, std::size_t pass, std::size_t position);
/// The same for the whole program and for every pass: {…, "by_pass": [{"pass": …, …}]}.
nlohmann::ordered_json all_counters_json(const toy::BoundProgram& bound,
                                         const toy::Executions& executions,
                                         const toy::CostTable& costs);

/// Counters by pass, then executions by instruction, then traffic by array.
std::string counters_table(const toy::BoundProgram& bound, const toy::Executions& executions,
                           const toy::CostTable& costs, const Terminal& terminal);

/// "10 LOAD + 8 MAC + 4 STORE = 22 cycles": executions by instruction, in the order of the table.
std::string cost_sentence(const toy::BoundProgram& bound, const toy::Executions& executions,
                          const toy::CostTable& costs);

/// {"n": 4, "d": 2}.
nlohmann::ordered_json params_json(const toy::BoundProgram& bound);

/// The array as nested lists.
nlohmann::ordered_json array_json(const toy::BoundArray& array, std::span<const double> dram);
/// The array as rows of numbers under its name; the middle of a large one is left out.
std::string array_text(const toy::BoundArray& array, std::span<const double> dram,
                       const Terminal& terminal);

/// What an instruction does, with × where the terminal has it.
std::string effect_text(const toy::InstructionSpec& spec, const Terminal& terminal);

/// "bytes_loaded" as "bytes loaded".
std::string spoken(std::string_view key);

}  // namespace flashlab::cli
