// Scores as JSON, the same for every command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

using Json = nlohmann::ordered_json;

/// Returns the JSON on one line. Replaces invalid UTF-8.
std::string dumped(const Json& value);

/// {"n": 4, "d": 2}.
Json size_json(const Size& size);

/// Returns for each size: cycles, loads, best (proved), order (cycles, loads, copy_cycles,
/// unused_cycles), proof (verdict, computation, allowed, floor_loads, floor_cycles,
/// at_least_cycles, at_most_cycles). Leaves out order and proof if they are unknown.
Json scores_json(const Verdict& verdict);

/// Returns for each line of the program: compulsory, forced and avoidable loads, and why
/// loads are avoidable.
Json load_lines_json(const Verdict& verdict);

}  // namespace flashlab::exercises
