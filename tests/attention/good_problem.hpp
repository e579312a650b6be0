// A good problem to break, and the words in which what is broken is refused.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attention/problem.hpp"

namespace flashlab::test {

/// A good problem: batch 2, 4 heads on 2, 3 queries, 5 keys, head_dim 8. Tests break one thing.
struct Good {
  std::vector<float> q = std::vector<float>(2 * 4 * 3 * 8), k = std::vector<float>(2 * 2 * 5 * 8),
                     v = k, o = q, dO = q, dq = q, dk = k, dv = k,
                     statistics = k;  // longer than lse: tests let dV lie there
  ForwardTensors forward{view(q.data(), {2, 4, 3, 8}), view(k.data(), {2, 2, 5, 8}),
                         view(v.data(), {2, 2, 5, 8}), view(o.data(), {2, 4, 3, 8}),
                         view(statistics.data(), {2, 4, 3})};
  BackwardTensors backward{forward.Q,
                           forward.K,
                           forward.V,
                           forward.O,
                           forward.lse,
                           view(dO.data(), {2, 4, 3, 8}),
                           view(dq.data(), {2, 4, 3, 8}),
                           view(dk.data(), {2, 2, 5, 8}),
                           view(dv.data(), {2, 2, 5, 8})};
  AttentionOptions options;
};

/// The words of the refusal; "accepted" if there is none.
inline std::string refusal(const std::function<void()>& check) {
  try {
    check();
  } catch (const ProblemError& error) {
    return error.what();
  }
  return "accepted";
}

template <class Break>
std::string forward_refusal(const Break& break_it) {
  Good good;
  break_it(good.forward);
  return refusal([&] { check_forward(good.forward, good.options); });
}

template <class Break>
std::string backward_refusal(const Break& break_it) {
  Good good;
  break_it(good.backward);
  return refusal([&] { check_backward(good.backward, good.options); });
}

template <class Break>
std::string options_refusal(const Break& break_it) {
  Good good;
  break_it(good.options);
  return refusal([&] { check_forward(good.forward, good.options); });
}

inline void reshape(TensorView& tensor, std::vector<std::int64_t> shape) {
  tensor.strides = row_major(shape);
  tensor.shape = std::move(shape);
}

}  // namespace flashlab::test
