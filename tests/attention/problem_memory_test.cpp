// Which memory is refused, and in which words.
#include <limits>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "tests/attention/good_problem.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 61;

}  // namespace

TEST_CASE("null and misaligned memory is refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.K.data = nullptr; }) ==
        "K: null: expected memory for its elements");
  CHECK(forward_refusal([](auto& t) { t.lse.data = nullptr; }) ==
        "lse: null: expected memory for its elements");
  CHECK(backward_refusal([](auto& t) { t.dO.data = nullptr; }) ==
        "dO: null: expected memory for its elements");
  const std::string misaligned =
      forward_refusal([](auto& t) { t.V.data = static_cast<char*>(t.V.data) + 2; });
  CHECK_THAT(misaligned, contains("V: address "));
  CHECK_THAT(misaligned, contains(": expected a multiple of the element's 4 bytes"));
}

TEST_CASE("a tensor without elements needs no memory", "[problem]") {
  const std::string text = forward_refusal([](auto& t) {
    t.Q = t.O = view(static_cast<float*>(nullptr), {2, 4, 0, 8});
    t.lse = view(static_cast<float*>(nullptr), {2, 4, 0});
  });
  CHECK(text == "accepted");
}

TEST_CASE("lse may be left out forward and not backward", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.lse = {}; }) == "accepted");
  CHECK(backward_refusal([](auto& t) { t.lse = {}; }) ==
        "lse: shape []: expected 3 axes, [batch, num_heads, seqlen_q]");
}

TEST_CASE("an output that shares memory is refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.O.data = t.Q.data; }) ==
        "O: memory that Q lies in too: expected an output that shares memory with no other tensor");
  CHECK(forward_refusal([](auto& t) { t.lse.data = t.O.data; }) ==
        "lse: memory that O lies in too: expected an output that shares memory with no other "
        "tensor");
  CHECK_THAT(backward_refusal([](auto& t) { t.dK.data = t.dV.data; }),
             contains("dV: memory that dK lies in too"));
  CHECK_THAT(backward_refusal([](auto& t) { t.dQ.data = t.dO.data; }),
             contains("dQ: memory that dO lies in too"));
  CHECK_THAT(backward_refusal([](auto& t) { t.dV.data = t.lse.data; }),
             contains("dV: memory that lse lies in too"));
}

TEST_CASE("an output whose elements share places is refused", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.O.strides[1] = 0; }) ==
        "O: shape [2, 4, 3, 8] with strides [96, 0, 8, 1]: expected a place of its own for every "
        "element of an output");
  CHECK_THAT(backward_refusal([](auto& t) { t.dK.strides[2] = 7; }), contains("dK: shape"));
}

TEST_CASE("inputs may share memory and have strides of 0", "[problem]") {
  CHECK(forward_refusal([](auto& t) { t.V = t.K; }) == "accepted");
  CHECK(forward_refusal([](auto& t) { t.K.strides = {0, 0, 0, 0}; }) == "accepted");
}

TEST_CASE("gradients may lie interleaved in one array", "[problem]") {
  Good good;
  std::vector<float> dqkv(2 * 3 * 8 * 8);  // [batch, rows, 4 + 2 + 2 heads, head_dim]
  const std::vector<std::int64_t> strides = {3 * 64, 8, 64, 1};
  BackwardTensors& t = good.backward;
  for (TensorView* tensor : {&t.K, &t.V}) reshape(*tensor, {2, 2, 3, 8});
  t.dQ = view(dqkv.data(), {2, 4, 3, 8}, strides);
  t.dK = view(dqkv.data() + 32, {2, 2, 3, 8}, strides);
  t.dV = view(dqkv.data() + 48, {2, 2, 3, 8}, strides);
  CHECK(refusal([&] { check_backward(t); }) == "accepted");
  t.dV.data = dqkv.data() + 47;
  CHECK_THAT(refusal([&] { check_backward(t); }), contains("dV: memory that dK lies in too"));
}

TEST_CASE("sizes and strides beyond 64 bits are refused", "[problem]") {
  const auto refused = [](const auto& break_it) {
    const std::string text = forward_refusal(break_it);
    CHECK_THAT(text, contains(": expected at most 2^60 bytes"));
  };
  refused([](auto& t) { t.Q.strides[0] = kHuge; });
  refused([](auto& t) { t.Q.strides[2] = -kHuge; });
  refused([](auto& t) { t.K.strides[1] = std::numeric_limits<std::int64_t>::min(); });
  refused([](auto& t) { t.K.strides[1] = std::numeric_limits<std::int64_t>::max(); });
  refused([](auto& t) { t.V.strides[2] = kHuge / 8; });
  refused([](auto& t) {
    for (TensorView* tensor : {&t.Q, &t.O}) reshape(*tensor, {2, 4, kHuge, 8});
  });
  refused([](auto& t) {
    for (TensorView* tensor : {&t.K, &t.V}) reshape(*tensor, {2, 4, kHuge, 8});
  });
}
