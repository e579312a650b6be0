// What a command must not write: a file that it reads, a submission, or the same file twice.
#pragma once

#include <vector>

#include "cli/options/flags.hpp"

namespace flashlab::cli {

/// Compares the files that a command writes with those that it reads and with each other, by what they are
/// on the disk and not by their names: links and ./ do not hide anything. Called before a command begins.
/// Throws Failure.
void check_files(const std::vector<NamedFile>& files);

}  // namespace flashlab::cli
