// fp16x3 products: their error beside that of a plain fp32 implementation, and what rows of very
// different magnitude, hidden keys and NaN may do.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cpu/textbook.hpp"
#include "tests/attention_cpu/tolerance.hpp"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

using Floats = std::vector<float>;

constexpr float kInfiniteFloat = std::numeric_limits<float>::infinity();

bool has_fp16x3() {
  return why_no_gpu().empty() &&
         std::ranges::any_of(kernels_here(Pass::kForward, DataType::kFloat32),
                             [](const KernelCase& kernel) {
                               return kernel.arithmetic.products == cuda::Products::kFloat16x3 &&
                                      cuda::compute_capability() == 90;
                             });
}
#define FLASHLAB_NEEDS_FP16X3() \
  if (!has_fp16x3())            \
  FLASHLAB_SKIP("no GPU of compute capability 9.0, or a build without its kernels")

struct SplitInputs {
  PlainSizes sizes;
  Floats Q, K, V;

  /// Normally distributed; V around `mean`.
  explicit SplitInputs(const PlainSizes& of, float mean = 0, unsigned seed = 1) : sizes(of) {
    std::mt19937 engine(flashlab::test::seeded(seed));
    std::normal_distribution<float> normal;
    Q.resize(static_cast<std::size_t>(of.batch * of.num_heads * of.seqlen_q * of.head_dim));
    K.resize(static_cast<std::size_t>(of.batch * of.num_kv_heads * of.seqlen_k * of.head_dim));
    V.resize(K.size());
    for (Floats* const array : {&Q, &K, &V}) {
      for (float& x : *array) x = normal(engine);
    }
    for (float& x : V) x += mean;
  }

  float& at(Floats& array, std::int64_t row, std::int64_t column) const {
    return array[static_cast<std::size_t>(row * sizes.head_dim + column)];
  }

  textbook::Problem problem() const {
    textbook::Problem problem;
    problem.batch = sizes.batch;
    problem.num_heads = sizes.num_heads;
    problem.num_kv_heads = sizes.num_kv_heads;
    problem.seqlen_q = sizes.seqlen_q;
    problem.seqlen_k = sizes.seqlen_k;
    problem.head_dim = sizes.head_dim;
    problem.softmax_scale = 1 / std::sqrt(static_cast<double>(sizes.head_dim));
    return problem;
  }

  textbook::Forward<double> oracle() const {
    const auto exact = [](const Floats& array) {
      return std::vector<double>(array.begin(), array.end());
    };
    return textbook::forward(problem(), exact(Q), exact(K), exact(V));
  }
  textbook::Forward<float> plain() const { return textbook::forward(problem(), Q, K, V); }
};

struct SplitOutputs {
  Floats O, lse;
};

/// fp16x3, whatever kernel has it.
SplitOutputs run_fp16x3(const SplitInputs& in, const AttentionOptions& options = {}) {
  const PlainSizes& sizes = in.sizes;
  const Shape like_Q = {sizes.batch, sizes.num_heads, sizes.seqlen_q, sizes.head_dim},
              like_K = {sizes.batch, sizes.num_kv_heads, sizes.seqlen_k, sizes.head_dim};
  const auto stored = [](const Shape& shape, const Floats& values) {
    StoredTensor tensor = make_tensor(DataType::kFloat32, shape);
    tensor.assign(std::vector<double>(values.begin(), values.end()));
    return tensor;
  };
  const StoredTensor Q = stored(like_Q, in.Q), K = stored(like_K, in.K), V = stored(like_K, in.V),
                     O = make_tensor(DataType::kFloat32, like_Q),
                     lse = make_tensor(DataType::kFloat32, {like_Q[0], like_Q[1], like_Q[2]});
  DeviceCopies copies;
  const ForwardTensors tensors = {copies.view(Q), copies.view(K), copies.view(V), copies.view(O),
                                  copies.view(lse)};
  cuda::ExecutionOptions execution;
  execution.products = cuda::Products::kFloat16x3;
  const flashlab::test::DeviceMemory workspace(
      cuda::workspace_bytes("flash2", check_forward(tensors, options), execution));
  execution.workspace = workspace.get();
  execution.workspace_bytes = workspace.bytes();
  cuda::attention_forward("flash2", tensors, options, execution);
  check_call(cudaDeviceSynchronize());
  copies.fetch();
  return {O.values<float>(), lse.values<float>()};
}

struct SplitGradients {
  Floats dQ, dK, dV;
};

/// bwd-onepass in fp16x3, from the exact O and lse.
SplitGradients run_fp16x3_backward(const SplitInputs& in, const Floats& dO) {
  const PlainSizes& sizes = in.sizes;
  const Shape like_Q = {sizes.batch, sizes.num_heads, sizes.seqlen_q, sizes.head_dim},
              like_K = {sizes.batch, sizes.num_kv_heads, sizes.seqlen_k, sizes.head_dim};
  const auto oracle = in.oracle();
  const auto stored = [](const Shape& shape, const auto& values) {
    StoredTensor tensor = make_tensor(DataType::kFloat32, shape);
    tensor.assign(std::vector<double>(values.begin(), values.end()));
    return tensor;
  };
  const StoredTensor Q = stored(like_Q, in.Q), K = stored(like_K, in.K), V = stored(like_K, in.V),
                     O = stored(like_Q, oracle.O), of_dO = stored(like_Q, dO),
                     lse = stored({like_Q[0], like_Q[1], like_Q[2]}, oracle.lse),
                     dQ = make_tensor(DataType::kFloat32, like_Q),
                     dK = make_tensor(DataType::kFloat32, like_K),
                     dV = make_tensor(DataType::kFloat32, like_K);
  DeviceCopies copies;
  const BackwardTensors tensors = {copies.view(Q),  copies.view(K),   copies.view(V),
                                   copies.view(O),  copies.view(lse), copies.view(of_dO),
                                   copies.view(dQ), copies.view(dK),  copies.view(dV)};
  cuda::ExecutionOptions execution;
  execution.products = cuda::Products::kFloat16x3;
  const flashlab::test::DeviceMemory workspace(
      cuda::workspace_bytes("bwd-onepass", check_backward(tensors, {}), execution));
  execution.workspace = workspace.get();
  execution.workspace_bytes = workspace.bytes();
  cuda::attention_backward("bwd-onepass", tensors, {}, execution);
  check_call(cudaDeviceSynchronize());
  copies.fetch();
  return {dQ.values<float>(), dK.values<float>(), dV.values<float>()};
}

Deviation deviation_of_column(const Floats& result, const std::vector<double>& oracle,
                              std::int64_t head_dim, std::int64_t column) {
  Floats ours;
  std::vector<double> exact;
  for (auto k = static_cast<std::size_t>(column); k < oracle.size();
       k += static_cast<std::size_t>(head_dim)) {
    ours.push_back(result[k]);
    exact.push_back(oracle[k]);
  }
  return deviation(ours, exact);
}

bool is_finite_row(const SplitInputs& in, const Floats& O, std::int64_t row) {
  const auto first = O.begin() + row * in.sizes.head_dim;
  return std::all_of(first, first + in.sizes.head_dim, [](float x) { return std::isfinite(x); });
}

void check_error(const PlainSizes& sizes, float mean) {
  INFO(sizes.seqlen_k << " keys, head_dim " << sizes.head_dim << ", V around " << mean);
  const SplitInputs in(sizes, mean);
  const auto oracle = in.oracle();
  const auto plain = in.plain();
  const SplitOutputs ours = run_fp16x3(in);
  const Deviation plain_O = deviation(plain.O, oracle.O), our_O = deviation(ours.O, oracle.O);
  const Deviation plain_lse = deviation(plain.lse, oracle.lse),
                  our_lse = deviation(ours.lse, oracle.lse);
  INFO("O: " << our_O.norm << " of " << plain_O.norm << ", largest " << our_O.largest << " of "
             << plain_O.largest);
  INFO("lse: " << our_lse.norm << " of " << plain_lse.norm);
  CHECK(our_O.norm <= 2 * plain_O.norm);
  CHECK(our_O.largest <= 2 * plain_O.largest);
  CHECK(our_lse.norm <= 2 * plain_lse.norm);
}

}  // namespace

TEST_CASE("fp16x3 is at most twice as far from the exact result as plain fp32", "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  constexpr std::int64_t kQueries = 64;
  for (const float mean : {0.F, 0.5F}) {
    for (const std::int64_t head_dim : {64, 128}) {
      check_error({1, 1, 1, kQueries, 100, head_dim}, mean);
      check_error({1, 1, 1, kQueries, FLASHLAB_FP16X3_KEYS, head_dim}, mean);
    }
  }
}

TEST_CASE("fp16x3 sums many keys more exactly than plain fp32", "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  // One accumulator of a tensor core for all keys, which truncates, would be worse.
  const SplitInputs in({1, 1, 1, 64, FLASHLAB_FP16X3_KEYS, 64}, 0.5F);
  const auto oracle = in.oracle();
  CHECK(deviation(run_fp16x3(in).O, oracle.O).norm < 0.7 * deviation(in.plain().O, oracle.O).norm);
}

TEST_CASE("rows of Q and K and columns of V have scales of their own", "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  SplitInputs in({1, 1, 1, 70, 150, 64});
  std::mt19937 engine(flashlab::test::seeded(3));
  std::uniform_int_distribution<int> small(-10, 10), any(-60, 60);
  // Q_i K_j 2^a_i: the scores of a row are around 2^a_i. Half of the keys are nearly 0.
  for (std::int64_t i = 0; i < in.sizes.seqlen_q; ++i) {
    const float factor = std::ldexp(1.F, i % 2 == 0 ? -std::abs(any(engine)) : 3);
    for (std::int64_t c = 0; c < in.sizes.head_dim; ++c) in.at(in.Q, i, c) *= factor;
  }
  for (std::int64_t j = 0; j < in.sizes.seqlen_k; ++j) {
    const float of_K = std::ldexp(1.F, j % 2 == 0 ? -std::abs(any(engine)) : 0),
                of_V = std::ldexp(1.F, small(engine));
    for (std::int64_t c = 0; c < in.sizes.head_dim; ++c) {
      in.at(in.K, j, c) *= of_K;
      in.at(in.V, j, c) *= of_V;
    }
  }
  for (std::int64_t c = 0; c < in.sizes.head_dim; ++c) {
    const float factor = std::ldexp(1.F, any(engine));
    for (std::int64_t j = 0; j < in.sizes.seqlen_k; ++j) in.at(in.V, j, c) *= factor;
  }
  const auto oracle = in.oracle();
  const auto plain = in.plain();
  const SplitOutputs ours = run_fp16x3(in);
  for (std::int64_t c = 0; c < in.sizes.head_dim; ++c) {
    INFO("column " << c);
    CHECK(deviation_of_column(ours.O, oracle.O, in.sizes.head_dim, c).norm <=
          2 * deviation_of_column(plain.O, oracle.O, in.sizes.head_dim, c).norm);
  }
  CHECK(deviation(ours.lse, oracle.lse).norm <= 2 * deviation(plain.lse, oracle.lse).norm);
}

TEST_CASE("one huge row of K or V leaves the others of its tile as they are", "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  // Under the causal mask the first queries do not see the last key, which shares their tile.
  SplitInputs in({1, 1, 1, 64, 64, 64});
  const AttentionOptions causal = {Mask::kCausalTopLeft, {}, {}};
  const SplitOutputs before = run_fp16x3(in, causal);
  for (std::int64_t c = 0; c < 64; ++c) in.at(in.K, 63, c) *= 1e30F;
  for (std::int64_t c = 0; c < 64; ++c) in.at(in.V, 63, c) *= 4096;
  const SplitOutputs after = run_fp16x3(in, causal);
  double largest = 0;
  for (std::size_t k = 0; k < 63 * 64; ++k) {
    const double difference = std::fabs(static_cast<double>(after.O[k]) - before.O[k]);
    if (!(difference <= largest)) largest = difference;
  }
  CHECK(largest <= 64 * 4096 * 4 * 0x1p-39);  // 2^-39 of the largest of a column, for each key
  CHECK(std::equal(after.lse.begin(), after.lse.begin() + 63, before.lse.begin()));
}

TEST_CASE("what keys that no query sees hold changes no bit of fp16x3's results",
          "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  const std::vector<std::int64_t> lengths = {70, 0, 150};
  struct Case {
    AttentionOptions options;
    std::vector<std::int64_t> seen;  // keys of each batch entry
  };
  const std::vector<Case> cases = {{{Mask::kNone, {}, lengths}, lengths},
                                   {{Mask::kCausalTopLeft, {}, {}}, {40, 40, 40}}};
  for (const Case& each : cases) {
    INFO(to_string(each.options.mask));
    SplitInputs in({3, 1, 1, 40, 150, 72});
    const SplitOutputs before = run_fp16x3(in, each.options);
    const float hidden[] = {std::nanf(""), kInfiniteFloat, -3e38F};
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t j = each.seen[static_cast<std::size_t>(b)]; j < 150; ++j) {
        for (std::int64_t c = 0; c < 72; ++c) {
          in.at(in.K, 150 * b + j, c) = in.at(in.V, 150 * b + j, c) = hidden[(j + c) % 3];
        }
      }
    }
    const SplitOutputs after = run_fp16x3(in, each.options);
    CHECK(before.O == after.O);
    CHECK(before.lse == after.lse);
  }
}

TEST_CASE("NaN and infinities reach what depends on them and nothing else in fp16x3",
          "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  const PlainSizes sizes = {1, 1, 1, 70, 300, 64};
  for (const float value : {std::nanf(""), kInfiniteFloat, -kInfiniteFloat}) {
    INFO(value);
    SplitInputs of_Q(sizes), of_K(sizes), of_V(sizes);
    of_Q.at(of_Q.Q, 33, 5) = value;
    of_K.at(of_K.K, 250, 5) = value;
    of_V.at(of_V.V, 140, 3) = value;
    const AttentionOptions bottom_right = {Mask::kCausalBottomRight, {}, {}};
    const SplitOutputs with_Q = run_fp16x3(of_Q), with_K = run_fp16x3(of_K, bottom_right),
                       with_V = run_fp16x3(of_V);
    for (std::int64_t i = 0; i < sizes.seqlen_q; ++i) {
      INFO("row " << i);
      const auto row = static_cast<std::size_t>(i);
      CHECK(std::isnan(with_Q.lse[row]) == (i == 33));
      CHECK(is_finite_row(of_Q, with_Q.O, i) == (i != 33));
      const bool sees = 250 <= i + 300 - 70;
      CHECK(std::isnan(with_K.lse[row]) == sees);
      CHECK(is_finite_row(of_K, with_K.O, i) == !sees);
      for (std::size_t c = 0; c < 64; ++c) {
        CHECK(std::isnan(with_V.O[64 * row + c]) == (c == 3));
      }
      CHECK(std::isfinite(with_V.lse[row]));
    }
  }
}

TEST_CASE("a row of V of 0, and a scale of 0 or below, are no special cases of fp16x3",
          "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  SplitInputs in({1, 2, 1, 70, 150, 40});
  std::fill(in.V.begin(), in.V.end(), 0.F);
  for (const float x : run_fp16x3(in).O) CHECK(x == 0);
  in = SplitInputs({1, 2, 1, 70, 150, 40});
  for (const double scale : {0.0, -0.3}) {
    textbook::Problem problem = in.problem();
    problem.softmax_scale = scale;
    const auto oracle = textbook::forward(problem, std::vector<double>(in.Q.begin(), in.Q.end()),
                                          std::vector<double>(in.K.begin(), in.K.end()),
                                          std::vector<double>(in.V.begin(), in.V.end()));
    const auto plain = textbook::forward(problem, in.Q, in.K, in.V);
    const SplitOutputs ours = run_fp16x3(in, {Mask::kNone, scale, {}});
    CHECK(deviation(ours.O, oracle.O).norm <= 2 * deviation(plain.O, oracle.O).norm);
  }
}

TEST_CASE("rows of Q, K, V and dO have scales of their own in fp16x3's backward pass",
          "[cuda][fp16x3]") {
  FLASHLAB_NEEDS_FP16X3();
  for (const int range : {0, 8}) {  // magnitudes up to 2^range and down to 2^-range
    INFO("range " << range);
    SplitInputs in({1, 2, 1, 150, 300, 64});
    Floats dO = SplitInputs(in.sizes, 0, 2).Q;
    std::mt19937 engine(flashlab::test::seeded(3));
    std::uniform_int_distribution<int> any(-range, range);
    // Factors of Q and K that leave scores as they are: of all queries, and of all keys of a column.
    const float of_Q = std::ldexp(1.F, 5 * range);
    for (float& x : in.Q) x *= of_Q;
    for (float& x : in.K) x /= of_Q;
    for (Floats* const rows : {&in.V, &dO}) {
      for (std::size_t row = 0; row < rows->size() / 64; ++row) {
        const float factor = std::ldexp(1.F, any(engine));
        for (std::size_t c = 0; c < 64; ++c) (*rows)[64 * row + c] *= factor;
      }
    }
    const Floats* const inputs[] = {&in.Q, &in.K, &in.V, &dO};
    const auto gradients = [&]<class Real>(Real) {
      std::vector<Real> exact[4];
      for (int k = 0; k < 4; ++k) exact[k].assign(inputs[k]->begin(), inputs[k]->end());
      const auto forward = textbook::forward(in.problem(), exact[0], exact[1], exact[2]);
      return textbook::backward(in.problem(), exact[0], exact[1], exact[2], forward.O, forward.lse,
                                exact[3]);
    };
    const auto oracle = gradients(double{});
    const auto plain = gradients(float{});
    const SplitGradients ours = run_fp16x3_backward(in, dO);
    CHECK(deviation(ours.dQ, oracle.dQ).norm <= 2 * deviation(plain.dQ, oracle.dQ).norm);
    CHECK(deviation(ours.dK, oracle.dK).norm <= 2 * deviation(plain.dK, oracle.dK).norm);
    CHECK(deviation(ours.dV, oracle.dV).norm <= 2 * deviation(plain.dV, oracle.dV).norm);
  }
}

TEST_CASE("fp16x3 refuses more columns than its kernels take, and other types", "[call]") {
  AttentionProblem problem = {1, 1, 1, 64, 64, 128, DataType::kFloat32, Mask::kNone, 1, {}};
  cuda::ExecutionOptions execution;
  execution.products = cuda::Products::kFloat16x3;
  CHECK(cuda::find_listing("flash2", problem, execution, 90).stem == "flash2_fp16x3_sm90");
  CHECK_THROWS_WITH(cuda::find_listing("bwd-onepass", problem, execution, 90),
                    contains("at most 64 for bwd_onepass_fp16x3_sm90"));
  CHECK_THROWS_AS(cuda::find_listing("bwd-twopass", problem, execution, 90), ProblemError);
  CHECK_THROWS_WITH(cuda::find_listing("flash2", problem, execution, 80), contains("9.0 or later"));
  CHECK_THROWS_WITH(cuda::find_listing("flash2", problem, execution, 100), contains("9.0 at most"));
  problem.head_dim = 129;
  CHECK_THROWS_WITH(cuda::find_listing("flash2", problem, execution, 90),
                    contains("head_dim") && contains("at most 128 for flash2_fp16x3_sm90"));
  problem.head_dim = 64;
  CHECK(cuda::find_listing("bwd-onepass", problem, execution, 90).stem ==
        "bwd_onepass_fp16x3_sm90");
  problem.dtype = DataType::kBFloat16;
  CHECK_THROWS_AS(cuda::find_listing("flash2", problem, execution, 90), ProblemError);
}
