// Measures how fast this machine multiplies matrices: the reference for attention's FLOP/s.
#pragma once

#include <cstdint>

#include "attention_cpu/attention.hpp"

namespace flashlab::cpu {

/// Returns the measured FLOP/s of C = A B in float, all n x n: 2 n^3 over the median time of three
/// runs after a warm-up. Uses Eigen's product in the build for `execution`'s instruction set, with
/// a band of rows of C per thread.
///
/// Errors  ProblemError: n below 1 or above 32 768, threads, instruction set; std::bad_alloc;
///         Cancelled, between runs
/// Cost    8 n^3 FLOPs, 12 n^2 bytes
double product_flops_per_s(std::int64_t n, const ExecutionOptions& execution = {});

}  // namespace flashlab::cpu
