// What programs on tiles cost, without running them.
#include <map>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "tests/toymachine/execute/random_tiles.hpp"
#include "tests/toymachine/execute/tiled_texts.hpp"
#include "tests/toymachine/programs/attention_program.hpp"
#include "tests/toymachine/random_nest.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/count/shape_inference.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::toy {
namespace {

using test::assembled;
using test::bound;
using test::flash2;
using test::kCausal;
using test::kMatmul;
using test::kRowSoftmax;
using Params = std::map<std::string, std::int64_t>;

bool has_closed_form(const BoundProgram& program) {
  return static_cast<bool>(detail::infer_work(detail::shape_nest(program), {}));
}

/// The same numbers as a run on shapes gives.
void check_against_run(const std::string& text, const Params& params) {
  std::string values;
  for (const auto& [name, value] : params) values += name + "=" + std::to_string(value) + " ";
  INFO(values << "\n" << text);
  const BoundProgram program = bound(assembled(text), params);
  const auto run = run_shapes(program);
  REQUIRE(run);
  if (program.tiled) REQUIRE(has_closed_form(program));
  const auto counts = count_executions(program);
  REQUIRE(counts);
  REQUIRE(counts->times == run->executions.times);
  REQUIRE(counts->work == run->executions.work);
}

TEST_CASE("a tiled product costs 2mkn FLOPs, counted as a run counts it", "[tile_count]") {
  for (std::int64_t m = 0; m <= 5; ++m) {
    for (std::int64_t k = 0; k <= 5; ++k) {
      for (const std::int64_t tile : {1, 2, 3, 7}) {
        const Params params{{"m", m}, {"k", k}, {"n", 4}, {"B", tile}, {"Bk", 1 + tile / 2}};
        check_against_run(kMatmul, params);
        const BoundProgram program = bound(assembled(kMatmul), params);
        REQUIRE(count(program, *count_executions(program), {}).flops == 2 * m * k * 4);
      }
    }
  }
}

TEST_CASE("a row of tiles in registers is counted as a run counts it", "[tile_count]") {
  for (std::int64_t m = 0; m <= 4; ++m) {
    for (std::int64_t n = 1; n <= 6; ++n) {
      for (const std::int64_t tile : {1, 2, 3}) {
        check_against_run(kRowSoftmax, {{"m", m}, {"n", n}, {"B", tile}, {"Bk", 4 - tile}});
      }
    }
  }
}

TEST_CASE("flash2 is counted as a run counts it, with and without a mask", "[tile_count]") {
  for (const std::string& keys : {std::string("tiles(k)"), kCausal}) {
    for (const std::int64_t n : {1, 7}) {
      for (const std::int64_t nk : {1, 5, 8}) {
        for (const std::int64_t tile : {1, 3, 8}) {
          for (const std::int64_t width : {2, 3}) {
            check_against_run(
                flash2(keys),
                {{"n", n}, {"nk", nk}, {"d", 3}, {"B", tile}, {"Bd", width}, {"Bk", 1 + nk % 3}});
          }
        }
      }
    }
  }
}

TEST_CASE("random programs on tiles are counted as a run counts them", "[tile_count]") {
  std::size_t runs = 0, closed_forms = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = test::RandomTiles(test::seeded(seed)).text();
    const auto program = assembled(text);
    for (const Params& params : {Params{{"n", 5}, {"m", 4}, {"B", 2}, {"C", 3}},
                                 Params{{"n", 4}, {"m", 6}, {"B", 2}, {"C", 2}},
                                 Params{{"n", 2}, {"m", 3}, {"B", 2}, {"C", 1}}}) {
      const auto source = program->source;
      Binding binding;
      binding.params = params;
      const auto candidate = toy::bind(program, binding);
      if (!candidate || !candidate->tiled) continue;
      const auto run = run_shapes(*candidate);
      if (!run) continue;
      ++runs;
      closed_forms += has_closed_form(*candidate) ? 1 : 0;
      const auto counts = count_executions(*candidate);
      INFO("seed " << seed << ", n " << params.at("n") << "\n" << text);
      REQUIRE(counts);
      REQUIRE(*counts == run->executions);
    }
  }
  INFO(runs << " programs run, " << closed_forms << " of them have closed forms");
  REQUIRE(runs > 200);
  REQUIRE(closed_forms > runs / 2);
}

TEST_CASE("a million queries are counted at once", "[tile_count]") {
  for (const std::string& keys : {std::string("tiles(k)"), kCausal}) {
    for (const std::int64_t tile : {1, 64}) {
      const BoundProgram program = bound(
          assembled(flash2(keys)), {{"n", 1'000'000}, {"nk", 1'000'000}, {"d", 64}, {"B", tile}});
      const auto counts = count_executions(program);
      REQUIRE(counts);
      const Counters counters = count(program, *counts, {});
      REQUIRE(counters.by_array[0].elements_loaded == 64'000'000);
      if (keys == kCausal) continue;
      REQUIRE(counters.by_array[1].elements_loaded == Count(64'000'000) * (1'000'000 / tile));
    }
  }
}

TEST_CASE("what has no closed form is run when it is short, and refused when it is long",
          "[tile_count]") {
  // R0 keeps what the last iteration that ran has left.
  const std::string text =
      ".isa attention\n.param n\n.input a(n, 3) tile (2, 3)\n.output o(n, 1) tile (2, 1)\n"
      "for i in 0..tiles(a)\nFILL 0, R0\nfor j in 0..i\nLOAD a[i][0], R0\nend\nEXP R0, R0\nend\n";
  const BoundProgram few = bound(assembled(text), {{"n", 9}});
  REQUIRE_FALSE(has_closed_form(few));
  const auto counts = count_executions(few);
  REQUIRE(counts);
  REQUIRE(counts->work == run_shapes(few)->executions.work);
  const auto refused = count_executions(bound(assembled(text), {{"n", 1'000'000}}));
  REQUIRE_FALSE(refused);
  REQUIRE(refused.diagnostics[0].fault == Fault::kLimit);
  REQUIRE(refused.diagnostics[0].span.line == 10);
  REQUIRE_THAT(refused.diagnostics[0].what, test::contains("cannot be counted in reasonable time"));
}

const std::vector<std::string> kAttention{"naive",           "fused_softmax",
                                          "three_pass",      "online",
                                          "online_reload",   "flash1",
                                          "flash2",          "split_kv",
                                          "spectrum",        "naive_causal",
                                          "flash1_causal",   "flash2_causal",
                                          "split_kv_causal", "bwd_naive",
                                          "bwd_onepass",     "bwd_twopass",
                                          "bwd_columnwise",  "bwd_no_delta_blocks",
                                          "bwd_rowwise",     "bwd_onepass_causal",
                                          "flash1_launches", "flash1_launches_causal"};

TEST_CASE("attention programs are counted as a run counts them", "[tile_count]") {
  for (const std::string& name : kAttention) {
    for (const test::Size& size : {test::Size{8, 8, 4, 2, 2, 4}, test::Size{7, 5, 3, 3, 2, 2},
                                   test::Size{5, 5, 2, 1, 1, 2}}) {
      INFO(name << ", " << size);
      const BoundProgram program = test::attention_program(name, size);
      const auto run = run_shapes(program);
      const auto counts = count_executions(program);
      REQUIRE(run);
      REQUIRE(counts);
      REQUIRE(*counts == run->executions);
    }
  }
}

}  // namespace
}  // namespace flashlab::toy
