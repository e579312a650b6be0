// The state of a run as variables of the Debug Adapter Protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "toymachine/language/machine.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::cli {

/// Returns the scopes: loops and parameters, registers, arrays, counters.
nlohmann::json dap_scopes(const toy::Replay& run);

/// Returns the variables of a scope, an array or a tile; of an array, `count` elements from `first`
/// on (0: a thousand at most). Nothing for a number that no scope or variable has.
nlohmann::json dap_variables(const toy::Replay& run, const toy::CostTable& costs,
                             std::int64_t reference, std::int64_t first, std::int64_t count);

/// Returns a number as text; "unwritten" for NaN.
std::string dap_number(double value);

}  // namespace flashlab::cli
