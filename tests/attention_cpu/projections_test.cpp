// The projections round self-attention against plain loops, finite differences and each other.
#include "attention_cpu/projections.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tests/attention_cpu/plain_gradients.hpp"
#include "tests/attention_cpu/projected_layer.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// |a - b| / |b| over all elements; a NaN in either is an infinite distance.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    difference += (a[k] - b[k]) * (a[k] - b[k]);
    size += b[k] * b[k];
  }
  if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

double distance(const Gradients& a, const Gradients& b) {
  return std::max({distance(a.dX, b.dX), distance(a.dW_Q, b.dW_Q), distance(a.dW_K, b.dW_K),
                   distance(a.dW_V, b.dW_V)});
}

/// A few roundings on the way, each of them averaged over sums of some hundred terms.
template <class Element>
constexpr double kProjectionTolerance = 16 * std::numeric_limits<Element>::epsilon();

/// Sizes at and around a tile of 64 rows, a block of 128 columns; every mask; grouped heads; an
/// entry without keys.
std::vector<LayerSizes> layers() {
  std::vector<LayerSizes> result = {
      {1, 1, 1, 1, 1, 1},
      {1, 1, 1, 64, 4, 6},
      {2, 2, 1, 65, 8, 3},
      {1, 4, 2, 63, 5, 20},
      {1, 1, 1, 130, 16, 129},
      {2, 3, 1, 70, 4, 11},
      {3, 2, 2, 67, 8, 9, Mask::kNone, {67, 0, 30}},
      {2, 1, 1, 129, 7, 10, Mask::kNone, {64, 65}},
  };
  for (const Mask mask : {Mask::kCausalTopLeft, Mask::kCausalBottomRight}) {
    result.push_back({1, 2, 1, 131, 8, 13, mask});
    result.push_back({2, 1, 1, 66, 4, 130, mask, {20, 65}});
    result.push_back({2, 2, 1, 150, 4, 9, mask, {150, 90}, 40});
  }
  return result;
}

std::string described(const LayerSizes& sizes) {
  return std::to_string(sizes.batch) + " x " + std::to_string(sizes.num_heads) + "/" +
         std::to_string(sizes.num_kv_heads) + " x " + std::to_string(sizes.seqlen) + " x " +
         std::to_string(sizes.head_dim) + ", d_model " + std::to_string(sizes.d_model) + ", " +
         std::string(to_string(sizes.mask));
}

cpu::ExecutionOptions threads(int num_threads) {
  cpu::ExecutionOptions execution;
  execution.num_threads = num_threads;
  return execution;
}

template <class Element>
Gradients streamed(Layer<Element>& layer, int num_threads = 2) {
  cpu::project_backward_streamed(layer.backward(), layer.options(), threads(num_threads));
  return layer.gradients();
}

template <class Element>
Gradients two_steps(Layer<Element>& layer) {
  cpu::project_backward("bwd-twopass", layer.backward(), layer.options(), threads(2));
  return layer.gradients();
}

/// sum(dO o O): what the gradients are the gradients of.
double loss(Layer<double>& layer) {
  layer.forward();
  double sum = 0;
  for (std::size_t k = 0; k < layer.O.size(); ++k) sum += layer.dO[k] * layer.O[k];
  return sum;
}

/// d loss / d value by a central difference.
double slope(Layer<double>& layer, double& value) {
  constexpr double kStep = 1e-5;
  const double before = value;
  value = before + kStep;
  const double above = loss(layer);
  value = before - kStep;
  const double below = loss(layer);
  value = before;
  return (above - below) / (2 * kStep);
}

}  // namespace

TEST_CASE("Q, K and V are the products of X and the weights, cut into heads") {
  Layer<double> layer({2, 4, 2, 131, 3, 140});
  const auto expect = [&](const std::vector<double>& W, std::int64_t num_heads,
                          const std::vector<double>& result) {
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t h = 0; h < num_heads; ++h) {
        const PlainMatrix expected =
            part(layer.X, b * 131 * 140, 131, 140, 140) * part(W, h * 3, 140, 3, num_heads * 3);
        std::vector<double> plain(131 * 3);
        add_part(plain, 0, 3, expected);
        const auto first = result.begin() + (b * num_heads + h) * 131 * 3;
        CHECK(distance({first, first + 131 * 3}, plain) < kProjectionTolerance<double>);
      }
    }
  };
  expect(layer.W_Q, 4, layer.Q);
  expect(layer.W_K, 2, layer.K);
  expect(layer.W_V, 2, layer.V);
}

TEMPLATE_TEST_CASE("streamed gradients of X and the weights are the textbook's", "", float,
                   double) {
  for (const LayerSizes& sizes : layers()) {
    Layer<TestType> layer(sizes);
    const Gradients plain = plain_gradients(layer);
    for (const int num_threads : {1, 2, 5}) {
      INFO(described(sizes) << ", " << num_threads << " threads");
      CHECK(distance(streamed(layer, num_threads), plain) < kProjectionTolerance<TestType>);
    }
  }
}

TEMPLATE_TEST_CASE("gradients of X and the weights in two steps are the textbook's", "", float,
                   double) {
  for (const LayerSizes& sizes : layers()) {
    Layer<TestType> layer(sizes);
    INFO(described(sizes));
    CHECK(distance(two_steps(layer), plain_gradients(layer)) < kProjectionTolerance<TestType>);
  }
}

TEST_CASE("gradients of X and the weights are the slopes of the loss") {
  Layer<double> layer({2, 2, 1, 5, 3, 4, Mask::kCausalTopLeft, {5, 3}});
  const Gradients gradients = streamed(layer);
  const auto compare = [&](std::vector<double>& values, const std::vector<double>& gradient) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      CHECK(std::abs(slope(layer, values[k]) - gradient[k]) < 1e-8);
    }
  };
  compare(layer.X, gradients.dX);
  compare(layer.W_Q, gradients.dW_Q);
  compare(layer.W_K, gradients.dW_K);
  compare(layer.W_V, gradients.dW_V);
}

TEST_CASE("the streamed backward holds one tile per thread, however long the sequence") {
  const auto bytes = [](std::int64_t seqlen, int num_threads) {
    Layer<float> layer({1, 2, 1, seqlen, 16, 24});
    return cpu::project_backward_streamed(layer.backward(), {}, threads(num_threads))
        .workspace_bytes;
  };
  const std::int64_t tile = 4 * (8192 + 64 * (2 + 16 + 4 * 24));
  CHECK(bytes(100, 1) == tile);
  CHECK(bytes(700, 1) == tile);
  CHECK(bytes(700, 3) == 3 * tile);
}

TEST_CASE("two steps hold dQ, dK and dV between them") {
  const auto bytes = [](std::int64_t seqlen) {
    Layer<float> layer({1, 2, 1, seqlen, 16, 24});
    return cpu::project_backward("bwd-twopass", layer.backward(), {}, threads(1)).workspace_bytes;
  };
  CHECK(bytes(2048) - bytes(1024) >= 4 * 1024 * 16 * (2 + 2 * 1));
}

TEST_CASE("streamed gradients have the same bits for the same number of threads") {
  Layer<float> layer({1, 3, 1, 400, 16, 40, Mask::kCausalTopLeft});
  const Gradients first = streamed(layer, 4);
  for (int again = 0; again < 5; ++again) {
    const Gradients next = streamed(layer, 4);
    CHECK(next.dX == first.dX);
    CHECK(next.dW_Q == first.dW_Q);
    CHECK(next.dW_K == first.dW_K);
    CHECK(next.dW_V == first.dW_V);
  }
}

TEST_CASE("Q, K, V and two-step gradients have the same bits whatever the number of threads") {
  Layer<float> layer({1, 3, 1, 300, 16, 140, Mask::kCausalTopLeft});
  const auto all = [&](int num_threads) {
    cpu::project(layer.projection(), threads(num_threads));
    cpu::project_backward("bwd-twopass", layer.backward(), layer.options(), threads(num_threads));
    return std::tuple(layer.Q, layer.K, layer.V, layer.dX, layer.dW_Q, layer.dW_K, layer.dW_V);
  };
  const auto with_one = all(1);
  CHECK((all(2) == with_one));
  CHECK((all(5) == with_one));
}

TEST_CASE("two steps tell their progress as one call's") {
  Layer<float> layer({1, 2, 1, 300, 16, 24});
  std::vector<double> shares;
  cpu::ExecutionOptions execution = threads(1);
  execution.progress = [&](double share) { shares.push_back(share); };
  cpu::project_backward("bwd-twopass", layer.backward(), {}, execution);
  REQUIRE_FALSE(shares.empty());
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.front() < 0.5);
  CHECK(shares.back() == 1);
}

TEST_CASE("the projections' tensors may have any strides") {
  Layer<double> layer({1, 2, 2, 70, 4, 6});
  const Gradients expected = streamed(layer);
  // X from its last row to its first, W_Q by columns, dX two elements apart.
  std::vector<double> X(layer.X.size()), W_Q(layer.W_Q.size()), dX(2 * layer.X.size());
  for (std::size_t i = 0; i < 70; ++i) {
    for (std::size_t e = 0; e < 6; ++e) X[(69 - i) * 6 + e] = layer.X[i * 6 + e];
  }
  for (std::size_t e = 0; e < 6; ++e) {
    for (std::size_t c = 0; c < 8; ++c) W_Q[c * 6 + e] = layer.W_Q[e * 8 + c];
  }
  ProjectionBackwardTensors tensors = layer.backward();
  tensors.X = view(X.data() + 69 * 6, {1, 70, 6}, {0, -6, 1});
  tensors.W_Q = view(W_Q.data(), {6, 8}, {1, 6});
  tensors.dX = view(dX.data(), {1, 70, 6}, {0, 12, 2});
  cpu::project_backward_streamed(tensors);
  Gradients strided = layer.gradients();
  for (std::size_t k = 0; k < strided.dX.size(); ++k) strided.dX[k] = dX[2 * k];
  CHECK(distance(strided, expected) < kProjectionTolerance<double>);
}

TEST_CASE("a hidden key's NaN reaches no streamed gradient") {
  Layer<double> layer({1, 1, 1, 70, 4, 6, Mask::kNone, {40}});
  const Gradients expected = streamed(layer);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill(layer.K.begin() + 40 * 4, layer.K.end(), nan);
  std::fill(layer.V.begin() + 40 * 4, layer.V.end(), nan);
  CHECK(distance(streamed(layer), expected) == 0);
}

TEST_CASE("a query that sees no key passes none of its NaN to the streamed gradients") {
  Layer<double> layer({1, 1, 1, 70, 4, 6, Mask::kCausalBottomRight, {40}});
  const Gradients expected = streamed(layer);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill(layer.Q.begin(), layer.Q.begin() + 30 * 4, nan);
  std::fill(layer.dO.begin(), layer.dO.begin() + 30 * 4, nan);
  CHECK(distance(streamed(layer), expected) == 0);
}

TEST_CASE("a visible NaN is not lost in the streamed gradients") {
  Layer<double> layer({1, 1, 1, 70, 4, 6});
  layer.V[0] = std::numeric_limits<double>::quiet_NaN();
  const Gradients gradients = streamed(layer);
  for (const double value : gradients.dW_Q) CHECK(std::isnan(value));
}

TEST_CASE("without rows or batch entries the gradients of the weights are zero") {
  for (const LayerSizes& sizes : {LayerSizes{1, 2, 1, 0, 4, 6}, LayerSizes{0, 2, 1, 9, 4, 6}}) {
    Layer<float> layer(sizes);
    CHECK(streamed(layer).dW_Q == std::vector<double>(6 * 8));
    CHECK(two_steps(layer).dW_V == std::vector<double>(6 * 4));
  }
}

TEST_CASE("a cancelled projection throws") {
  Layer<float> layer({1, 2, 1, 100, 4, 6});
  const std::atomic<bool> cancelled = true;
  cpu::ExecutionOptions execution = threads(2);
  execution.cancelled = &cancelled;
  CHECK_THROWS_AS(cpu::project_backward_streamed(layer.backward(), {}, execution), cpu::Cancelled);
  CHECK_THROWS_AS(cpu::project(layer.projection(), execution), cpu::Cancelled);
}
