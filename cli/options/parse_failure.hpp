// The errors about a command line that the parser refuses.
#pragma once

#include <string>
#include <vector>

#include "cli/options/flags.hpp"
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

/// Throws Failure if a flag that takes a value is followed by another flag instead: `--csv --json` would write
/// a file that is called --json.
void check_values_are_no_flags(const CLI::App& app, const std::vector<std::string>& words);

/// Returns the files that the command line names, of the chosen command.
std::vector<NamedFile> chosen_files(const CLI::App& app);

}  // namespace flashlab::cli
