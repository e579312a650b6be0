// A layer of self-attention to test the projections with.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "attention_cpu/attention.hpp"
#include "attention_cpu/projections.hpp"

namespace flashlab::test {

struct LayerSizes {
  std::int64_t batch = 1, num_heads = 1, num_kv_heads = 1, seqlen = 1, head_dim = 1, d_model = 1;
  Mask mask = Mask::kNone;
  std::vector<std::int64_t> key_lengths = {};
  std::optional<std::int64_t> window_left = {};
};

struct Gradients {
  std::vector<double> dX, dW_Q, dW_K, dW_V;
};

/// Inputs drawn from a fixed seed, the forward pass run by the library, outputs poisoned.
template <class Element>
struct Layer {
  LayerSizes sizes;
  std::vector<Element> X, W_Q, W_K, W_V, dO, Q, K, V, O, lse, dX, dW_Q, dW_K, dW_V;

  explicit Layer(const LayerSizes& layer_sizes) : sizes(layer_sizes) {
    const auto& [batch, num_heads, num_kv_heads, seqlen, head_dim, d_model, mask, lengths, window] =
        sizes;
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    const auto draw = [&](std::int64_t count, double deviation) {
      std::vector<Element> values(static_cast<std::size_t>(count));
      for (Element& value : values) value = static_cast<Element>(deviation * normal(random));
      return values;
    };
    const double deviation = 1 / std::sqrt(static_cast<double>(d_model));
    X = draw(batch * seqlen * d_model, 1);
    W_Q = draw(d_model * num_heads * head_dim, deviation);
    W_K = draw(d_model * num_kv_heads * head_dim, deviation);
    W_V = draw(d_model * num_kv_heads * head_dim, deviation);
    dO = draw(batch * num_heads * seqlen * head_dim, 1);
    const Element poison = std::numeric_limits<Element>::quiet_NaN();
    Q.assign(dO.size(), poison);
    O = Q;
    K.assign(static_cast<std::size_t>(batch * num_kv_heads * seqlen * head_dim), poison);
    V = K;
    lse.assign(static_cast<std::size_t>(batch * num_heads * seqlen), poison);
    dX.assign(X.size(), poison);
    dW_Q.assign(W_Q.size(), poison);
    dW_K.assign(W_K.size(), poison);
    dW_V = dW_K;
    forward();
  }

  std::vector<std::int64_t> query_shape() const {
    return {sizes.batch, sizes.num_heads, sizes.seqlen, sizes.head_dim};
  }
  std::vector<std::int64_t> key_shape() const {
    return {sizes.batch, sizes.num_kv_heads, sizes.seqlen, sizes.head_dim};
  }
  std::vector<std::int64_t> input_shape() const {
    return {sizes.batch, sizes.seqlen, sizes.d_model};
  }
  std::vector<std::int64_t> weight_shape(std::int64_t num_heads) const {
    return {sizes.d_model, num_heads * sizes.head_dim};
  }
  AttentionOptions options() const {
    return {sizes.mask, {}, sizes.key_lengths, sizes.window_left, {}};
  }

  ProjectionTensors projection() {
    return {view(X.data(), input_shape()),
            view(W_Q.data(), weight_shape(sizes.num_heads)),
            view(W_K.data(), weight_shape(sizes.num_kv_heads)),
            view(W_V.data(), weight_shape(sizes.num_kv_heads)),
            view(Q.data(), query_shape()),
            view(K.data(), key_shape()),
            view(V.data(), key_shape())};
  }
  ProjectionBackwardTensors backward() {
    const ProjectionTensors forward = projection();
    return {forward.X,
            forward.W_Q,
            forward.W_K,
            forward.W_V,
            forward.Q,
            forward.K,
            forward.V,
            view(O.data(), query_shape()),
            view(lse.data(), {sizes.batch, sizes.num_heads, sizes.seqlen}),
            view(dO.data(), query_shape()),
            view(dX.data(), input_shape()),
            view(dW_Q.data(), weight_shape(sizes.num_heads)),
            view(dW_K.data(), weight_shape(sizes.num_kv_heads)),
            view(dW_V.data(), weight_shape(sizes.num_kv_heads))};
  }
  /// Q, K, V, O and lse again, from X and the weights.
  void forward() {
    cpu::project(projection());
    const ProjectionBackwardTensors t = backward();
    cpu::attention_forward("online", {t.Q, t.K, t.V, t.O, t.lse}, options());
  }
  Gradients gradients() const {
    const auto as_double = [](const std::vector<Element>& values) {
      return std::vector<double>(values.begin(), values.end());
    };
    return {as_double(dX), as_double(dW_Q), as_double(dW_K), as_double(dW_V)};
  }
  /// Whether query i sees key j, by the words of attention/problem.hpp.
  bool sees(std::int64_t b, std::int64_t i, std::int64_t j) const {
    const std::int64_t keys =
        sizes.key_lengths.empty() ? sizes.seqlen : sizes.key_lengths[static_cast<std::size_t>(b)];
    const std::int64_t position =
        sizes.mask == Mask::kCausalBottomRight ? i + keys - sizes.seqlen : i;
    if (sizes.window_left && j < position - *sizes.window_left) return false;
    return j < keys && (sizes.mask == Mask::kNone || j <= position);
  }
};

}  // namespace flashlab::test
