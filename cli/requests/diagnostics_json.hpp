// Messages about programs as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/terminal/json.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {

/// Line and column count from 1, columns in bytes; both are null for an error without a place.
Json diagnostics_json(const std::vector<toy::Diagnostic>& diagnostics);

}  // namespace flashlab::cli
