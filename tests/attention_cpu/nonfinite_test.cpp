// NaN, infinities, rows that see nothing and sizes of 0, as attention/problem.hpp documents them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

using Array = std::vector<float>;
using Tensors = PlainTensors<float>;

/// A tile and a bit of queries and of keys.
constexpr std::int64_t kQueries = 70, kKeys = 150, kHeadDim = 8;
constexpr PlainSizes kSizes = {1, 1, 1, kQueries, kKeys, kHeadDim};

bool row_is_finite(const Array& array, std::int64_t row) {
  return std::all_of(array.begin() + row * kHeadDim, array.begin() + (row + 1) * kHeadDim,
                     [](float x) { return std::isfinite(x); });
}

bool all_are(const Array& array, float value) {
  return std::all_of(array.begin(), array.end(), [&](float x) { return x == value; });
}

void fill_row(Array& array, std::int64_t row, float value) {
  std::fill_n(array.begin() + row * kHeadDim, kHeadDim, value);
}

bool sees(const AttentionOptions& options, std::int64_t i, std::int64_t j) {
  const std::int64_t position = options.mask == Mask::kCausalBottomRight ? i + kKeys - kQueries : i;
  if (options.mask != Mask::kNone && j > position) return false;
  if (options.window_left && j < position - *options.window_left) return false;
  return !options.window_right || j <= position + *options.window_right;
}

/// Every mask, and windows that end within a tile and beyond one.
const AttentionOptions kMasks[] = {{},
                                   {Mask::kCausalTopLeft, {}, {}, {}, {}},
                                   {Mask::kCausalBottomRight, {}, {}, {}, {}},
                                   {Mask::kNone, {}, {}, 9, 50},
                                   {Mask::kCausalTopLeft, {}, {}, 20, {}},
                                   {Mask::kCausalBottomRight, {}, {}, 35, {}}};

std::string mask_text(const AttentionOptions& options) {
  std::string text(to_string(options.mask));
  if (options.window_left) text += ", left " + std::to_string(*options.window_left);
  if (options.window_right) text += ", right " + std::to_string(*options.window_right);
  return text;
}

/// body(variant, instruction set): each of a pass in each build.
template <class Body>
void for_each_kernel(Pass pass, const Body& body) {
  for (const std::string_view variant : variants_here(pass)) {
    for (const cpu::InstructionSet set : cpu::instruction_sets()) {
      INFO(variant << ", " << to_string(set));
      cpu::ExecutionOptions execution;
      execution.num_threads = 2;
      execution.instruction_set = set;
      body(variant, execution);
    }
  }
}

}  // namespace

TEST_CASE("NaN in a row of Q reaches that row of O and lse and no other", "[nonfinite]") {
  for_each_kernel(Pass::kForward, [](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes);
    tensors.Q[33 * kHeadDim + 5] = kNan;
    tensors.run(variant, {}, execution);
    for (std::int64_t i = 0; i < kQueries; ++i) {
      INFO("row " << i);
      CHECK(std::isfinite(tensors.lse[i]) == (i != 33));
      CHECK(row_is_finite(tensors.O, i) == (i != 33));
    }
    CHECK_FALSE(std::isfinite(tensors.O[33 * kHeadDim]));
  });
}

TEST_CASE("a score of plus infinity makes its row NaN and no other", "[nonfinite]") {
  for_each_kernel(Pass::kForward, [](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes);
    for (float& x : tensors.K) x = std::fabs(x) + 0.1f;
    tensors.Q[33 * kHeadDim + 5] = kInfinity;
    tensors.run(variant, {}, execution);
    for (std::int64_t i = 0; i < kQueries; ++i) {
      INFO("row " << i);
      CHECK(std::isfinite(tensors.lse[i]) == (i != 33));
      CHECK(row_is_finite(tensors.O, i) == (i != 33));
    }
  });
}

TEST_CASE("NaN in a row of K reaches the rows that see it and no other", "[nonfinite]") {
  for_each_kernel(Pass::kForward, [](std::string_view variant, const auto& execution) {
    for (const AttentionOptions& mask : kMasks) {
      for (const std::int64_t j : {40, 110, 149}) {
        Tensors tensors(kSizes);
        tensors.K[j * kHeadDim] = kNan;
        tensors.run(variant, mask, execution);
        for (std::int64_t i = 0; i < kQueries; ++i) {
          INFO(mask_text(mask) << ", key " << j << ", row " << i);
          const bool is_seen = sees(mask, i, j);
          CHECK(std::isfinite(tensors.lse[i]) == !is_seen);
          CHECK(row_is_finite(tensors.O, i) == !is_seen);
        }
      }
    }
  });
}

TEST_CASE("NaN and infinity in V reach their column of the rows that see them", "[nonfinite]") {
  for_each_kernel(Pass::kForward, [](std::string_view variant, const auto& execution) {
    for (const AttentionOptions& mask : kMasks) {
      for (const float value : {kNan, kInfinity}) {
        Tensors tensors(kSizes);
        tensors.V[110 * kHeadDim + 3] = value;
        tensors.run(variant, mask, execution);
        for (std::int64_t i = 0; i < kQueries; ++i) {
          INFO(mask_text(mask) << ", " << value << ", row " << i);
          const bool is_seen = sees(mask, i, 110);
          CHECK(std::isfinite(tensors.O[i * kHeadDim + 3]) == !is_seen);
          CHECK(std::isfinite(tensors.O[i * kHeadDim + 2]));
          CHECK(std::isfinite(tensors.lse[i]));
        }
      }
    }
  });
}

TEST_CASE("a score of minus infinity is a weight of 0", "[nonfinite]") {
  for_each_kernel(Pass::kForward, [](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes), shorter({1, 1, 1, kQueries, kKeys - 1, kHeadDim});
    for (Tensors* each : {&tensors, &shorter}) {
      for (float& x : each->Q) x = std::fabs(x) + 0.1f;
    }
    shorter.Q = tensors.Q;
    std::copy_n(tensors.K.begin(), shorter.K.size(), shorter.K.begin());
    std::copy_n(tensors.V.begin(), shorter.V.size(), shorter.V.begin());
    fill_row(tensors.K, kKeys - 1, -kInfinity);
    tensors.run(variant, {}, execution);
    shorter.run(variant, {}, execution);
    for (std::size_t k = 0; k < tensors.O.size(); ++k) {
      CHECK(std::fabs(tensors.O[k] - shorter.O[k]) <= 1e-5f);
    }
  });
}

TEST_CASE("a row whose scores are all minus infinity gives 0 and an lse of minus infinity",
          "[nonfinite]") {
  for_each_kernel(Pass::kForward, [](std::string_view variant, const auto& execution) {
    for (const AttentionOptions& mask : kMasks) {
      Tensors tensors(kSizes);
      for (float& x : tensors.K) x = std::fabs(x) + 0.1f;
      fill_row(tensors.Q, 33, -kInfinity);
      tensors.run(variant, mask, execution);
      for (std::int64_t i = 0; i < kQueries; ++i) {
        INFO(mask_text(mask) << ", row " << i);
        CHECK((tensors.lse[i] == -kInfinity) == (i == 33));
        CHECK((tensors.O[i * kHeadDim + 1] == 0) == (i == 33));
        CHECK(row_is_finite(tensors.O, i));
      }
    }
  });
}

TEST_CASE("rows that see no key give 0 and an lse of minus infinity", "[nonfinite]") {
  const std::vector<std::int64_t> none = {0};
  for_each_kernel(Pass::kForward, [&](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes), without_keys({1, 1, 1, kQueries, 0, kHeadDim});
    for (Array* array : {&tensors.Q, &tensors.K, &tensors.V}) array->assign(array->size(), kNan);
    tensors.run(variant, {Mask::kNone, {}, none}, execution);
    without_keys.run(variant, {}, execution);
    for (const Tensors* each : {&tensors, &without_keys}) {
      CHECK(all_are(each->O, 0));
      CHECK(all_are(each->lse, -kInfinity));
    }
  });
}

TEST_CASE("gradients of rows that see no key are 0", "[nonfinite]") {
  const std::vector<std::int64_t> none = {0};
  for_each_kernel(Pass::kBackward, [&](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes);
    for (Array* array : {&tensors.Q, &tensors.K, &tensors.V, &tensors.dO}) {
      array->assign(array->size(), kNan);
    }
    tensors.O.assign(tensors.O.size(), 0);
    tensors.lse.assign(tensors.lse.size(), -kInfinity);
    tensors.run(variant, {Mask::kNone, {}, none}, execution);
    for (const Array* gradient : {&tensors.dQ, &tensors.dK, &tensors.dV}) {
      CHECK(all_are(*gradient, 0));
    }
  });
}

TEST_CASE("a row of scores that are all minus infinity has gradients of 0", "[nonfinite]") {
  for_each_kernel(Pass::kBackward, [](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes);
    for (float& x : tensors.K) x = std::fabs(x) + 0.1f;
    fill_row(tensors.Q, 33, -kInfinity);
    tensors.run("online");
    tensors.run(variant, {}, execution);
    for (std::int64_t c = 0; c < kHeadDim; ++c) CHECK(tensors.dQ[33 * kHeadDim + c] == 0);
    for (const Array* gradient : {&tensors.dQ, &tensors.dK, &tensors.dV}) {
      CHECK(std::all_of(gradient->begin(), gradient->end(),
                        [](float x) { return std::isfinite(x); }));
    }
  });
}

TEST_CASE("gradients of hidden pairs are 0 whatever lies in their rows", "[nonfinite]") {
  // Under a causal mask keys from 70 on are hidden from all queries, and key 69 from all but one.
  for_each_kernel(Pass::kBackward, [](std::string_view variant, const auto& execution) {
    Tensors clean(kSizes);
    clean.run("online", {Mask::kCausalTopLeft, {}, {}});
    Tensors dirty = clean;
    for (const std::int64_t j : {69, 70, 149}) {
      fill_row(dirty.K, j, kNan);
      fill_row(dirty.V, j, kInfinity);
    }
    clean.run(variant, {Mask::kCausalTopLeft, {}, {}}, execution);
    dirty.run(variant, {Mask::kCausalTopLeft, {}, {}}, execution);
    for (std::int64_t i = 0; i < kQueries - 1; ++i) {
      INFO("row " << i);
      CHECK(row_is_finite(dirty.dQ, i));
      CHECK(std::fabs(dirty.dQ[i * kHeadDim] - clean.dQ[i * kHeadDim]) <= 1e-5f);
    }
    for (std::int64_t j = kQueries; j < kKeys; ++j) {
      INFO("key " << j);
      for (std::int64_t c = 0; c < kHeadDim; ++c) {
        CHECK((dirty.dK[j * kHeadDim + c] == 0 && dirty.dV[j * kHeadDim + c] == 0));
      }
    }
  });
}

TEST_CASE("gradients of pairs outside a window are 0 whatever lies in their rows", "[nonfinite]") {
  // Keys before 60 are seen by no query, and key 60 by the first one alone.
  const AttentionOptions window = {Mask::kCausalBottomRight, {}, {}, 20, {}};
  for_each_kernel(Pass::kBackward, [&](std::string_view variant, const auto& execution) {
    Tensors clean(kSizes);
    clean.run("online", window);
    Tensors dirty = clean;
    for (const std::int64_t j : {0, 59, 60}) {
      fill_row(dirty.K, j, kNan);
      fill_row(dirty.V, j, kInfinity);
    }
    clean.run(variant, window, execution);
    dirty.run(variant, window, execution);
    CHECK_FALSE(row_is_finite(dirty.dQ, 0));
    for (std::int64_t i = 1; i < kQueries; ++i) {
      INFO("row " << i);
      CHECK(std::fabs(dirty.dQ[i * kHeadDim] - clean.dQ[i * kHeadDim]) <= 1e-5f);
    }
    for (std::int64_t j = 0; j < 60; ++j) {
      INFO("key " << j);
      for (std::int64_t c = 0; c < kHeadDim; ++c) {
        CHECK((dirty.dK[j * kHeadDim + c] == 0 && dirty.dV[j * kHeadDim + c] == 0));
      }
    }
  });
}

TEST_CASE("NaN in one of several packed sequences reaches no other", "[nonfinite]") {
  // Queries 0 … 29, 30 … 49 and 50 … 69; the second sequence has keys 40 … 119, all of them NaN.
  const std::vector<std::int64_t> cu_seqlens_q = {0, 30, 50, 70}, cu_seqlens_k = {0, 40, 120, 150};
  AttentionOptions options;
  options.cu_seqlens_q = cu_seqlens_q;
  options.cu_seqlens_k = cu_seqlens_k;
  const auto poison = [](Tensors& tensors) {
    for (std::int64_t j = 40; j < 120; ++j) {
      fill_row(tensors.K, j, kNan);
      fill_row(tensors.V, j, kInfinity);
    }
    for (std::int64_t i = 30; i < 50; ++i) fill_row(tensors.dO, i, kNan);
  };
  for_each_kernel(Pass::kForward, [&](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes);
    poison(tensors);
    tensors.run(variant, options, execution);
    for (std::int64_t i = 0; i < kQueries; ++i) {
      INFO("row " << i);
      CHECK(std::isfinite(tensors.lse[i]) == (i < 30 || i >= 50));
      CHECK(row_is_finite(tensors.O, i) == (i < 30 || i >= 50));
    }
  });
  for_each_kernel(Pass::kBackward, [&](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes);
    poison(tensors);
    tensors.run("online", options);
    tensors.run(variant, options, execution);
    for (std::int64_t i = 0; i < kQueries; ++i) {
      INFO("row " << i);
      CHECK(row_is_finite(tensors.dQ, i) == (i < 30 || i >= 50));
    }
    for (std::int64_t j = 0; j < kKeys; ++j) {
      INFO("key " << j);
      CHECK(row_is_finite(tensors.dK, j) == (j < 40 || j >= 120));
      CHECK(row_is_finite(tensors.dV, j) == (j < 40 || j >= 120));
    }
  });
}

TEST_CASE("a packed sequence gives what it gives alone", "[nonfinite]") {
  const std::vector<std::int64_t> cu_seqlens_q = {0, 30, 30, 70}, cu_seqlens_k = {0, 40, 45, 150};
  for_each_kernel(Pass::kForward, [&](std::string_view variant, const auto& execution) {
    Tensors tensors(kSizes), alone({1, 1, 1, 40, 105, kHeadDim});
    std::copy_n(tensors.Q.begin() + 30 * kHeadDim, alone.Q.size(), alone.Q.begin());
    std::copy_n(tensors.K.begin() + 45 * kHeadDim, alone.K.size(), alone.K.begin());
    std::copy_n(tensors.V.begin() + 45 * kHeadDim, alone.V.size(), alone.V.begin());
    AttentionOptions options = {Mask::kCausalBottomRight, {}, {}, 60, {}};
    alone.run(variant, options, execution);
    options.cu_seqlens_q = cu_seqlens_q;
    options.cu_seqlens_k = cu_seqlens_k;
    tensors.run(variant, options, execution);
    for (std::size_t k = 0; k < alone.O.size(); ++k) {
      CHECK(std::fabs(tensors.O[30 * kHeadDim + k] - alone.O[k]) <= 1e-5f);
    }
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(std::fabs(tensors.lse[30 + i] - alone.lse[i]) <= 1e-5f);
    }
  });
}

TEST_CASE("NaN in a row of Q or dO reaches gradients of the keys it sees and no other",
          "[nonfinite]") {
  for_each_kernel(Pass::kBackward, [](std::string_view variant, const auto& execution) {
    for (Array Tensors::*const input : {&Tensors::Q, &Tensors::dO}) {
      Tensors tensors(kSizes);
      fill_row(tensors.*input, 33, kNan);
      tensors.run("online", {Mask::kCausalTopLeft, {}, {}});
      tensors.run(variant, {Mask::kCausalTopLeft, {}, {}}, execution);
      for (std::int64_t i = 0; i < kQueries; ++i) {
        INFO("row " << i);
        CHECK(row_is_finite(tensors.dQ, i) == (i != 33));
      }
      for (std::int64_t j = 0; j < kKeys; ++j) {
        INFO("key " << j);
        CHECK(row_is_finite(tensors.dK, j) == (j > 33));
        CHECK(row_is_finite(tensors.dV, j) == (j > 33));
      }
    }
  });
}

TEST_CASE("sizes of 0 are no error", "[nonfinite]") {
  constexpr PlainSizes kEmpty[] = {{0, 2, 1, 5, 7, 8}, {1, 2, 1, 0, 7, 8}, {1, 2, 1, 0, 0, 8}};
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    for_each_kernel(pass, [&](std::string_view variant, const auto& execution) {
      for (const PlainSizes& sizes : kEmpty) {
        Tensors tensors(sizes);
        CHECK_NOTHROW(tensors.run(variant, {}, execution));
        if (pass == Pass::kBackward) CHECK((all_are(tensors.dK, 0) && all_are(tensors.dV, 0)));
      }
    });
  }
}
