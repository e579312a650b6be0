// The errors about a command line that the parser refuses.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/failure.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace flashlab::cli {

/// Returns the failure for the parser's error about `words`, which `app` has parsed. It names the
/// flag as it was typed, and a similar name for an unknown flag.
Failure parse_failure(const CLI::App& app, const CLI::ParseError& error,
                      const std::vector<std::string>& words);

}  // namespace flashlab::cli
