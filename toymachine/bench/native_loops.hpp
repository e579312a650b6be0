// The toy programs as plain C++ loops, with which the interpreter is compared.
#pragma once

#include <cstddef>

namespace flashlab::bench {

/// out = softmax(x), three passes; x, out [n].
void softmax_safe(const float* x, float* out, std::size_t n);
/// out = softmax(x), online: two passes; x, out [n].
void softmax_online(const float* x, float* out, std::size_t n);
/// c = a b; a, b, c [n][n], row-major.
void matmul_naive(const float* a, const float* b, float* c, std::size_t n);

}  // namespace flashlab::bench
