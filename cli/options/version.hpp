// The identity of this build: version, commit, and build options.
#pragma once

#include <string>

namespace flashlab::cli {

/// Returns "0.2.0", as in CMakeLists.txt.
const char* version();

/// Returns "fce3ec2", "fce3ec2-dirty" or "unknown"; cmake/Commit.cmake generates it.
const char* commit();

/// Returns the output of `flashlab --version`: four lines, the first "flashlab 0.2.0 (fce3ec2)".
std::string version_text();

}  // namespace flashlab::cli
