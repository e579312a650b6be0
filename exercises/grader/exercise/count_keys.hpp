// Counters by the names that exercise.toml uses for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/count/counters.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// The keys of counter_descriptions(): "cycles", "loads", …
std::vector<std::string> count_keys();

/// One of them, or "x.loads", "x.stores", "x.updates" for an array of `interface` (may be null), or
/// for "temp": all .temp arrays of a submission together.
bool is_count_key(std::string_view key, const toy::Program* interface);

/// The counter's value. An array that the program does not have counts 0.
toy::Count count_of(std::string_view key, const toy::Counters& counters,
                    const toy::BoundProgram& program);

}  // namespace flashlab::exercises
