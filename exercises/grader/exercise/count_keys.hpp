// The names that exercise.toml uses for counters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/count/counters.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Returns the keys of counter_descriptions(): "cycles", "loads", …
std::vector<std::string> count_keys();

/// Returns whether `key` is one of count_keys(), or "x.loads", "x.stores", "x.updates" for an array
/// x of `interface` (may be null), or for "temp": all .temp arrays of a submission together.
bool is_count_key(std::string_view key, const toy::Program* interface);

/// Returns the counter's value. An array that the program does not have counts 0.
toy::Count count_of(std::string_view key, const toy::Counters& counters,
                    const toy::BoundProgram& program);

}  // namespace flashlab::exercises
