// The kernels that are printed in docs/, launched as their pages say. A GPU runs them, or the emulation.
#pragma once

namespace flashlab::test {

/// C = A B with docs/examples/tile_product.cu. A [n, k], B [k, m], C [n, m] on the device, n, m and k
/// multiples of 16.
void launch_tile_product(const float* A, const float* B, float* C, int n, int m, int k);
/// S = scale Q K^T with docs/examples/tile_scores.cu, likewise. Q [n, d], K [nk, d], S [n, nk].
void launch_tile_scores(const float* Q, const float* K, float* S, int n, int nk, int d,
                        float scale);

}  // namespace flashlab::test
