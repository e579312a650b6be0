// The kernels of docs/ as nvcc compiles them.
#include "tests/attention_cuda/pages/page_kernels.hpp"

namespace product {
#include "docs/examples/tile_product.cu"
}
namespace scores {
#include "docs/examples/tile_scores.cu"
}

namespace flashlab::test {

void launch_tile_product(const float* A, const float* B, float* C, int m, int n, int k) {
  using product::kTile;
  product::tile_product<<<dim3(n / kTile, m / kTile), dim3(kTile, kTile)>>>(A, B, C, n, k);
}

void launch_tile_scores(const float* Q, const float* K, float* S, int n, int nk, int d,
                        float scale) {
  using scores::kTile;
  scores::tile_scores<<<dim3(nk / kTile, n / kTile), dim3(kTile, kTile)>>>(Q, K, S, nk, d, scale);
}

}  // namespace flashlab::test
