// The command as it was typed, for files that say how they were made.
#pragma once

#include <string>

namespace flashlab::cli {

/// "flashlab compare --n 4096": words that a shell would split are quoted. Empty before main has
/// set it.
const std::string& command_line();
void set_command_line(int argc, char** argv);

}  // namespace flashlab::cli
