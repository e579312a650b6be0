// The command line as typed, for files that record how they were made.
#pragma once

#include <string>

namespace flashlab::cli {

/// Returns "flashlab compare --n 4096"; words that a shell would split are quoted. Empty until
/// main sets it.
const std::string& command_line();
void set_command_line(int argc, char** argv);

/// Returns the word by which the command was started: "flashlab", "../bin/flashlab".
const std::string& called_as();

}  // namespace flashlab::cli
