// The state of a run as variables of the Debug Adapter Protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "toymachine/language/machine.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::cli {

/// Returns the scopes: loops and parameters, registers, arrays, counters.
nlohmann::json dap_scopes(const toy::Replay& run);

/// Returns the variables of a scope, an array or a tile; of an array, `count` elements from `first`
/// on (0: a thousand at most). Nothing for a number that no scope or variable has. `symbols`: of the
/// registers, which become their types; may be empty.
nlohmann::json dap_variables(toy::Replay& run, const std::vector<std::string>& symbols,
                             const toy::CostTable& costs, std::int64_t reference,
                             std::int64_t first, std::int64_t count);

/// Returns a number as text; "unwritten" for NaN.
std::string dap_number(double value);

}  // namespace flashlab::cli
