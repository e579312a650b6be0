// A program judged step by step, against the solver's total and the plain machine's remainders.
#include "optimal/solve/along.hpp"

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "optimal/solve/plain_search.hpp"
#include "tests/catch_shim.hpp"
#include "tests/optimal/exact_remainders.hpp"
#include "tests/seed.hpp"
#include "tests/source_files.hpp"
#include "tests/toymachine/assembled.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::test::bound;
using flashlab::test::kSourceRoot;
using flashlab::test::read_source;
using flashlab::toy::OperandRule;
namespace toy = flashlab::toy;

Computation product_computation(int rows, int inner, int columns) {
  return {"a product", "", "", MatrixProduct{rows, inner, columns}, {}};
}
Computation of(ValueAlgebra algebra) { return {"a vector", "", "", std::move(algebra), {}}; }

Along judged(const Computation& computation, const AlongMachine& machine, const std::string& text) {
  const toy::BoundProgram program = bound(text);
  auto result = judge_along(computation, machine, program);
  INFO(toy::format(result.diagnostics, *program.program->source));
  REQUIRE(result);
  return std::move(*result);
}

std::string errors(const Computation& computation, const std::string& text) {
  const toy::BoundProgram program = bound(text);
  const auto result = judge_along(computation, {}, program);
  REQUIRE_FALSE(result);
  return toy::format(result.diagnostics, *program.program->source);
}

std::string bundled(const std::string& name) {
  return read_source(kSourceRoot / "toymachine/programs" / (name + ".toy"));
}

std::vector<std::int64_t> losses(const Along& along) {
  std::vector<std::int64_t> result;
  for (const AlongStep& step : along.steps) {
    if (step.lost_cycles != 0) result.push_back(step.lost_cycles);
  }
  return result;
}

const std::string kSmallDeclarations =
    ".isa matmul\n.input a[1][2]\n.input b[2][1]\n.output c[1][1]\n";

/// A program of random legal instructions, and the plain machine's state after each of them.
class RandomWalk {
 public:
  RandomWalk(const MatrixProduct& product, const ProductMachine& machine, unsigned seed)
      : product_(product),
        machine_(machine),
        plain_(product, machine),
        random_(flashlab::test::seeded(seed)) {
    text_ = ".isa matmul\n.operands " +
            std::string(machine.operand_rule == OperandRule::kPinned ? "pinned" : "any") +
            "\n.registers " + std::to_string(machine.registers) + "\n.input a" +
            extents(product.rows, product.inner) + ".input b" +
            extents(product.inner, product.columns) + ".output c" +
            extents(product.rows, product.columns);
    state_ = plain_.initial();
  }

  void walk(int steps) {
    while (static_cast<int>(states_.size()) < steps) step();
  }
  const std::string& text() const { return text_; }
  const std::vector<PlainState>& states() const { return states_; }  // sorted as they must be

 private:
  static std::string extents(int rows, int columns) {
    return "[" + std::to_string(rows) + "][" + std::to_string(columns) + "]\n";
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int registers() const { return machine_.registers; }
  std::uint8_t& at(int r) { return state_.registers[static_cast<std::size_t>(r)]; }
  static std::string name(int r) { return "R" + std::to_string(r); }

  void done(const std::string& line) {
    text_ += line + "\n";
    states_.push_back(plain_.normal(state_));
  }

  void step() {
    const int kind = below(4);
    if (kind == 0) {
      const int input = below(product_.num_inputs()), r = below(registers());
      at(r) = plain_.value_of_input(input);
      done("LOAD " + product_.input_name(input) + ", " + name(r));
    } else if (kind == 1) {
      store();
    } else {
      multiply();
    }
  }

  /// A finished sum where it belongs.
  void store() {
    const unsigned all = (1U << product_.inner) - 1;
    for (int r = 0; r < registers(); ++r) {
      for (int output = 0; output < product_.num_outputs(); ++output) {
        if (at(r) != plain_.value_of_sum(output, all)) continue;
        state_.stored |= std::uint64_t{1} << (at(r) - plain_.value_of_sum(0, 1));
        done("STORE " + name(r) + ", " + product_.output_name(output));
        return;
      }
    }
  }

  /// A term of the product whose factors are there; to nothing, or to a sum that lacks it.
  void multiply() {
    const int term = below(product_.num_terms()), output = product_.output_of(term);
    const unsigned bit = 1U << (term % product_.inner);
    const std::uint8_t a = plain_.value_of_input(product_.factor_a(term));
    const std::uint8_t b = plain_.value_of_input(product_.factor_b(term));
    const bool pinned = machine_.operand_rule == OperandRule::kPinned;
    const int factors = pinned ? 2 : registers();
    for (int x = 0; x < factors; ++x) {
      for (int y = 0; y < factors; ++y) {
        if (pinned && x > y) continue;
        if (!((at(x) == a && at(y) == b) || (at(x) == b && at(y) == a))) continue;
        const int to = below(registers()), from = below(registers());
        const std::string operands = name(x) + ", " + name(y) + ", ";
        for (unsigned terms = 1; terms < 1U << product_.inner; ++terms) {
          if ((terms & bit) != 0 || at(from) != plain_.value_of_sum(output, terms)) continue;
          at(to) = plain_.value_of_sum(output, terms | bit);
          return done("MAC " + operands + name(from) + ", " + name(to));
        }
        at(to) = plain_.value_of_sum(output, bit);
        return done("MAC_Z " + operands + name(to));
      }
    }
  }

  MatrixProduct product_;
  ProductMachine machine_;
  PlainMachine plain_;
  std::mt19937 random_;
  std::string text_;
  PlainState state_;
  std::vector<PlainState> states_;
};

}  // namespace

TEST_CASE("at every step of a cheapest program the optimum can still be reached") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto [computation, registers, spills] =
      GENERATE(std::tuple(product_computation(2, 2, 2), 3, false),
               std::tuple(product_computation(2, 2, 2), 5, false),
               std::tuple(product_computation(2, 2, 2), 3, true),
               std::tuple(product_computation(2, 3, 2), 6, false));
  toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=9,STORE=2")));
  const Answer answer =
      solve(*computation.product(), {registers, rule, spills, product_costs(costs)});
  REQUIRE(answer.verdict == Verdict::kOptimal);
  INFO(answer.program->text);
  const Along along = judged(computation, {registers, rule, spills, costs}, answer.program->text);
  CHECK(along.optimum == Remainder{true, true, answer.lower_cycles});
  for (const AlongStep& step : along.steps) CHECK(step.total() == answer.lower_cycles);
  CHECK(along.still_optimal() == along.steps.size());
  CHECK(along.is_finished);
}

TEST_CASE("at every step of a cheapest program for a vector the optimum can still be reached") {
  const auto [algebra, registers] =
      GENERATE(std::tuple(vector_sum(4), 2), std::tuple(vector_maximum(3), 3),
               std::tuple(safe_softmax(2), 3), std::tuple(safe_softmax(3), 4));
  const Answer answer = solve(algebra, {registers, {}});
  REQUIRE(answer.verdict == Verdict::kOptimal);
  INFO(answer.program->text);
  const Along along =
      judged(of(algebra), {registers, OperandRule::kAny, false, {}}, answer.program->text);
  CHECK(along.optimum.cycles == answer.lower_cycles);
  for (const AlongStep& step : along.steps) CHECK(step.total() == answer.lower_cycles);
  CHECK(along.is_finished);
}

TEST_CASE("what remains after any legal steps is what the plain machine says") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto [shape, registers] =
      GENERATE(std::tuple(MatrixProduct{2, 2, 2}, 3), std::tuple(MatrixProduct{1, 2, 2}, 3),
               std::tuple(MatrixProduct{2, 1, 2}, 3), std::tuple(MatrixProduct{1, 3, 1}, 4));
  const ProductMachine machine{registers, rule, false, {}};
  const PlainMachine plain(shape, machine);
  const flashlab::test::ExactRemainders exact(plain, {plain.initial()});
  for (unsigned seed = 0; seed < 12; ++seed) {
    RandomWalk walk(shape, machine, seed);
    walk.walk(60);
    INFO(walk.text());
    const Along along = judged({"", "", "", shape, {}}, {registers, rule, false, {}}, walk.text());
    std::int64_t before = along.optimum.cycles;
    for (std::size_t i = 0; i < along.steps.size(); ++i) {
      const AlongStep& step = along.steps[i];
      REQUIRE(step.remaining == Remainder{true, true, exact.of(walk.states()[i])});
      REQUIRE(*step.total() == before + step.lost_cycles);
      before = *step.total();
    }
  }
}

TEST_CASE("the bundled 2 x 2 products end at their known costs, and lose them where they do") {
  const auto [name, rule, registers, optimum, cycles, lost] = GENERATE(
      std::tuple("matmul_inner", OperandRule::kPinned, 3, 25, 25, std::vector<std::int64_t>{}),
      std::tuple("matmul_outer", OperandRule::kPinned, 6, 22, 22, std::vector<std::int64_t>{}),
      std::tuple("matmul_inner_6_registers", OperandRule::kAny, 6, 20, 20,
                 std::vector<std::int64_t>{}));
  CAPTURE(name);
  const Along along =
      judged(product_computation(2, 2, 2), {registers, rule, false, {}}, bundled(name));
  CHECK(along.optimum.cycles == optimum);
  CHECK(along.steps.back().total() == cycles);
  CHECK(along.is_finished);
  CHECK(losses(along) == lost);
}

TEST_CASE("a load that nobody needs costs its cycles, and is where the optimum is lost") {
  const Along along = judged(product_computation(1, 2, 1), {4, OperandRule::kAny, false, {}},
                             kSmallDeclarations +
                                 "LOAD a[0][0], R0\nLOAD b[0][0], R1\nLOAD a[0][0], R3\n"
                                 "MAC_Z R0, R1, R2\n");
  CHECK(losses(along) == std::vector<std::int64_t>{1});
  CHECK(along.steps[2].lost_cycles == 1);
  CHECK(along.still_optimal() == 2);
  CHECK_FALSE(along.is_finished);
  CHECK(along.steps.back().remaining == Remainder{true, true, 4});
}

TEST_CASE("a wrong value is of no use, whatever it was made of") {
  const Along along = judged(product_computation(1, 2, 1), {3, OperandRule::kAny, false, {}},
                             kSmallDeclarations +
                                 "LOAD a[0][0], R0\nLOAD b[1][0], R1\nMAC_Z R0, R1, R2\n"
                                 "STORE R2, c[0][0]\n");
  CHECK(losses(along) == std::vector<std::int64_t>{1, 1});
  CHECK_FALSE(along.is_finished);
}

TEST_CASE("an output that is overwritten has to be made again") {
  const Along along =
      judged(of(vector_sum(2)), {2, OperandRule::kAny, false, {}},
             ".isa softmax\n.registers 2\n.input x[2]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\n"
             "ADD R1, R0, R0\nSTORE R0, o[0]\nSTORE R1, o[0]\n");
  CHECK(along.steps[3].remaining.cycles == 0);
  CHECK(along.steps[4].remaining == Remainder{true, true, 1});
  CHECK(along.steps[4].lost_cycles == 2);
}

TEST_CASE("a value that is made in another way than the algebra's counts all the same") {
  const Along along =
      judged(of(vector_sum(2)), {3, OperandRule::kAny, false, {}},
             ".isa attention\n.registers 3\n.input x[2]\n.output o[1]\nLOAD x[0], R0\n"
             "LOAD x[1], R1\nFILL 2, R2\nMUL R0, R2, R2\nADD R2, R1, R1\nSUB R1, R0, R0\n");
  CHECK(along.steps.back().remaining == Remainder{true, true, 1});
}

TEST_CASE("with too few registers no step has a completion") {
  const Along along = judged(product_computation(1, 2, 1), {2, OperandRule::kAny, false, {}},
                             kSmallDeclarations + "LOAD a[0][0], R0\n");
  CHECK_FALSE(along.optimum.is_possible);
  CHECK_FALSE(along.steps.front().total());
  CHECK_FALSE(along.still_optimal());
}

TEST_CASE("a search that may not end gives a lower bound and proves nothing") {
  SolveLimits limits;
  limits.max_seconds = 0;
  const auto along = judge_along(product_computation(2, 2, 2), {3, OperandRule::kAny, false, {}},
                                 bound(bundled("matmul_inner")), limits);
  REQUIRE(along);
  CHECK_FALSE(along->optimum.is_proved);
  CHECK(along->optimum.cycles >= 20);
  CHECK(along->optimum.cycles <= 25);
  CHECK_FALSE(along->still_optimal());
  CHECK(along->is_finished);  // at the end nothing is left to search
}

TEST_CASE("a program with other arrays than the computation's is refused") {
  CHECK_THAT(errors(product_computation(2, 2, 2), kSmallDeclarations + "LOAD a[0][0], R0\n"),
             Catch::Matchers::Contains(".input a[2][2]"));
  CHECK_THAT(
      errors(of(vector_sum(2)), ".isa softmax\n.input x[2]\n.output out[1]\nLOAD x[0], R0\n"),
      Catch::Matchers::Contains("no array 'o'"));
}

TEST_CASE("a product's arrays are called as its frame says") {
  Computation computation = product_computation(1, 2, 1);
  computation.frame = {"matmul",
                       {".input  x[2]", ".input  y[2]", ".output z[1]"},
                       {"x[0]", "x[1]", "y[0]", "y[1]"},
                       {"z[0]"}};
  const Along along = judged(computation, {3, OperandRule::kAny, false, {}},
                             ".isa matmul\n.input x[2]\n.input y[2]\n.output z[1]\n"
                             "LOAD x[1], R0\nLOAD y[1], R1\nMAC_Z R0, R1, R2\n");
  CHECK(along.optimum.cycles == 7);
  CHECK(along.steps.back().remaining == Remainder{true, true, 4});
}

TEST_CASE("a result that was stored may be loaded again where it is needed") {
  const ValueAlgebra algebra = online_statistics(2);
  const Answer answer = solve(algebra, {3, {}});
  REQUIRE(answer.verdict == Verdict::kOptimal);
  const std::string text = answer.program->text + "LOAD " + algebra.frame.output_cells[0] +
                           ", R0\nSTORE R0, " + algebra.frame.output_cells[0] + "\n";
  const Along along = judged(of(algebra), {3, OperandRule::kAny, false, {}}, text);
  CHECK(along.is_finished);
  CHECK(along.steps.back().total() == answer.lower_cycles + 2);
  CHECK(losses(along) == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("what a program stored itself may be loaded only where spills are allowed") {
  const std::string text = kSmallDeclarations +
                           "LOAD a[0][0], R0\nLOAD b[0][0], R1\nMAC_Z R0, R1, R2\n"
                           "STORE R2, c[0][0]\nLOAD c[0][0], R2\n";
  CHECK_THAT(errors(product_computation(1, 2, 1), text), Catch::Matchers::Contains("p.toy:9:6"));
  const Along along = judged(product_computation(1, 2, 1), {3, OperandRule::kAny, true, {}}, text);
  CHECK(losses(along) == std::vector<std::int64_t>{1, 1});
}
