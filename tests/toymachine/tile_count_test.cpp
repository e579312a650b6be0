// What programs on tiles cost, without running them.
#include <map>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/attention_program.hpp"
#include "tests/toymachine/random_nest.hpp"
#include "tests/toymachine/random_tiles.hpp"
#include "toymachine/cost_formula.hpp"
#include "toymachine/counters.hpp"
#include "toymachine/detail/shape_inference.hpp"
#include "toymachine/interpreter.hpp"

namespace flashlab::toy {
namespace {

using test::assembled;
using test::bound;
using Params = std::map<std::string, std::int64_t>;

const std::string kMatmul =
    ".isa attention\n.param m, k, n, B, Bk = B\n"
    ".input a(m, k) tile (B, Bk)\n.input b(k, n) tile (Bk, B)\n.output c(m, n) tile (B, B)\n"
    "for i in 0..tiles(a)\nfor j in 0..tiles(b, 1)\nFILL 0, R2\nfor l in 0..tiles(a, 1)\n"
    "LOAD a[i][l], R0\nLOAD b[l][j], R1\nMAC R0, R1, R2, R2\nend\nSTORE R2, c[i][j]\nend\nend\n";

const std::string kRowSoftmax =
    ".isa attention\n.param m = 7, k = 5, n, B, Bk = 2\n.input x(m, n) tile (B, Bk)\n"
    ".output y(m, n) tile (B, Bk)\n.reg X[tiles(x, 1)], M, L, A\n"
    "for i in 0..tiles(x)\nFILL -inf, M\nFILL 0, L\nfor j in 0..tiles(x, 1)\nLOAD x[i][j], X[j]\n"
    "ROWMAX X[j], A\nMAX M, A, M\nend\nfor j in 0..tiles(x, 1)\nSUB X[j], M, X[j]\n"
    "EXP X[j], X[j]\nROWSUM X[j], A\nADD L, A, L\nend\nfor j in 0..tiles(x, 1)\n"
    "DIV X[j], L, X[j]\nSTORE X[j], y[i][j]\nend\nend\n";

/// flash2, keys up to `last_tile` for query tile i.
std::string flash2(const std::string& last_tile) {
  const bool causal = last_tile != "tiles(k)";
  return ".isa attention\n.param n, d, nk, B, Bd = d, Bk = B\n.reg Q[tiles(q, 1)], "
         "O[tiles(q, 1)], M, L, S, K, A, X\n.input q(n, d) tile (B, Bd)\n"
         ".input k(nk, d) tile (Bk, Bd)\n.input v(nk, d) tile (Bk, Bd)\n"
         ".output o(n, d) tile (B, Bd)\n.output lse(n, 1) tile (B, 1)\n"
         "for i in 0..tiles(q)\nFILL 1, X\nfor c in 0..tiles(q, 1)\nLOAD q[i][c], Q[c]\n"
         "MUL Q[c], X, Q[c]\nFILL 0, O[c]\nend\nFILL -inf, M\nFILL 0, L\n"
         "for j in 0.." +
         last_tile +
         "\nFILL 0, S\nfor c in 0..tiles(q, 1)\nLOAD k[j][c], K\nMAC Q[c], K^T, S, S\nend\n" +
         (causal ? "MASK S, i*B, j*Bk, S\n" : "") +
         "ROWMAX S, X\nMOV M, A\nMAX M, X, M\nSUB A, M, A\nEXP A, A\nSUB S, M, S\nEXP S, S\n"
         "ROWSUM S, X\nMUL L, A, L\nADD L, X, L\nfor c in 0..tiles(v, 1)\nLOAD v[j][c], K\n"
         "MUL O[c], A, O[c]\nMAC S, K, O[c], O[c]\nend\nend\nfor c in 0..tiles(o, 1)\n"
         "DIV O[c], L, O[c]\nSTORE O[c], o[i][c]\nend\nLOG L, L\nADD M, L, L\nSTORE L, "
         "lse[i][0]\nend\n";
}

const std::string kCausal = "ceildiv(min(n, nk, i*B + B), Bk)";

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
    const std::string text = test::RandomTiles(seed).text();
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

const std::vector<std::string> kAttention{
    "naive",           "fused_softmax",     "three_pass",
    "online",          "online_reload",     "flash1",
    "flash2",          "split_kv",          "spectrum",
    "naive_causal",    "flash1_causal",     "flash2_causal",
    "split_kv_causal", "bwd_naive",         "bwd_onepass",
    "bwd_twopass",     "bwd_columnwise",    "bwd_no_delta_blocks",
    "bwd_rowwise",     "bwd_onepass_causal"};

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

// Formulas --------------------------------------------------------------------------------------

CostFormulas formulas_of(const std::string& text) {
  const auto program = assembled(text);
  auto formulas = cost_formulas(*program);
  INFO(format(formulas.diagnostics, *program->source));
  REQUIRE(formulas);
  return *formulas;
}

/// Every counter, where the formulas hold.
std::size_t compare(const std::string& text, const CostFormulas& formulas, const Params& params) {
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

TEST_CASE("a tiled product has the formulas of the books", "[tile_count]") {
  const CostFormulas formulas = formulas_of(kMatmul);
  CHECK(to_string(formulas.domain) == "B >= 1, Bk >= 1");
  CHECK(to_string(formulas.total.flops) == "2m*k*n");
  CHECK(to_string(formulas.total.loads) == "2*ceil(k/Bk)*ceil(m/B)*ceil(n/B)");
  CHECK(to_string(formulas.total.by_array[0].elements_loaded) == "m*k*ceil(n/B)");
  CHECK(to_string(formulas.total.by_array[1].bytes_loaded) == "4k*n*ceil(m/B)");
  CHECK(to_string(formulas.total.bytes_stored) == "4m*n");
  for (std::int64_t m = 0; m <= 5; ++m) {
    for (const std::int64_t tile : {1, 2, 3}) {
      REQUIRE(compare(kMatmul, formulas, {{"m", m}, {"k", 3}, {"n", 4}, {"B", tile}, {"Bk", 2}}));
    }
  }
}

TEST_CASE("flash2 has the formulas of the papers", "[tile_count]") {
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
          compared += compare(
              text, formulas,
              {{"n", n}, {"nk", nk}, {"d", 3}, {"B", tile}, {"Bd", width}, {"Bk", 1 + nk % 3}});
        }
      }
    }
  }
  REQUIRE(compared > 100);
}

TEST_CASE("attention programs cost what their formulas say", "[tile_count]") {
  for (const std::string name : {"naive", "fused_softmax", "three_pass", "online", "online_reload",
                                 "flash1", "flash2", "naive_causal", "bwd_naive", "bwd_onepass",
                                 "bwd_columnwise", "bwd_no_delta_blocks", "bwd_rowwise"}) {
    const BoundProgram any = test::attention_program(name, {});
    const auto formulas = cost_formulas(*any.program);
    INFO(name << "\n" << format(formulas.diagnostics, *any.program->source));
    REQUIRE(formulas);
    for (const test::Size& size : {test::Size{8, 8, 4, 2, 2, 4}, test::Size{7, 5, 3, 3, 2, 2},
                                   test::Size{1, 9, 5, 4, 4, 2}}) {
      const Params params{{"n", size.n}, {"nk", size.nk}, {"d", size.d},
                          {"B", size.B}, {"Bk", size.Bk}, {"Bd", size.Bd}};
      REQUIRE(compare(any.program->source->text(), *formulas, params) == 1);
    }
  }
}

TEST_CASE("cycles that are charged by element have formulas", "[tile_count]") {
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

TEST_CASE("random programs on tiles cost what their formulas say", "[tile_count]") {
  std::size_t with_formula = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = test::RandomTiles(seed).text();
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
        with_formula += compare(text, *formulas, params);
      }
    }
  }
  REQUIRE(with_formula > 20);
}

TEST_CASE("without a formula, the place and the reason are told", "[tile_count]") {
  const auto refusal = [](const std::string& body) {
    const auto program = assembled(
        ".isa attention\n.param n, k, B\n.input a(n, 3) tile (B, 3)\n"
        ".input b(k, 3) tile (B, 3)\n.output o(n, 1) tile (B, 1)\n" +
        body);
    const auto formulas = cost_formulas(*program);
    REQUIRE_FALSE(formulas);
    return format(formulas.diagnostics, *program->source);
  };
  CHECK_THAT(refusal("LOAD a[0][0], R0\nLOAD b[0][0], R1\nADD R0, R1, R0\n"),
             test::contains("p.toy:8:1: error: no formula: these tiles need not go together"));
  CHECK_THAT(refusal("for i in 0..tiles(a)\nFILL 0, R0\nfor j in 0..i\nLOAD a[i][0], R0\nend\n"
                     "EXP R0, R0\nend\n"),
             test::contains("no formula: the tiles have other shapes when a loop before has run"));
  CHECK_THAT(refusal("for i in 0..tiles(a)\nLOAD a[i][0], R[i]\nend\nEXP R[k], R0\n"),
             test::contains("no formula: the shape that this register has here"));
}

}  // namespace
}  // namespace flashlab::toy
