// `flashlab attention --device cuda`.
#pragma once

#include "cli/attention/options.hpp"

namespace flashlab::cli {

/// Runs, verifies or measures as requested, and prints the results. Returns the exit code. Throws
/// Failure; without a GPU or a library of kernels, it is a failure of the request.
int attention_on_gpu(const AttentionFlags& flags, const AttentionRequest& request);

}  // namespace flashlab::cli
