// The gradients of L = sum(dO o O) against differences of L, along random directions and single
// elements, with nothing known of how attention is differentiated.
#include <cmath>
#include <random>
#include <vector>

#include "attention_cpu/attention.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/attention_cpu/tolerance.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

using Values = std::vector<double>;

/// 2 entries, 4 heads on 2, 9 queries, 11 keys, head_dim 6.
struct VariedTensors {
  std::vector<std::int64_t> q_shape = {2, 4, 9, 6}, k_shape = {2, 2, 11, 6};
  Values Q = Values(432), K = Values(264), V = K, dO = Q, O = Q, lse = Values(72);
  Values dQ = Q, dK = K, dV = V;

  explicit VariedTensors(unsigned seed) {
    std::mt19937 random(flashlab::test::seeded(seed));
    for (Values* values : {&Q, &K, &V, &dO}) {
      for (double& value : *values) value = static_cast<double>(random()) * 0x1p-31 - 1;
    }
  }
  TensorView like_q(Values& values) const { return view(values.data(), q_shape); }
  TensorView like_k(Values& values) const { return view(values.data(), k_shape); }
  TensorView statistics() { return view(lse.data(), {2, 4, 9}); }

  double loss(const AttentionOptions& options) {
    cpu::attention_forward("online", {like_q(Q), like_k(K), like_k(V), like_q(O), statistics()},
                           options);
    return textbook::dot(dO.data(), O.data(), std::ssize(O));
  }
  void gradients(std::string_view variant, const AttentionOptions& options) {
    loss(options);
    cpu::attention_backward(variant,
                            {like_q(Q), like_k(K), like_k(V), like_q(O), statistics(), like_q(dO),
                             like_q(dQ), like_k(dK), like_k(dV)},
                            options);
  }
};

double largest(const Values& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::fabs(value));
  return result;
}

/// Central differences in every seventh element of one input.
void check_gradient(VariedTensors& tensors, Values VariedTensors::*input,
                    Values VariedTensors::*gradient, const AttentionOptions& options) {
  const double allowed = kDifferenceTolerance * (1 + largest(tensors.*gradient));
  for (std::size_t k = 0; k < (tensors.*input).size(); k += 7) {
    double& x = (tensors.*input)[k];
    const double before = x;
    x = before + kDifferenceStep;
    const double above = tensors.loss(options);
    x = before - kDifferenceStep;
    const double below = tensors.loss(options);
    x = before;
    const double difference = (above - below) / (2 * kDifferenceStep);
    INFO("element " << k << ": " << (tensors.*gradient)[k] << ", by differences " << difference);
    CHECK(std::fabs((tensors.*gradient)[k] - difference) <= allowed);
  }
}

void check_gradients(unsigned seed, const AttentionOptions& options) {
  for (const std::string_view variant : variants_here(Pass::kBackward)) {
    INFO(variant << ", mask " << to_string(options.mask));
    VariedTensors tensors(seed);
    tensors.gradients(variant, options);
    check_gradient(tensors, &VariedTensors::Q, &VariedTensors::dQ, options);
    check_gradient(tensors, &VariedTensors::K, &VariedTensors::dK, options);
    check_gradient(tensors, &VariedTensors::V, &VariedTensors::dV, options);
  }
}

}  // namespace

TEST_CASE("gradients are the differences of the forward pass", "[gradients]") {
  check_gradients(1, {});
}

TEST_CASE("gradients are the differences of the forward pass under causal masks", "[gradients]") {
  check_gradients(2, {Mask::kCausalTopLeft, 0.7, {}});
  check_gradients(3, {Mask::kCausalBottomRight, -0.5, {}});
}

TEST_CASE("gradients are the differences of the forward pass with key lengths", "[gradients]") {
  const std::vector<std::int64_t> lengths = {4, 0};
  check_gradients(4, {Mask::kNone, {}, lengths});
  check_gradients(5, {Mask::kCausalBottomRight, {}, lengths});
}
