#include "language_model/machine_attention.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace {

using namespace flashlab;
using language_model::AttentionCall;
using language_model::MachineAttention;

std::shared_ptr<const toy::Program> program_of(const std::string& text) {
  const auto source = std::make_shared<const toy::SourceText>("mine.toy", text);
  auto program = toy::assemble(source);
  INFO(toy::format(program.diagnostics, *source));
  REQUIRE(program);
  return std::make_shared<const toy::Program>(std::move(*program));
}

std::vector<float> floats(std::size_t count, unsigned seed) {
  const test::Values values = test::random_values(count, seed);
  return {values.begin(), values.end()};
}

/// The output of query i over the keys 0 to seen - 1, in double.
std::vector<double> row_of(const AttentionCall& call, std::size_t i, std::size_t seen) {
  std::vector<double> sums(call.columns, 0.0);
  double denominator = 0;
  for (std::size_t j = 0; j < seen; ++j) {
    double score = 0;
    for (std::size_t c = 0; c < call.columns; ++c)
      score += static_cast<double>(call.q[i * call.columns + c]) * call.k[j * call.columns + c];
    const double weight = std::exp(score / std::sqrt(static_cast<double>(call.columns)));
    denominator += weight;
    for (std::size_t c = 0; c < call.columns; ++c) sums[c] += weight * call.v[j * call.columns + c];
  }
  for (double& sum : sums) sum /= denominator;
  return sums;
}

TEST_CASE("the course's programs compute a model's attention, and count what they load") {
  const std::vector<float> q = floats(8, 1), k = floats(10, 2), v = floats(10, 3);
  SECTION("a prompt of 4 characters, with tiles of 2") {
    MachineAttention attention(test::bundled("flash2_causal").program, 2);
    const AttentionCall call{4, 4, 2, true, q, std::span(k).first(8), std::span(v).first(8)};
    const std::vector<float> o = attention(call);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t c = 0; c < 2; ++c)
        CHECK(o[i * 2 + c] == Approx(row_of(call, i, i + 1)[c]).margin(1e-5));
    }
    // q once: 4 * 2 numbers. Query tile 0 sees one key tile, tile 1 two: 3 * 2 * 2 numbers of k, and of v.
    CHECK(attention.bytes_loaded() == 4 * (8 + 12 + 12));
    CHECK(attention.bytes_stored() == 4 * (8 + 4));  // o and lse
  }
  SECTION("one query and 5 keys, called twice") {
    MachineAttention attention(test::bundled("flash2").program, 2);
    const AttentionCall call{1, 5, 2, false, std::span(q).first(2), k, v};
    attention.count(call);
    const std::vector<float> o = attention(call);
    REQUIRE(o.size() == 2);
    for (std::size_t c = 0; c < 2; ++c) CHECK(o[c] == Approx(row_of(call, 0, 5)[c]).margin(1e-5));
    CHECK(attention.bytes_loaded() == 2 * 4 * (2 + 10 + 10));
    CHECK(attention.calls() == 2);
  }
}

TEST_CASE("a program that is no attention of a model is refused") {
  const std::vector<float> rows = floats(2, 1);
  const AttentionCall call{1, 1, 2, false, rows, rows, rows};
  const auto failure_of = [&](const std::string& text) -> std::string {
    MachineAttention attention(program_of(text), 2);
    try {
      attention(call);
    } catch (const language_model::ProgramFailure& failure) {
      return failure.what();
    }
    return "";
  };
  CHECK(failure_of(
            ".isa attention\n.input x[2]\n.output o[2]\n.reg A\nLOAD x[0], A\nSTORE A, o[0]\n") ==
        "expected an input 'q' of 1 rows and 2 columns, as exercises 28 and 29 state it");
  const std::string arrays =
      ".isa attention\n.param n = 1, nk = 1, d = 2, B = 1, Bk = 1, Bd = 2\n"
      ".input q(n, d) tile (B, Bd)\n.input k(nk, d) tile (Bk, Bd)\n.input v(nk, d) tile (Bk, Bd)\n"
      ".output o(n, d) tile (B, Bd)\n.reg A\n";
  CHECK(failure_of(arrays + "LOAD q[0][0], A\n") == "the program does not write all of o");
  CHECK(failure_of(arrays + "LOAD q[0][0], A\nSTORE A, o[0][0]\n").empty());
  CHECK_THAT(failure_of(arrays + "FILL 100, A\nEXP A, A\nSTORE A, o[0][0]\n"),
             Catch::Contains("mine.toy:9"));
}

}  // namespace
