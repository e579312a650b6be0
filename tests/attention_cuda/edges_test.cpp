// Data that no benchmark has: large scores, one visible key, tokens of no sequence. What other people's
// kernels got wrong, on every kernel here.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/attention_cuda/edge.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr double kLargeBf16 = 29952, kLargeFp16 = 12000;

double large(DataType dtype) { return dtype == DataType::kFloat16 ? kLargeFp16 : kLargeBf16; }

}  // namespace

TEST_CASE("equal scores are equal weights, however large they are", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  for_each_kernel(Pass::kForward, [](const KernelCase& kernel, DataType dtype) {
    for (const std::int64_t head_dim : {64, 128}) {
      const double value = large(dtype);
      const auto all = [&](auto, auto) { return value; };
      Edge edge(dtype, head_dim, all, all);
      edge.forward(kernel);
      const std::vector<double> O = edge.O.values(), V = edge.V.values(), lse = edge.lse.values();
      const double score = value * value * std::sqrt(static_cast<double>(head_dim));
      double worst_O = 0, worst_lse = 0;
      for (std::int64_t j = 0; j < head_dim; ++j) {
        double mean = 0;
        for (std::int64_t k = 0; k < kKeys; ++k) mean += at(V, k, j, head_dim) / kKeys;
        for (std::int64_t i = 0; i < kQueries; ++i) {
          const double error = std::abs(at(O, i, j, head_dim) - mean);
          worst_O = error <= worst_O ? worst_O : error;  // NaN is the worst
        }
      }
      for (const double found : lse) {
        const double error = std::abs(found / score - 1);
        worst_lse = error <= worst_lse ? worst_lse : error;
      }
      INFO("head_dim " << head_dim);
      CHECK(worst_O < tolerance_of(dtype, kernel.arithmetic.products));
      CHECK(worst_lse < 0x1p-18);  // that of a sum of head_dim products in fp32
    }
  });
}

TEST_CASE("one score that is far above all others has weight 1", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  for_each_kernel(Pass::kForward, [](const KernelCase& kernel, DataType dtype) {
    // fp16x3 cannot split rows of K whose magnitudes are so different from those of Q.
    const double value = dtype == DataType::kFloat16 ? 30000 : 100000;
    const auto one_hot = [&](std::int64_t i, std::int64_t j) { return i % 64 == j ? value : 0; };
    Edge edge(dtype, 64, one_hot, one_hot, 64, 64);
    edge.forward(kernel);
    const std::vector<double> O = edge.O.values(), V = edge.V.values();
    double worst = 0;
    for (std::size_t k = 0; k < O.size(); ++k) {
      const double error = std::abs(O[k] - V[k]);
      worst = error <= worst ? worst : error;
    }
    CHECK(worst < (dtype == DataType::kFloat32 ? 0x1p-9 : 0x1p-30));
  });
}

TEST_CASE("scores that rise or fall from key to key are right, below and above 0",
          "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  constexpr std::int64_t kRising =
      300;  // keys: the maximum of each tile is above kLag of the one before
  for_each_kernel(Pass::kForward, [](const KernelCase& kernel, DataType dtype) {
    for (const double first : {-400.0, -100.0, -20.0, 0.0, 200.0}) {
      const auto of_Q = [](auto i, auto j) { return j > 0 ? 0 : i % 2 == 0 ? 1 : -1; };
      const auto of_K = [&](auto k, auto j) {
        return j > 0 ? 0 : first + static_cast<double>(k - k % 2);
      };
      Edge edge(dtype, 64, of_Q, of_K, 64, kRising);
      AttentionOptions options;
      options.softmax_scale = 1;
      edge.forward(kernel, options);
      const std::vector<double> O = edge.O.values(), V = edge.V.values(), K = edge.K.values(),
                                lse = edge.lse.values();
      for (std::int64_t i = 0; i < 2; ++i) {  // the others see the same scores as one of these
        const double sign = i == 0 ? 1 : -1;
        double largest = -INFINITY, sum = 0, worst = 0;
        for (std::int64_t k = 0; k < kRising; ++k)
          largest = std::max(largest, sign * at(K, k, 0, 64));
        std::vector<double> exact(64);
        for (std::int64_t k = 0; k < kRising; ++k) {
          const double weight = std::exp(sign * at(K, k, 0, 64) - largest);
          sum += weight;
          for (std::int64_t j = 0; j < 64; ++j) {
            exact[static_cast<std::size_t>(j)] += weight * at(V, k, j, 64);
          }
        }
        for (std::int64_t row = i; row < 64; row += 2) {
          for (std::int64_t j = 0; j < 64; ++j) {
            const double error =
                std::abs(at(O, row, j, 64) - exact[static_cast<std::size_t>(j)] / sum);
            worst = error <= worst ? worst : error;
          }
          const double found = lse[static_cast<std::size_t>(row)];
          CHECK(std::abs(found - largest - std::log(sum)) < 0x1p-21 * (std::abs(found) + 1));
        }
        INFO("first score " << first << ", sign " << sign);
        // The rounding of a score times log2(e) is that of its weight.
        CHECK(worst < tolerance_of(dtype, kernel.arithmetic.products) +
                          0x1p-24 * (std::abs(first) + kRising));
      }
    }
  });
}

TEST_CASE("a scale may make scores as large as fp32 holds", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  // Scores differ by a hundredth of the largest one: no rounding of Q, K or the scale changes which it is.
  const auto sign = [](std::int64_t number) { return number % 2 == 0 ? 1.0 : -1.0; };
  const auto of_Q = [&](auto i, auto j) { return sign(i) * sign(j) / 2; };
  const auto of_K = [&](auto k, auto j) { return sign(j) * static_cast<double>(k + 1) / 128; };
  for_each_kernel(Pass::kForward, [&](const KernelCase& kernel, DataType dtype) {
    for (const double scale : {9e15, -9e15, 1e30}) {
      Edge edge(dtype, 64, of_Q, of_K);
      AttentionOptions options;
      options.softmax_scale = scale;
      edge.forward(kernel, options);
      const std::vector<double> O = edge.O.values(), V = edge.V.values();
      double worst = 0;
      for (std::int64_t i = 0; i < kQueries; ++i) {
        const std::int64_t best = sign(i) * scale > 0 ? kKeys - 1 : 0;
        for (std::int64_t j = 0; j < 64; ++j) {
          const double error = std::abs(at(O, i, j, 64) - at(V, best, j, 64));
          worst = error <= worst ? worst : error;
        }
      }
      INFO("scale " << scale);
      CHECK(worst < tolerance_of(dtype, kernel.arithmetic.products));
    }
  });
}

TEST_CASE("a query that sees one key gets V's bits, and lse is its score", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  for_each_kernel(Pass::kForward, [](const KernelCase& kernel, DataType dtype) {
    if (dtype == DataType::kFloat32 && kernel.arithmetic.products != cuda::Products::kNative) {
      return;  // V is rounded, or split in two
    }
    for (const double factor : {1.0, 9.0}) {
      Edge edge(
          dtype, 64, [&](auto i, auto j) { return factor * mixed(i + 1, j); },
          [&](auto i, auto j) { return factor * mixed(i, j + 3); });
      AttentionOptions options;
      options.mask = Mask::kCausalTopLeft;
      edge.forward(kernel, options);
      const std::vector<double> O = edge.O.values(), V = edge.V.values(), Q = edge.Q.values(),
                                K = edge.K.values();
      std::int64_t different = 0;
      double score = 0;
      for (std::int64_t j = 0; j < 64; ++j) {
        if (O[static_cast<std::size_t>(j)] != V[static_cast<std::size_t>(j)]) ++different;
        score += at(Q, 0, j, 64) * at(K, 0, j, 64) / 8;
      }
      CHECK(different == 0);
      CHECK(std::abs(edge.lse.values()[0] - score) <= 0x1p-21 * std::abs(score));
    }
  });
}

TEST_CASE(
    "a query gets V's bits where all keys that it minds have the same V, whatever its largest "
    "weight is",
    "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  // The largest score is above that of the tile before it by too little for a kernel to raise m, so that its weight is not 1.
  constexpr std::int64_t kManyKeys = 300, kFirst = 3, kLast = kManyKeys - 5;
  for_each_kernel(Pass::kForward, [](const KernelCase& kernel, DataType dtype) {
    if (dtype == DataType::kFloat32) return;    // O is V but for its own roundings
    for (const double higher : {20.0, 40.0}) {  // 3.6 to 14 powers of two
      for (const std::int64_t highest : {kFirst, kLast}) {
        Edge edge(
            dtype, 64, [](auto i, auto j) { return j == 0 ? 1 + static_cast<double>(i) / 64 : 0; },
            [&](auto i, auto j) {
              if (j > 0) return 0.0;
              if (i == highest) return higher;
              return i == kFirst || i == kLast ? 0.0 : -2000.0;
            },
            kQueries, kManyKeys);
        std::vector<double> values;
        for (std::int64_t k = 0; k < kManyKeys * 64; ++k)
          values.push_back(1 + 0.0078125 * static_cast<double>(k % 64));
        edge.V.assign(values);
        edge.forward(kernel);
        const std::vector<double> O = edge.O.values(), V = edge.V.values();
        std::int64_t different = 0;
        for (std::size_t k = 0; k < O.size(); ++k) different += O[k] != V[k % 64] ? 1 : 0;
        INFO("highest: key " << highest << ", by " << higher);
        CHECK(different == 0);
      }
    }
  });
}

TEST_CASE("a later call makes its largest weight good, also if that score is negative and m is not",
          "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  for_each_kernel(Pass::kForward, [](const KernelCase& kernel, DataType dtype) {
    if (dtype == DataType::kFloat32 || std::string(kernel.row->variant) != "flash2") return;
    const StoredTensor m = make_tensor(DataType::kFloat32, {1, 1, kQueries}),
                       l = make_tensor(DataType::kFloat32, {1, 1, kQueries}),
                       O = make_tensor(DataType::kFloat32, {1, 1, kQueries, 64});
    DeviceCopies copies;
    cuda::ExecutionOptions execution;
    execution.state_out = {copies.view(m), copies.view(l), copies.view(O)};
    for (const double largest : {8.0, -4.0}) {  // of the scores of a call
      Edge edge(
          dtype, 64, [](auto i, auto j) { return j == 0 ? 1 + static_cast<double>(i) / 64 : 0; },
          [&](auto i, auto j) { return j > 0    ? 0.0
                                       : i == 3 ? largest
                                                : -2000.0; });
      edge.V.assign(std::vector<double>(kKeys * 64, 1));
      edge.forward(kernel, {}, execution);
      execution.state_in = execution.state_out;
    }
    copies.fetch();
    for (std::int64_t i = 0; i < kQueries; ++i) {
      INFO("query " << i);
      const double of_l = l.values()[static_cast<std::size_t>(i)];
      CHECK(std::abs(at(O.values(), i, 5, 64) - of_l) <= 0x1p-20 * of_l);
    }
  });
}

TEST_CASE("a query that sees one key has no gradient but roundings", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  for_each_kernel(Pass::kBackward, [](const KernelCase& kernel, DataType dtype) {
    const bool is_native = kernel.arithmetic.products == cuda::Products::kNative;
    if (dtype == DataType::kFloat32 && !is_native) return;  // the products themselves are rounded
    Edge edge(
        dtype, 64, [](auto i, auto j) { return 3 * mixed(i + 1, j); },
        [](auto i, auto j) { return 3 * mixed(i, j + 3); }, 1, 64);
    AttentionOptions options;
    options.mask = Mask::kCausalTopLeft;
    for (const KernelCase& forward : kernels_here(Pass::kForward, dtype)) {
      if (forward.row->variant == "flash2" && forward.arithmetic == kernel.arithmetic) {
        edge.forward(forward, options);
      }
    }
    edge.backward(kernel, options);
    const std::vector<double> V = edge.V.values(), dO = edge.dO.values();
    double sum = 0, most = 0;
    for (std::int64_t j = 0; j < 64; ++j) {
      sum += std::abs(at(dO, 0, j, 64) * at(V, 0, j, 64));
      most = std::max(
          {most, std::abs(at(edge.Q.values(), 0, j, 64)), std::abs(at(edge.K.values(), 0, j, 64))});
    }
    const double bound = 0x1p-20 * sum * most / 8;
    double largest = 0;
    for (const StoredTensor* const gradient : {&edge.dQ, &edge.dK}) {
      for (const double value : gradient->values()) {
        largest = std::abs(value) <= largest ? largest : std::abs(value);
      }
    }
    CHECK(largest <= bound);
  });
}

TEST_CASE("weights of the backward pass are right to 2^-21 of lse", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  for_each_kernel(Pass::kBackward, [](const KernelCase& kernel, DataType dtype) {
    if (kernel.arithmetic.products == cuda::Products::kFloat16x3) return;  // head_dim, forward
    for (const double value : {10.0, 100.0}) {                             // lse of 800 and 80 000
      const auto all = [&](auto, auto) { return value; };
      Edge edge(dtype, 64, all, all);
      for (const KernelCase& forward : kernels_here(Pass::kForward, dtype)) {
        if (forward.row->variant == "flash2" && forward.arithmetic == kernel.arithmetic) {
          edge.forward(forward);
        }
      }
      edge.backward(kernel);
      const std::vector<double> dV = edge.dV.values(), dO = edge.dO.values();
      const double lse = value * value * 8;
      double worst = 0;
      for (std::int64_t j = 0; j < 64; ++j) {
        double sum = 0, size = 0;
        for (std::int64_t i = 0; i < kQueries; ++i) {
          sum += at(dO, i, j, 64) / kKeys;
          size += std::abs(at(dO, i, j, 64)) / kKeys;
        }
        for (std::int64_t k = 0; k < kKeys; ++k) {
          const double error = std::abs(at(dV, k, j, 64) - sum) / size;
          worst = error <= worst ? worst : error;
        }
      }
      INFO("lse " << lse);
      CHECK(worst < 0x1p-21 * lse + tolerance_of(dtype, kernel.arithmetic.products));
    }
  });
}

TEST_CASE("tokens after the last bound see nothing and are not seen", "[cuda][edges]") {
  FLASHLAB_NEEDS_GPU();
  const std::vector<std::int64_t> bounds_q = {0, 20, 50}, bounds_k = {0, 30, 70};
  DeviceMemory on_device(2 * bounds_q.size() * sizeof(std::int64_t));
  auto* const numbers = static_cast<std::int64_t*>(on_device.get());
  const auto copy = [](std::int64_t* to, const std::vector<std::int64_t>& from) {
    check_call(cudaMemcpy(to, from.data(), from.size() * sizeof(from[0]), cudaMemcpyHostToDevice));
  };
  copy(numbers, bounds_q);
  copy(numbers + bounds_q.size(), bounds_k);
  cuda::ExecutionOptions execution;
  execution.device_cu_seqlens_q = numbers;
  execution.device_cu_seqlens_k = numbers + bounds_q.size();
  execution.num_sequences = 2;
  const auto zeros_from = [](const StoredTensor& tensor, std::int64_t row, std::int64_t columns) {
    const std::vector<double> values = tensor.values();
    return std::all_of(values.begin() + row * columns, values.end(),
                       [](double value) { return value == 0; });
  };
  for_each_kernel(Pass::kForward, [&](const KernelCase& kernel, DataType dtype) {
    if (!kernel.row->takes_packed) return;
    Edge edge(dtype, 64, mixed, mixed);
    edge.forward(kernel, {}, execution);
    CHECK(zeros_from(edge.O, 50, 64));
    CHECK(edge.lse.values()[49] > -1e30);
    CHECK(edge.lse.values()[50] == -INFINITY);
    CHECK(edge.lse.values()[63] == -INFINITY);
  });
  for_each_kernel(Pass::kBackward, [&](const KernelCase& kernel, DataType dtype) {
    if (!kernel.row->takes_packed) return;
    Edge edge(dtype, 64, mixed, mixed);
    for (const KernelCase& forward : kernels_here(Pass::kForward, dtype)) {
      if (forward.row->variant == "flash2" && forward.row->takes_packed) {
        edge.forward(forward, {}, execution);
      }
    }
    edge.backward(kernel, {}, execution);
    CHECK(zeros_from(edge.dQ, 50, 64));
    CHECK(zeros_from(edge.dK, 70, 64));
    CHECK(zeros_from(edge.dV, 70, 64));
    CHECK_FALSE(zeros_from(edge.dV, 60, 64));
  });
}
