// The state of a run as variables of the Debug Adapter Protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/language/machine.hpp"
#include "toymachine/replay/replay.hpp"
#include "toymachine/trace/register_symbols.hpp"

namespace flashlab::cli {

/// Returns the scopes: loops and parameters, registers, arrays, counters.
nlohmann::json dap_scopes(const toy::Replay& run);

struct DapVariablesWanted {
  std::int64_t reference = 0;
  std::int64_t first = 0, count = 0;  // of indexed variables; 0: a thousand at most
  std::string filter;                 // "named", "indexed"; empty: both
};

/// Returns the variables of a scope, an array or a tile; if it leaves some out, the last one says how
/// many. Nothing for a number that no scope or variable has. `symbols`: of the registers, which become
/// their types; asked only for registers, because it costs more than values do.
std::optional<nlohmann::json> dap_variables(toy::Replay& run, toy::RegisterSymbols& symbols,
                                            const toy::CostTable& costs,
                                            const DapVariablesWanted& wanted);

/// Returns the variable of a whole array; nothing if no array has that name.
std::optional<nlohmann::json> dap_array(const toy::Replay& run, const std::string& name);

/// The reference of a register that holds a tile.
std::int64_t dap_tile_reference(std::int64_t number);

}  // namespace flashlab::cli
