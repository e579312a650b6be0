// lse as the kernels on tensor cores compute it from c m and l: what each rounding of it may cost.
#include <algorithm>
#include <cmath>

#include "attention_cuda/device/online_softmax.cuh"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

/// The error of lse in units of 2^-24 |lse|, the largest of one rounding.
double error_in_roundings(float score, float l, float scale) {
  cuda::RowMaxima<1, BFloat16> maxima;
  maxima.raise(0, score, scale * cuda::kLog2E);
  const double exact = static_cast<double>(score) * scale + std::log(static_cast<double>(l));
  return std::abs(maxima.log_sum(0, l, scale) - exact) / std::abs(exact) * 0x1p24;
}

}  // namespace

TEST_CASE("lse is rounded when c m is, when ln l is added, and nowhere else",
          "[emulation][edges]") {
  // Scores up to those whose c m is large, and few keys: so scale m is nearly all of lse, and every rounding
  // of c, of c m or of ln 2 shows. c itself is up to 2^-24 c off, which must not reach lse.
  double worst = 0;
  for (int i = 0; i < 64; ++i) {
    const float scale = 0.05F + 0.0031F * static_cast<float>(i);
    for (int k = 0; k < 200; ++k) {
      const float score = 0x1p9F + 37.77F * static_cast<float>(k) / 2;
      for (const float l : {1.F, 1.75F, 2.F, 3.3F}) {
        worst = std::max(worst, error_in_roundings(score, l, scale));
        worst = std::max(worst, error_in_roundings(-score, l, scale));
      }
    }
  }
  CHECK(worst < 2.1);  // 1.67; (c m + log2 l) ln 2 has 3.17
}

}  // namespace flashlab::test
