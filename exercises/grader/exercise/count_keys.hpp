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

/// Returns the counter's value as limits and points use it: an ATOMIC_ADD is a load and a store, too.
/// (What `run` and `cost` show keeps them apart.) An array that the program does not have counts 0.
toy::Count count_of(std::string_view key, const toy::Counters& counters,
                    const toy::BoundProgram& program);

/// Returns how much of that is atomic updates; 0 for counters of something else than loads and stores.
toy::Count updates_in(std::string_view key, const toy::Counters& counters,
                      const toy::BoundProgram& program);

}  // namespace flashlab::exercises
