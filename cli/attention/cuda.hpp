// `flashlab attention --device cuda`.
#pragma once

#include "cli/attention/options.hpp"

namespace flashlab::cli {

/// Runs, verifies or measures what is asked for, and prints it. Returns the exit code. Throws
/// Failure; where there is no GPU, or no library of kernels for it, a request's.
int attention_on_gpu(const AttentionFlags& flags, const AttentionRequest& request);

}  // namespace flashlab::cli
