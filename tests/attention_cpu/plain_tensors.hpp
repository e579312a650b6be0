// Row-major random tensors of one problem, and a variant run on them: for tests that are about
// something else than layouts.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "attention_cpu/attention.hpp"
#include "tests/seed.hpp"

namespace flashlab::test {

struct PlainSizes {
  std::int64_t batch = 1, num_heads = 1, num_kv_heads = 1, seqlen_q = 1, seqlen_k = 1, head_dim = 1;
};

template <class Element>
struct PlainTensors {
  using Array = std::vector<Element>;

  PlainSizes sizes;
  Array Q, K, V, dO, O, lse, dQ, dK, dV;

  /// Inputs from -1 to 1; results are NaN.
  explicit PlainTensors(const PlainSizes& of, unsigned seed = 1) : sizes(of) {
    const std::int64_t rows = sizes.batch * sizes.num_heads * sizes.seqlen_q,
                       keys = sizes.batch * sizes.num_kv_heads * sizes.seqlen_k;
    std::mt19937 random(test::seeded(seed));
    const Element nan = static_cast<Element>(std::nan(""));
    for (Array* array : {&Q, &dO, &O, &dQ}) array->assign(rows * sizes.head_dim, nan);
    for (Array* array : {&K, &V, &dK, &dV}) array->assign(keys * sizes.head_dim, nan);
    lse.assign(rows, nan);
    for (Array* array : {&Q, &K, &V, &dO}) {
      for (Element& x : *array) {
        x = static_cast<Element>(static_cast<double>(random()) * 0x1p-31 - 1);
      }
    }
  }

  TensorView like_q(Array& array) const {
    return view(array.data(), {sizes.batch, sizes.num_heads, sizes.seqlen_q, sizes.head_dim});
  }
  TensorView like_k(Array& array) const {
    return view(array.data(), {sizes.batch, sizes.num_kv_heads, sizes.seqlen_k, sizes.head_dim});
  }
  TensorView statistics() {
    return view(lse.data(), {sizes.batch, sizes.num_heads, sizes.seqlen_q});
  }
  ForwardTensors forward_tensors() {
    return {like_q(Q), like_k(K), like_k(V), like_q(O), statistics()};
  }
  BackwardTensors backward_tensors() {
    return {like_q(Q),  like_k(K),  like_k(V),  like_q(O), statistics(),
            like_q(dO), like_q(dQ), like_k(dK), like_k(dV)};
  }
  /// A variant of either pass.
  cpu::Execution run(std::string_view variant, const AttentionOptions& options = {},
                     const cpu::ExecutionOptions& execution = {}) {
    return find_variant(variant).pass == Pass::kForward
               ? cpu::attention_forward(variant, forward_tensors(), options, execution)
               : cpu::attention_backward(variant, backward_tensors(), options, execution);
  }
};

}  // namespace flashlab::test
