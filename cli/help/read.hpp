// The chapters that the command contains.
#pragma once

#include <string>

namespace flashlab::cli {

/// Returns "flashlab read 4" for "docs/04_softmax.md", and the path itself if the command does not
/// contain that page.
std::string reading_command(const std::string& path);

}  // namespace flashlab::cli
