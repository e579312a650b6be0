// Which problems are refused, and in which words.
#include "attention/problem.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/variants.hpp"
#include "tests/attention/good_problem.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// What each query sees: "1000 1100 " for two queries and four keys.
std::string picture_of(const AttentionProblem& problem) {
  std::string rows;
  for (std::int64_t i = 0; i < problem.seqlen_q; ++i) {
    for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
      rows += problem.visible_keys(0, i).contains(j) ? '1' : '0';
    }
    rows += ' ';
  }
  return rows;
}

}  // namespace

TEST_CASE("a good problem is accepted and stated", "[problem]") {
  Good good;
  const AttentionProblem problem = check_forward(good.forward, good.options);
  CHECK((problem.batch == 2 && problem.num_heads == 4 && problem.num_kv_heads == 2));
  CHECK((problem.seqlen_q == 3 && problem.seqlen_k == 5 && problem.head_dim == 8));
  CHECK(problem.softmax_scale == 1 / std::sqrt(8.0));
  CHECK(problem.visible_pairs() == 2 * 4 * 3 * 5);
  CHECK(forward_flops(problem) == 4 * 8 * problem.visible_pairs());
  CHECK(backward_flops(check_backward(good.backward)) == 10 * 8 * problem.visible_pairs());
}

TEST_CASE("an error names field, value and what was expected", "[problem]") {
  const ProblemError error("K", "3 heads", "4 heads");
  CHECK((error.field == "K" && error.value == "3 heads" && error.expected == "4 heads"));
  CHECK(std::string(error.what()) == "K: 3 heads: expected 4 heads");
}

TEST_CASE("wrong ranks are refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) {
          reshape(t.Q, {4, 3, 8});
        }) == "Q: shape [4, 3, 8]: expected 4 axes, [batch, num_heads, seqlen_q, head_dim]");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.K, {5, 8});
        }) == "K: shape [5, 8]: expected 4 axes, [batch, num_kv_heads, seqlen_k, head_dim]");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.lse, {8, 3});
        }) == "lse: shape [8, 3]: expected 3 axes, [batch, num_heads, seqlen_q]");
  CHECK(forward_refusal([](auto& t) { t.V.strides.pop_back(); }) ==
        "V: strides [80, 40, 8]: expected one for each of the axes [batch, num_kv_heads, "
        "seqlen_k, head_dim]");
  CHECK(forward_refusal([](auto& t) { t.Q = {}; }) ==
        "Q: shape []: expected 4 axes, [batch, num_heads, seqlen_q, head_dim]");
}

TEST_CASE("sizes that do not fit each other are refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) {
          reshape(t.K, {1, 2, 5, 8});
        }) ==
        "K: shape [1, 2, 5, 8]: expected Q's batch 2 and head_dim 8: [batch, num_kv_heads, "
        "seqlen_k, head_dim]");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.K, {2, 2, 5, 4});
        }) ==
        "K: shape [2, 2, 5, 4]: expected Q's batch 2 and head_dim 8: [batch, num_kv_heads, "
        "seqlen_k, head_dim]");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.K, {2, 3, 5, 8});
        }) == "K: 3 heads: expected a number that divides Q's 4 heads");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.K, {2, 0, 5, 8});
        }) == "K: 0 heads: expected a number that divides Q's 4 heads");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.Q, {2, 0, 3, 8});
        }) == "Q: 0 heads: expected at least one");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.V, {2, 2, 4, 8});
        }) ==
        "V: shape [2, 2, 4, 8]: expected [2, 2, 5, 8], [batch, num_kv_heads, seqlen_k, head_dim]");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.O, {2, 4, 5, 8});
        }) ==
        "O: shape [2, 4, 5, 8]: expected [2, 4, 3, 8], [batch, num_heads, seqlen_q, head_dim]");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.lse, {2, 3, 4});
        }) == "lse: shape [2, 3, 4]: expected [2, 4, 3], [batch, num_heads, seqlen_q]");
}

TEST_CASE("a head_dim that no device takes is refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) {
          reshape(t.Q, {2, 4, 3, 0});
        }) == "Q: head_dim 0: expected 1 to 512");
  CHECK(forward_refusal([](auto& t) {
          reshape(t.Q, {2, 4, 3, 513});
        }) == "Q: head_dim 513: expected 1 to 512");
}

TEST_CASE("negative sizes are refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.Q.shape[2] = -1; }) ==
        "Q: shape [2, 4, -1, 8]: expected no negative size");
  CHECK(backward_refusal([](auto& t) { t.dV.shape[0] = -2; }) ==
        "dV: shape [-2, 2, 5, 8]: expected no negative size");
}

TEST_CASE("one data type, and lse in the type that is computed in", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.V.dtype = DataType::kFloat16; }) ==
        "V: fp16: expected float, as Q");
  CHECK(forward_refusal([](auto& t) { t.O.dtype = DataType::kFloat64; }) ==
        "O: double: expected float, as Q");
  CHECK(forward_refusal([](auto& t) { t.lse.dtype = DataType::kBFloat16; }) ==
        "lse: bf16: expected float, as the type of the computation");
  const auto only_lse_float = [](ForwardTensors& t) {
    for (TensorView* tensor : {&t.Q, &t.K, &t.V, &t.O}) tensor->dtype = DataType::kFloat64;
  };
  CHECK(forward_refusal(only_lse_float) ==
        "lse: float: expected double, as the type of the computation");
}

TEST_CASE("a scale that is not finite or beyond 1e30 is refused", "[problem]") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(options_refusal([&](auto& o) { o.softmax_scale = std::nan(""); }) ==
        "softmax_scale: nan: expected a number of at most 1e30 in size");
  CHECK(options_refusal([&](auto& o) { o.softmax_scale = -infinity; }) ==
        "softmax_scale: -inf: expected a number of at most 1e30 in size");
  CHECK_THAT(options_refusal([&](auto& o) { o.softmax_scale = 2e30; }),
             contains("expected a number of at most 1e30 in size"));
  CHECK(options_refusal([](auto& o) { o.softmax_scale = 0; }) == "accepted");
  CHECK(options_refusal([](auto& o) { o.softmax_scale = -1e30; }) == "accepted");
}

TEST_CASE("key lengths are one a batch entry, from 0 to seqlen_k", "[problem]") {
  const auto with = [](std::vector<std::int64_t> lengths) {
    return options_refusal([&](auto& o) { o.key_lengths = lengths; });
  };
  CHECK(with({0, 5}) == "accepted");
  CHECK(with({1}) == "key_lengths: 1 entries: expected one for each of the 2 batch entries");
  CHECK(with({1, 2, 3}) == "key_lengths: 3 entries: expected one for each of the 2 batch entries");
  CHECK(with({0, 6}) == "key_lengths: [0, 6]: expected lengths from 0 to seqlen_k = 5");
  CHECK(with({-1, 0}) == "key_lengths: [-1, 0]: expected lengths from 0 to seqlen_k = 5");
}

TEST_CASE("the masks are drawn as the header draws them", "[problem]") {
  AttentionProblem problem;
  problem.batch = problem.num_heads = problem.num_kv_heads = 1;
  problem.seqlen_q = 2;
  problem.seqlen_k = 3;
  const auto visible = [&](Mask mask) {
    problem.mask = mask;
    return std::vector{problem.visible_keys(0, 0).count(), problem.visible_keys(0, 1).count()};
  };
  CHECK(visible(Mask::kNone) == std::vector<std::int64_t>{3, 3});
  CHECK(visible(Mask::kCausalTopLeft) == std::vector<std::int64_t>{1, 2});
  CHECK(visible(Mask::kCausalBottomRight) == std::vector<std::int64_t>{2, 3});
  problem.key_lengths = {1};
  CHECK(visible(Mask::kCausalTopLeft) == std::vector<std::int64_t>{1, 1});
  CHECK(visible(Mask::kCausalBottomRight) == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("windows are drawn as the header draws them", "[problem]") {
  AttentionProblem problem;
  problem.batch = problem.num_heads = problem.num_kv_heads = 1;
  problem.seqlen_q = problem.seqlen_k = 4;
  problem.mask = Mask::kCausalTopLeft;
  problem.window_left = 1;
  CHECK(picture_of(problem) == "1000 1100 0110 0011 ");
  CHECK(problem.visible_pairs() == 7);
  problem.mask = Mask::kNone;
  problem.window_right = 2;
  CHECK(picture_of(problem) == "1110 1111 0111 0011 ");
  problem.window_left = problem.window_right = 0;
  CHECK(picture_of(problem) == "1000 0100 0010 0001 ");
  problem.seqlen_k = 6;
  problem.mask = Mask::kCausalBottomRight;
  problem.window_right = {};
  problem.window_left = 2;
  CHECK(picture_of(problem) == "111000 011100 001110 000111 ");
  problem.key_lengths = {3};  // the position of query 0 is -1
  CHECK(picture_of(problem) == "000000 100000 110000 111000 ");
}

TEST_CASE("a query offset moves the diagonal of mask and window", "[problem]") {
  AttentionProblem problem;
  problem.batch = problem.num_heads = problem.num_kv_heads = 1;
  problem.seqlen_q = 2;
  problem.seqlen_k = 4;
  problem.query_offset = 1;
  CHECK(picture_of(problem) == "1111 1111 ");
  problem.mask = Mask::kCausalTopLeft;
  CHECK(picture_of(problem) == "1100 1110 ");
  problem.query_offset = -1;
  CHECK(picture_of(problem) == "0000 1000 ");
  problem.query_offset = 2;
  problem.window_left = 1;
  CHECK(picture_of(problem) == "0110 0011 ");
  problem.query_offset = 1 << 30;
  CHECK(picture_of(problem) == "0000 0000 ");
}

TEST_CASE("a query offset beyond 2^30, or where positions are fixed, is refused", "[problem]") {
  CHECK(options_refusal([](auto& o) { o.query_offset = (std::int64_t{1} << 30) + 1; }) ==
        "query_offset: 1073741825: expected -2^30 … 2^30");
  CHECK(options_refusal([](auto& o) { o.query_offset = INT64_MIN; }) ==
        "query_offset: -9223372036854775808: expected -2^30 … 2^30");
  CHECK(
      options_refusal([](auto& o) {
        o.mask = Mask::kCausalBottomRight;
        o.query_offset = 3;
      }) ==
      "query_offset: 3: expected 0 with mask causal-bottom-right, which puts the last query at the "
      "last key");
  CHECK(options_refusal([](auto& o) {
          o.mask = Mask::kCausalTopLeft;
          o.query_offset = -3;
        }) == "accepted");
}

TEST_CASE("the queries that see a key are those whose ranges contain it", "[problem]") {
  AttentionProblem problem;
  problem.batch = 1;
  problem.seqlen_q = 7;
  problem.seqlen_k = 9;
  const std::optional<std::int64_t> none;
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight}) {
    for (const std::int64_t length : {0, 4, 9}) {
      for (const auto left :
           {none, std::optional<std::int64_t>(0), std::optional<std::int64_t>(3)}) {
        problem.mask = mask;
        problem.key_lengths = {length};
        problem.window_left = left;
        problem.window_right = mask == Mask::kNone ? left : none;
        INFO(to_string(mask) << ", " << length << " keys, window " << left.value_or(-1));
        const VisibleKeys visible = problem.visible(0);
        for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
          const KeyRange queries = visible.of_key(j);
          CHECK(queries.count() >= 0);
          for (std::int64_t i = 0; i < problem.seqlen_q; ++i) {
            CHECK(queries.contains(i) == visible.of_query(i).contains(j));
          }
        }
      }
    }
  }
}

TEST_CASE("a window that is negative, or that a causal mask implies, is refused", "[problem]") {
  CHECK(options_refusal([](auto& o) { o.window_left = -1; }) ==
        "window_left: -1: expected 0 keys or more, or none: no limit");
  CHECK(options_refusal([](auto& o) { o.window_right = -3; }) ==
        "window_right: -3: expected 0 keys or more, or none: no limit");
  CHECK(options_refusal([](auto& o) {
          o.mask = Mask::kCausalBottomRight;
          o.window_right = 0;
        }) ==
        "window_right: 0: expected none with mask causal-bottom-right, which already hides all "
        "keys to the right");
  CHECK(options_refusal([](auto& o) {
          o.mask = Mask::kCausalTopLeft;
          o.window_left = 0;
        }) == "accepted");
}

TEST_CASE("packed sequences see their own keys, with mask and window within each", "[problem]") {
  AttentionProblem problem;
  problem.batch = problem.num_heads = problem.num_kv_heads = 1;
  problem.seqlen_q = 5;
  problem.seqlen_k = 7;
  problem.cu_seqlens_q = {0, 2, 2, 4, 5};  // the second has no queries, the last no keys
  problem.cu_seqlens_k = {0, 3, 4, 7, 7};
  CHECK(picture_of(problem) == "1110000 1110000 0000111 0000111 0000000 ");
  CHECK(problem.visible_pairs() == 12);
  problem.mask = Mask::kCausalTopLeft;
  CHECK(picture_of(problem) == "1000000 1100000 0000100 0000110 0000000 ");
  problem.mask = Mask::kCausalBottomRight;
  CHECK(picture_of(problem) == "1100000 1110000 0000110 0000111 0000000 ");
  problem.window_left = 1;
  CHECK(picture_of(problem) == "1100000 0110000 0000110 0000011 0000000 ");
  CHECK(problem.visible_pairs() == 8);
}

TEST_CASE("bounds of packed sequences that do not fit the tensors are refused", "[problem]") {
  const auto with = [](std::vector<std::int64_t> q, std::vector<std::int64_t> k,
                       std::vector<std::int64_t> lengths = {}) {
    Good good;
    reshape(good.forward.Q, {1, 4, 3, 8});
    reshape(good.forward.O, {1, 4, 3, 8});
    reshape(good.forward.K, {1, 2, 5, 8});
    reshape(good.forward.V, {1, 2, 5, 8});
    reshape(good.forward.lse, {1, 4, 3});
    good.options.cu_seqlens_q = q;
    good.options.cu_seqlens_k = k;
    good.options.key_lengths = lengths;
    return refusal([&] { check_forward(good.forward, good.options); });
  };
  CHECK(with({0, 3}, {0, 5}) == "accepted");
  CHECK(with({0, 0, 1, 3, 3}, {0, 5, 5, 5, 5}) == "accepted");
  CHECK(with({0, 3}, {}) == "cu_seqlens_k: 0 entries: expected as many as cu_seqlens_q has: 2");
  CHECK(with({}, {0, 5}) == "cu_seqlens_k: 2 entries: expected as many as cu_seqlens_q has: 0");
  CHECK(with({1, 3}, {0, 5}) ==
        "cu_seqlens_q: entry 0 is 1: expected bounds that rise from 0 to seqlen_q = 3");
  CHECK(with({0, 2, 1, 3}, {0, 1, 2, 5}) ==
        "cu_seqlens_q: entry 2 is 1, after 2: expected bounds that rise from 0 to seqlen_q = 3");
  CHECK(with({0, 3}, {0, 6}) ==
        "cu_seqlens_k: the last entry is 6: expected bounds that rise from 0 to seqlen_k = 5");
  CHECK(with({0}, {0}) ==
        "cu_seqlens_q: the last entry is 0: expected bounds that rise from 0 to seqlen_q = 3");
  CHECK(with({0, 3}, {0, 5}, {4}) ==
        "cu_seqlens_q: given with key_lengths: expected one of them: cu_seqlens_k has the lengths "
        "of the keys");
  CHECK(options_refusal([](auto& o) {
          static const std::vector<std::int64_t> q = {0, 3}, k = {0, 5};
          o.cu_seqlens_q = q;
          o.cu_seqlens_k = k;
        }) ==
        "cu_seqlens_q: batch 2: expected batch 1: its sequences are packed in one batch entry");
}

TEST_CASE("a window beyond all keys hides nothing", "[problem]") {
  Good good;
  const std::int64_t pairs = check_forward(good.forward, good.options).visible_pairs();
  for (const std::int64_t keys : {std::int64_t{5}, std::numeric_limits<std::int64_t>::max()}) {
    good.options.window_left = good.options.window_right = keys;
    CHECK(check_forward(good.forward, good.options).visible_pairs() == pairs);
  }
}

TEST_CASE("an unknown variant is told which there are", "[problem]") {
  const std::string text = refusal([] { find_variant("flash9"); });
  CHECK_THAT(text, contains("variant: flash9: expected one of naive, fused-softmax, "));
  for (const VariantInfo& variant : variants()) {
    CHECK_THAT(text, contains(std::string(variant.name)));
    CHECK(find_variant(variant.name).name == variant.name);
  }
}

TEST_CASE("masks, passes and types print as the flags spell them", "[problem]") {
  CHECK(to_string(Mask::kNone) == "none");
  CHECK(to_string(Mask::kCausalTopLeft) == "causal");
  CHECK(to_string(Mask::kCausalBottomRight) == "causal-bottom-right");
  CHECK((to_string(Pass::kForward) == "forward" && to_string(Pass::kBackward) == "backward"));
  CHECK((to_string(DataType::kFloat32) == "float" && to_string(DataType::kFloat64) == "double"));
  CHECK((to_string(DataType::kBFloat16) == "bf16" && to_string(DataType::kFloat16) == "fp16"));
}
