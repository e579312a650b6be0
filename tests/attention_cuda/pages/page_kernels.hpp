// The kernels that are printed in docs/, launched as their pages say. A GPU runs them, or the emulation.
#pragma once

namespace flashlab::test {

/// C = A B with docs/examples/tile_product.cu. A [m, k], B [k, n], C [m, n] on the device, m, n and k
/// multiples of 16.
void launch_tile_product(const float* A, const float* B, float* C, int m, int n, int k);
/// S = scale Q K^T with docs/examples/tile_scores.cu, likewise. Q [n, d], K [nk, d], S [n, nk].
void launch_tile_scores(const float* Q, const float* K, float* S, int n, int nk, int d,
                        float scale);

}  // namespace flashlab::test
