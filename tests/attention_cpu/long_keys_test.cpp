// K of many tiles: states of its parts are merged (split-kv), and tiles follow one another (the
// rest). S3's rule: whatever the parts, and in whatever order, the whole is the same.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/attention_cpu/textbook.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::int64_t kNumKeys = 3001;

textbook::Problem problem_of(const PlainSizes& sizes, Mask mask,
                             std::optional<std::int64_t> window_left) {
  textbook::Problem problem;
  problem.batch = sizes.batch;
  problem.num_heads = sizes.num_heads;
  problem.num_kv_heads = sizes.num_kv_heads;
  problem.seqlen_q = sizes.seqlen_q;
  problem.seqlen_k = sizes.seqlen_k;
  problem.head_dim = sizes.head_dim;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(sizes.head_dim));
  problem.window_left = window_left;
  if (mask == Mask::kCausalTopLeft) problem.causal = textbook::Causal::kTopLeft;
  if (mask == Mask::kCausalBottomRight) problem.causal = textbook::Causal::kBottomRight;
  return problem;
}

/// Of all differences, over the largest number; NaN where a result is NaN.
double largest_difference(const std::vector<double>& result, const std::vector<double>& oracle) {
  double difference = 0, largest = 1e-300;
  for (std::size_t k = 0; k < oracle.size(); ++k) {
    if (result[k] == oracle[k]) continue;  // infinities
    if (!(std::fabs(result[k] - oracle[k]) <= difference)) {
      difference = std::fabs(result[k] - oracle[k]);
    }
    largest = std::max(largest, std::fabs(oracle[k]));
  }
  return difference / largest;
}

/// Sums of 3001 terms, each known to some epsilons.
constexpr double kTolerance = 100 * std::numeric_limits<double>::epsilon();

}  // namespace

TEST_CASE("any number of threads merges the parts of K to the same attention", "[long]") {
  // Few queries pass one by one, more of them in lanes; head_dim 20 has no whole vectors.
  for (const PlainSizes& sizes :
       {PlainSizes{1, 1, 1, 1, kNumKeys, 64}, PlainSizes{1, 4, 2, 2, kNumKeys, 20},
        PlainSizes{2, 8, 1, 3, kNumKeys, 32}}) {
    for (const AttentionOptions& options :
         {AttentionOptions{}, AttentionOptions{Mask::kCausalTopLeft, {}, {}, {}, {}},
          AttentionOptions{Mask::kCausalBottomRight, {}, {}, {}, {}},
          AttentionOptions{Mask::kCausalBottomRight, {}, {}, 1700, {}}}) {
      PlainTensors<double> tensors(sizes);
      const auto oracle = textbook::forward(problem_of(sizes, options.mask, options.window_left),
                                            tensors.Q, tensors.K, tensors.V);
      for (const int num_threads : {1, 2, 5, 16}) {
        INFO(sizes.num_heads << " heads, " << to_string(options.mask) << ", window "
                             << options.window_left.value_or(-1) << ", " << num_threads
                             << " threads");
        cpu::ExecutionOptions execution;
        execution.num_threads = num_threads;
        tensors.run("split-kv", options, execution);
        CHECK(largest_difference(tensors.O, oracle.O) < kTolerance);
        CHECK(largest_difference(tensors.lse, oracle.lse) < kTolerance);
      }
    }
  }
}

TEST_CASE("a NaN in a part of K that a query does not see is not merged", "[long]") {
  PlainTensors<float> tensors({1, 1, 1, 2, kNumKeys, 32});
  // Bottom right: query 0 sees all keys but the last, which is in the last part.
  tensors.V.back() = std::nanf("");
  for (const int num_threads : {1, 5}) {
    cpu::ExecutionOptions execution;
    execution.num_threads = num_threads;
    tensors.run("split-kv", {Mask::kCausalBottomRight, {}, {}}, execution);
    CHECK(std::isfinite(tensors.O[31]));
    CHECK(std::isnan(tensors.O[63]));
  }
}

TEST_CASE("every variant is right over many tiles of keys and queries", "[long]") {
  const PlainSizes sizes = {1, 2, 1, 700, 650, 16};
  for (const Mask mask : {Mask::kNone, Mask::kCausalBottomRight}) {
    const textbook::Problem problem = problem_of(sizes, mask, {});
    PlainTensors<double> tensors(sizes);
    const auto forward = textbook::forward(problem, tensors.Q, tensors.K, tensors.V);
    const auto backward = textbook::backward(problem, tensors.Q, tensors.K, tensors.V, forward.O,
                                             forward.lse, tensors.dO);
    cpu::ExecutionOptions execution;
    execution.num_threads = 3;
    for (const std::string_view variant : variants_here(Pass::kForward)) {
      INFO(variant << ", " << to_string(mask));
      tensors.run(variant, {mask, {}, {}}, execution);
      CHECK(largest_difference(tensors.O, forward.O) < kTolerance);
      CHECK(largest_difference(tensors.lse, forward.lse) < kTolerance);
    }
    for (const std::string_view variant : variants_here(Pass::kBackward)) {
      INFO(variant << ", " << to_string(mask));
      tensors.run(variant, {mask, {}, {}}, execution);
      CHECK(largest_difference(tensors.dQ, backward.dQ) < kTolerance);
      CHECK(largest_difference(tensors.dK, backward.dK) < kTolerance);
      CHECK(largest_difference(tensors.dV, backward.dV) < kTolerance);
    }
  }
}
