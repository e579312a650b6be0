#include "toymachine/count/cost_formula.hpp"

#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/random_nest.hpp"

namespace flashlab::toy {
namespace {

std::string program_text(const std::string& declarations, const std::vector<std::string>& loops) {
  std::string text = ".isa softmax\n.registers 2\n" + declarations + "\n";
  for (const std::string& loop : loops) text += loop + "\n";
  text += "MOV R0, R1\n";
  for (std::size_t i = 0; i < loops.size(); ++i) text += "end\n";
  return text;
}

struct Answer {
  std::string formula, domain;
  bool operator==(const Answer&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << answer.formula << " on " << answer.domain;
}

/// Executions of one instruction inside the loops.
Answer formula_of_executions(const std::string& declarations,
                             const std::vector<std::string>& loops) {
  const auto program = test::assembled(program_text(declarations, loops));
  const auto formulas = cost_formulas(*program);
  INFO(format(formulas.diagnostics, *program->source));
  REQUIRE(formulas);
  return {to_string(formulas->executions(0)), to_string(formulas->domain)};
}

std::string refusal(const std::string& declarations, const std::vector<std::string>& loops) {
  const auto program = test::assembled(program_text(declarations, loops));
  const auto formulas = cost_formulas(*program);
  REQUIRE_FALSE(formulas);
  REQUIRE(formulas.diagnostics[0].span.line > 0);
  return format(formulas.diagnostics, *program->source);
}

CostFormulas of_bundled(const std::string& name) {
  const BoundProgram program = test::bundled(name);
  auto formulas = cost_formulas(*program.program);
  INFO(format(formulas.diagnostics, *program.program->source));
  REQUIRE(formulas);
  return *formulas;
}

TEST_CASE("safe softmax costs 11n - 1 cycles, 3n loads and n stores") {
  const CostFormulas formulas = of_bundled("softmax_safe");
  REQUIRE(to_string(formulas.domain) == "n >= 1");
  REQUIRE(to_string(formulas.total.cycles) == "11n - 1");
  REQUIRE(to_string(formulas.total.steps) == "11n - 1");
  REQUIRE(to_string(formulas.total.loads) == "3n");
  REQUIRE(to_string(formulas.total.stores) == "n");
  REQUIRE(to_string(formulas.total.exps) == "2n");
  REQUIRE(to_string(formulas.total.bytes_loaded) == "12n");
}

TEST_CASE("online softmax costs 14n - 4 cycles, 2n loads and n stores") {
  const CostFormulas formulas = of_bundled("softmax_online");
  REQUIRE(to_string(formulas.domain) == "n >= 1");
  REQUIRE(to_string(formulas.total.cycles) == "14n - 4");
  REQUIRE(to_string(formulas.total.loads) == "2n");
  REQUIRE(to_string(formulas.total.stores) == "n");
}

TEST_CASE("the passes of a program have formulas that add up to the total") {
  const CostFormulas formulas = of_bundled("softmax_safe");
  Formula sum = formulas.by_pass[0].cycles;
  for (std::size_t pass = 1; pass < formulas.by_pass.size(); ++pass) {
    sum = sum + formulas.by_pass[pass].cycles;
  }
  REQUIRE(equivalent(sum, formulas.total.cycles));
  for (const CounterFormulas& pass : formulas.by_pass) {
    REQUIRE((pass.steps.is_zero() || to_string(pass.loads) == "n"));
  }
}

TEST_CASE("blocked matmul's loads depend on the block and on nothing else") {
  const CostFormulas formulas = of_bundled("matmul_blocked");
  REQUIRE(to_string(formulas.total.loads) == "m*k*ceil(n/cols) + k*n*ceil(m/rows)");
  REQUIRE(to_string(formulas.total.stores) == "m*n");
  REQUIRE(to_string(formulas.total.flops) == "2m*k*n");
  REQUIRE_THAT(to_string(formulas.domain), test::contains("rows >= 1"));
  REQUIRE(to_string(formulas.total.by_array[0].elements_loaded) == "m*k*ceil(n/cols)");
}

TEST_CASE("the loads at which three and four registers cost the same") {
  const CostTable costs;
  const std::size_t load = *find_instruction("LOAD");
  const auto pieces =
      crossing_cost(of_bundled("softmax_safe"), of_bundled("softmax_online"), costs, load);
  REQUIRE(pieces.size() == 1);
  REQUIRE(to_string(pieces[0]) == "4 - 3/n");
}

TEST_CASE("cycles follow the cost table") {
  const BoundProgram program = test::bundled("softmax_safe");
  CostTable costs;
  REQUIRE(costs.parse("LOAD=100"));
  const auto formulas = cost_formulas(*program.program, costs);
  REQUIRE(formulas);
  REQUIRE(to_string(formulas->total.cycles) == "308n - 1");
}

TEST_CASE("named nests have the formulas of the books") {
  const std::string n = ".param n";
  const std::string nm = ".param n, m";
  const std::string nB = ".param n, B";
  const std::string everywhere;
  REQUIRE(formula_of_executions(n, {"for i in 0..n"}) == Answer{"n", everywhere});
  REQUIRE(formula_of_executions(nm, {"for i in 0..n", "for j in 0..m"}) ==
          Answer{"n*m", everywhere});
  REQUIRE(formula_of_executions(n, {"for i in 0..n", "for j in 0..i+1"}) ==
          Answer{"(n^2 + n)/2", everywhere});
  REQUIRE(formula_of_executions(n, {"for i in 0..n", "for j in i..n", "for k in j..n"}) ==
          Answer{"(n^3 + 3n^2 + 2n)/6", everywhere});
  REQUIRE(formula_of_executions(nB, {"for i in 0..n step B"}) == Answer{"ceil(n/B)", "B >= 1"});
  REQUIRE(formula_of_executions(nB, {"for b in 0..n step B", "for i in b..min(b+B, n)"}) ==
          Answer{"n", "B >= 1"});
  REQUIRE(formula_of_executions(nB, {"for b in 0..n step B", "for i in b+1..min(b+B, n)"}) ==
          Answer{"n - ceil(n/B)", "B >= 1"});
  REQUIRE(formula_of_executions(n, {"for b in 0..n step 64", "for i in b..min(b+64, n)",
                                    "for j in 0..i+1"}) == Answer{"(n^2 + n)/2", everywhere});
  REQUIRE(formula_of_executions(n, {"for i in 0..n", "for j in 0..n-2*i"}) ==
          Answer{"(n^2 + 3n - 2*floor(n/2))/4", everywhere});
}

TEST_CASE("ranges that may be empty give pieces") {
  REQUIRE(formula_of_executions(".param n", {"for i in 1..n"}).formula ==
          "n - 1 for n >= 1; 0 for n = 0");
  REQUIRE(formula_of_executions(".param n", {"for i in 3..n"}).formula ==
          "n - 3 for n >= 3; 0 for n <= 2");
  REQUIRE(formula_of_executions(".param n, m", {"for i in 0..min(n, m)"}).formula ==
          "n for m >= n; m for n > m");
  REQUIRE(formula_of_executions(".param n, m", {"for i in 0..m", "for j in i..n"}).formula ==
          "(2n*m - m^2 + m)/2 for n >= m; (n^2 + n)/2 for m > n");
  REQUIRE(
      formula_of_executions(".param n, w", {"for i in 0..n", "for j in max(0, i-w)..min(n, i+w+1)"})
          .formula == "n^2 for w >= n; 2n*w - w^2 + n - w for n > w");
}

TEST_CASE("causal tiles of any size have one formula") {
  const Answer answer = formula_of_executions(
      ".param n, B", {"for I in 0..ceildiv(n, B)", "for J in 0..I+1", "for i in I*B..min(I*B+B, n)",
                      "for j in J*B..min(J*B+B, n)"});
  REQUIRE(answer.domain == "B >= 1");
  REQUIRE(answer.formula == "(B^2*ceil(n/B)^2 - 2n*B*ceil(n/B) - B^2*ceil(n/B) + 2n^2 + 2n*B)/2");
}

TEST_CASE("the domain asks for cells, extents and divisors to make sense") {
  const auto domain = [](const std::string& text) {
    const auto formulas = cost_formulas(*test::assembled(text));
    REQUIRE(formulas);
    return to_string(formulas->domain);
  };
  REQUIRE(domain(".param n\n.input x[n]\nLOAD x[2], R0\n") == "n >= 3");
  REQUIRE(domain(".param n\n.input x[n - 4]\nMOV R0, R0\n") == "n >= 4");
  REQUIRE(domain(".param n\n.input x[n]\nfor i in 0..n\nLOAD x[i], R0\nend\n").empty());
  REQUIRE(domain(".param n, p, q\nfor i in 0..ceildiv(n, p*q)\nMOV R0, R0\nend\n") ==
          "p >= 1, q >= 1");
}

TEST_CASE("what has no closed form is refused with its place") {
  REQUIRE_THAT(refusal(".param n", {"for i in 0..floor(sqrt(n))"}),
               test::contains("'sqrt(n)' is not a polynomial"));
  REQUIRE_THAT(refusal(".param n", {"for i in 0..n/2"}), test::contains("whole number"));
  REQUIRE_THAT(refusal(".param n, m, B, C", {"for I in 0..n", "for J in 0..ceildiv(I*B, C)"}),
               test::contains("range of 'J'"));
}

TEST_CASE("formula fields are the counters, in their order") {
  const auto& descriptions = counter_descriptions();
  REQUIRE(formula_fields().size() == descriptions.size());
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    REQUIRE(std::string(formula_fields()[i].key) == descriptions[i].key);
    REQUIRE((formula_fields()[i].count == descriptions[i].value));
  }
}

/// Formulas against the counts of programs with numbers for parameters.
void compare_formulas(const Program& program, const CostFormulas& formulas,
                      const ParameterValues& params) {
  const BoundProgram numbers = test::bound(std::make_shared<const Program>(program), params);
  const auto executed = count_executions(numbers);
  REQUIRE(executed);
  for (std::size_t site = 0; site < executed->times.size(); ++site) {
    INFO("site " << site << ": " << to_string(formulas.executions(site)));
    REQUIRE(evaluate(formulas.executions(site), params) == executed->times.at(site));
  }
}

TEST_CASE("formulas of random nests agree with counts on the whole grid of parameters") {
  int with_formula = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = test::RandomNest(seed, true).text();
    const auto program = test::assembled(text);
    const auto formulas = cost_formulas(*program);
    if (!formulas) continue;
    ++with_formula;
    for (std::int64_t n = 0; n <= 9; n += 3) {
      for (std::int64_t m = 0; m <= 7; ++m) {
        INFO("seed " << seed << ", n " << n << ", m " << m << "\n" << text);
        compare_formulas(*program, *formulas, {{"n", n}, {"m", m}, {"B", 1 + (n + m) % 4}});
      }
    }
  }
  REQUIRE(with_formula > 30);
}

TEST_CASE("formulas of bundled programs agree with counts") {
  for (const char* name : {"softmax_safe", "softmax_online", "matmul_naive", "matmul_blocked"}) {
    const BoundProgram program = test::bundled(name);
    const CostFormulas formulas = of_bundled(name);
    ParameterValues params;
    for (std::size_t i = 0; i < program.params.size(); ++i) {
      params[program.program->params[i].name] = program.params[i];
    }
    compare_formulas(*program.program, formulas, params);
  }
}

}  // namespace
}  // namespace flashlab::toy
