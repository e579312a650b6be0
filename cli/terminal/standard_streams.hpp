// Standard input and output, on descriptors that may be non-blocking.
#pragma once

#include <iostream>
#include <optional>
#include <string>

namespace flashlab::cli {

/// From now on std::cin, std::cout and std::cerr wait where their descriptors would not
/// (descriptor_io.hpp). Call it before anything is read or written.
void use_waiting_streams();

/// Writes the question, and returns the line that is typed; nothing at the end of the input. The
/// question is written again when the program continues after it was suspended (Ctrl-Z, fg).
std::optional<std::string> typed_line(const std::string& question, std::ostream& out = std::cout);

}  // namespace flashlab::cli
