// The formulas of what programs on tiles cost.
#include <map>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "tests/toymachine/execute/random_tiles.hpp"
#include "tests/toymachine/execute/tiled_texts.hpp"
#include "tests/toymachine/programs/attention_program.hpp"
#include "tests/toymachine/random_nest.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::toy {
namespace {

using test::assembled;
using test::bound;
using test::flash2;
using test::kMatmul;
using Params = std::map<std::string, std::int64_t>;

CostFormulas formulas_of(const std::string& text) {
  const auto program = assembled(text);
  auto formulas = cost_formulas(*program);
  INFO(format(formulas.diagnostics, *program->source));
  REQUIRE(formulas);
  return *formulas;
}

/// Every counter, where the formulas hold.
std::size_t compare_tile_formulas(const std::string& text, const CostFormulas& formulas,
                                  const Params& params) {
  const BoundProgram program = bound(assembled(text), params);
  const auto executions = count_executions(program);
  REQUIRE(executions);
  const Counters counters = count(program, *executions, {});
  ParameterValues values(params.begin(), params.end());
  for (const FormulaField& field : formula_fields()) {
    const auto value = evaluate(formulas.total.*field.value, values);
    if (!value) return 0;
    INFO(field.key);
    REQUIRE(*value == counters.*field.count);
  }
  for (std::size_t a = 0; a < program.arrays.size(); ++a) {
    REQUIRE(*evaluate(formulas.total.by_array[a].elements_loaded, values) ==
            counters.by_array[a].elements_loaded);
    REQUIRE(*evaluate(formulas.total.by_array[a].elements_stored, values) ==
            counters.by_array[a].elements_stored);
  }
  return 1;
}

TEST_CASE("a tiled product has the formulas of the books", "[tile_formula]") {
  const CostFormulas formulas = formulas_of(kMatmul);
  CHECK(to_string(formulas.domain) == "B >= 1, Bk >= 1");
  CHECK(to_string(formulas.total.flops) == "2m*k*n");
  CHECK(to_string(formulas.total.loads) == "2*ceil(k/Bk)*ceil(m/B)*ceil(n/B)");
  CHECK(to_string(formulas.total.by_array[0].elements_loaded) == "m*k*ceil(n/B)");
  CHECK(to_string(formulas.total.by_array[1].bytes_loaded) == "4k*n*ceil(m/B)");
  CHECK(to_string(formulas.total.bytes_stored) == "4m*n");
  for (std::int64_t m = 0; m <= 5; ++m) {
    for (const std::int64_t tile : {1, 2, 3}) {
      REQUIRE(compare_tile_formulas(kMatmul, formulas,
                                    {{"m", m}, {"k", 3}, {"n", 4}, {"B", tile}, {"Bk", 2}}));
    }
  }
}

TEST_CASE("flash2 has the formulas of the papers", "[tile_formula]") {
  const std::string text = flash2("tiles(k)");
  const CostFormulas formulas = formulas_of(text);
  CHECK(to_string(formulas.domain) == "d >= 1, nk >= 1, B >= 1, Bd >= 1, Bk >= 1");
  CHECK(to_string(formulas.total.bytes_loaded) == "8d*nk*ceil(n/B) + 4n*d");
  CHECK(to_string(formulas.total.bytes_stored) == "4n*d + 4n");
  CHECK(to_string(formulas.total.exps) == "n*nk + n*ceil(nk/Bk) + n");
  // 4 n nk d in the products; O is rescaled once a key tile, from a scalar at first.
  CHECK(to_string(formulas.total.flops) ==
        "4n*d*nk + n*d*ceil(nk/Bk) + n*d + 3n*nk + n*ceil(d/Bd) + 2n*ceil(nk/Bk) + n");
  std::size_t compared = 0;
  for (const std::int64_t n : {0, 1, 4, 7}) {
    for (const std::int64_t nk : {0, 1, 3, 5}) {
      for (const std::int64_t tile : {1, 2, 4}) {
        for (const std::int64_t width : {1, 2, 3}) {
          compared += compare_tile_formulas(
              text, formulas,
              {{"n", n}, {"nk", nk}, {"d", 3}, {"B", tile}, {"Bd", width}, {"Bk", 1 + nk % 3}});
        }
      }
    }
  }
  REQUIRE(compared > 100);
}

TEST_CASE("attention programs cost what their formulas say", "[tile_formula]") {
  for (const std::string name :
       {"naive", "fused_softmax", "three_pass", "online", "online_reload", "flash1",
        "flash1_launches", "flash2", "naive_causal", "bwd_naive", "bwd_onepass", "bwd_columnwise",
        "bwd_no_delta_blocks", "bwd_rowwise"}) {
    const BoundProgram any = test::attention_program(name, {});
    const auto formulas = cost_formulas(*any.program);
    INFO(name << "\n" << format(formulas.diagnostics, *any.program->source));
    REQUIRE(formulas);
    for (const test::Size& size : {test::Size{8, 8, 4, 2, 2, 4}, test::Size{7, 5, 3, 3, 2, 2},
                                   test::Size{1, 9, 5, 4, 4, 2}}) {
      const Params params{{"n", size.n}, {"nk", size.nk}, {"d", size.d},
                          {"B", size.B}, {"Bk", size.Bk}, {"Bd", size.Bd}};
      REQUIRE(compare_tile_formulas(any.program->source->text(), *formulas, params) == 1);
    }
  }
}

TEST_CASE("formulas of executions alone agree with those of everything", "[tile_formula]") {
  const auto program = assembled(flash2("tiles(k)"));
  const auto all = cost_formulas(*program);
  const auto few = cost_formulas(*program, {}, FormulaScope::kExecutions);
  REQUIRE(all);
  REQUIRE(few);
  CHECK(to_string(few->total.cycles) == to_string(all->total.cycles));
  CHECK(to_string(few->total.loads) == to_string(all->total.loads));
  for (std::size_t site = 0; site < program->num_sites; ++site) {
    CHECK(to_string(few->executions(site)) == to_string(all->executions(site)));
  }
  CHECK_FALSE(few->total.flops.is_known());
  CHECK_FALSE(few->no_work.empty());
}

TEST_CASE("cycles that are charged by element have formulas", "[tile_formula]") {
  CostTable costs;
  REQUIRE(costs.parse("LOAD=100+2/element,MAC=1/flop"));
  const auto formulas = cost_formulas(*assembled(kMatmul), costs);
  REQUIRE(formulas);
  const BoundProgram program =
      bound(assembled(kMatmul), {{"m", 5}, {"k", 4}, {"n", 3}, {"B", 2}, {"Bk", 3}});
  const ParameterValues values{{"m", 5}, {"k", 4}, {"n", 3}, {"B", 2}, {"Bk", 3}};
  REQUIRE(*evaluate(formulas->total.cycles, values) ==
          count(program, *count_executions(program), costs).cycles);
}

TEST_CASE("random programs on tiles cost what their formulas say", "[tile_formula]") {
  std::size_t with_formula = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = test::RandomTiles(test::seeded(seed)).text();
    const auto program = assembled(text);
    const auto formulas = cost_formulas(*program);
    if (!formulas) continue;
    for (std::int64_t n = 0; n <= 5; ++n) {
      for (std::int64_t m = 1; m <= 4; ++m) {
        const Params params{{"n", n}, {"m", m}, {"B", 1 + n % 3}, {"C", 2}};
        Binding binding;
        binding.params = params;
        const auto candidate = toy::bind(program, binding);
        if (!candidate || !run_shapes(*candidate)) continue;
        INFO("seed " << seed << ", n " << n << ", m " << m << "\n" << text);
        with_formula += compare_tile_formulas(text, *formulas, params);
      }
    }
  }
  REQUIRE(with_formula > 20);
}

TEST_CASE("without a formula, the place and the reason are told", "[tile_formula]") {
  const auto refusal = [](const std::string& body) {
    const auto program = assembled(
        ".isa attention\n.param n, k, B\n.input a(n, 3) tile (B, 3)\n"
        ".input b(k, 3) tile (B, 3)\n.output o(n, 1) tile (B, 1)\n" +
        body);
    const auto formulas = cost_formulas(*program);
    REQUIRE(formulas);  // of steps and loads
    CHECK(formulas->total.steps.is_known());
    CHECK(formulas->total.loads.is_known());
    CHECK_FALSE(formulas->total.bytes_loaded.is_known());
    return format(formulas->no_work, *program->source);
  };
  CHECK_THAT(
      refusal("LOAD a[0][0], R0\nLOAD b[0][0], R1\nADD R0, R1, R0\n"),
      test::contains("p.toy:8:1: error: no formula: these tiles do not always fit together"));
  CHECK_THAT(
      refusal("for i in 0..tiles(a)\nFILL 0, R0\nfor j in 0..i\nLOAD a[i][0], R0\nend\n"
              "EXP R0, R0\nend\n"),
      test::contains("no formula: the shapes of the tiles depend on whether an earlier loop runs"));
  CHECK_THAT(refusal("for i in 0..tiles(a)\nLOAD a[i][0], R[i]\nend\nEXP R[k], R0\n"),
             test::contains("no formula: the shape that this register has here"));
}

}  // namespace
}  // namespace flashlab::toy
