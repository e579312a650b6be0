// What this flashlab is: version, commit, how it was built.
#pragma once

#include <string>

namespace flashlab::cli {

/// "0.2.0", as CMakeLists.txt has it.
const char* version();

/// "fce3ec2", "fce3ec2-dirty" or "unknown"; see cmake/Commit.cmake, which generates it.
const char* commit();

/// What `flashlab --version` prints: four lines, the first "flashlab 0.2.0 (fce3ec2)".
std::string version_text();

}  // namespace flashlab::cli
