// Scores as JSON, the same in every command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

using Json = nlohmann::ordered_json;

/// On one line, with what is no UTF-8 replaced.
std::string dumped(const Json& value);

/// A number where every reader of JSON keeps it exactly, a string of digits beyond 2^53.
Json exact_json(const toy::Count& count);

/// {"n": 4, "d": 2}.
Json size_json(const Size& size);

/// By size: cycles, loads, best (proved), order (cycles, loads, copy_cycles, unused_cycles), proof
/// (verdict, computation, allowed, floor_loads, floor_cycles, at_least_cycles, at_most_cycles);
/// order and proof only where they are known.
Json scores_json(const Verdict& verdict);

/// By line of the program: compulsory, forced, avoidable, and why, where some are avoidable.
Json load_lines_json(const Verdict& verdict);

}  // namespace flashlab::exercises
