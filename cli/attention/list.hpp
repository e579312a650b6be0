// `flashlab attention --list`: the variants, and the kernels of a GPU that run them.
#pragma once

#include "cli/attention/options.hpp"

namespace flashlab::cli {

/// Prints the table with the names for --variant and --kernel. Returns the exit code.
int list_attention(const AttentionFlags& flags);

}  // namespace flashlab::cli
