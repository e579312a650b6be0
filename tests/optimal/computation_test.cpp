// Computations by name and from programs: their values, their operations, and their best programs.
#include "optimal/problem/computation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "optimal/problem/decomposition.hpp"
#include "optimal/problem/value_closure.hpp"
#include "optimal/solve/plain_search.hpp"
#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/forms/form_algebra.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
namespace toy = flashlab::toy;

Computation computation_named(const std::string& name) {
  auto computation = named_computation(name);
  REQUIRE(computation);
  return std::move(*computation);
}

/// A program's computation, in its own arrays.
toy::Result<Computation> stated(const std::string& text) {
  const toy::BoundProgram bound = flashlab::test::bound(text);
  StatedProgram program{"it", "What it computes", {}, {}, bound, {}};
  program.instructions = {bound.program->level, bound.program->extra_instructions};
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role == toy::ArrayRole::kTemp) continue;
    std::string line = array.role == toy::ArrayRole::kInput ? ".input " : ".output ";
    line += array.name;
    for (const std::int64_t extent : array.extents) line += "[" + std::to_string(extent) + "]";
    program.declarations.push_back(line);
  }
  return stated_computation(program);
}

/// What the outputs are, by cell, over the inputs.
std::map<std::string, toy::NormalForm> outputs_of(const std::string& text) {
  const toy::BoundProgram bound = flashlab::test::bound(text);
  const auto unrolled = toy::unroll(bound, 10'000);
  REQUIRE(unrolled);
  const auto run = toy::run_normal(bound, *unrolled);
  REQUIRE(run);
  std::map<std::string, toy::NormalForm> result;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      const toy::NormalForm& form = run->dram[static_cast<std::size_t>(array.offset + i)];
      if (form.is_written()) result[array.name + std::to_string(i)] = form;
    }
  }
  return result;
}

/// The same in numbers.
std::vector<double> run_numbers(const std::string& text, const std::vector<double>& inputs) {
  const toy::BoundProgram bound = flashlab::test::bound(text);
  std::vector<double> dram(static_cast<std::size_t>(bound.dram_elements),
                           std::numeric_limits<double>::quiet_NaN());
  std::copy(inputs.begin(), inputs.end(), dram.begin());
  REQUIRE(toy::run(bound, dram));
  return {dram.begin() + static_cast<std::ptrdiff_t>(inputs.size()), dram.end()};
}

/// What each value is where the cells hold random numbers.
std::vector<double> evaluated_at(const ValueAlgebra& algebra, double seed) {
  std::vector<double> result;
  for (const toy::NormalForm& form : algebra.forms) {
    result.push_back(toy::value_at(form, [&](const std::string& array, const auto& indices) {
      double phase = seed;
      for (const char c : array) phase = 1.7 * phase + c;
      for (const std::int64_t index : indices) phase = 2.3 * phase + static_cast<double>(index);
      return 1.5 * std::sin(phase);
    }));
  }
  return result;
}

const char* const kSmallNames[] = {"sum:3",    "max:3",    "softmax:2",   "softmax:3",
                                   "online:2", "online:3", "attention:1", "attention:2",
                                   "merge:1",  "merge:2"};

}  // namespace

TEST_CASE("every operation of a computation makes the value that it says") {
  for (const char* name : kSmallNames) {
    const Computation computation = computation_named(name);
    const ValueAlgebra& algebra = *computation.algebra();
    REQUIRE(algebra.forms.size() == static_cast<std::size_t>(algebra.num_values));
    CHECK_FALSE(computation.allowed.empty());
    for (double seed = 1; seed < 20; ++seed) {
      const std::vector<double> values = evaluated_at(algebra, seed);
      for (const ValueOperation& operation : algebra.operations) {
        const double made = values[static_cast<std::size_t>(operation.result)];
        if (!operation.constant.empty()) {
          CHECK(std::abs(std::stod(operation.constant) - made) < 1e-12);
          continue;
        }
        std::vector<double> operands;
        for (const int operand : operation.operands) {
          if (operand != kNoValue) operands.push_back(values[static_cast<std::size_t>(operand)]);
        }
        INFO(name << ": " << operation.mnemonic << " makes "
                  << to_string(algebra.forms[static_cast<std::size_t>(operation.result)]));
        const std::size_t row = *toy::find_instruction(operation.mnemonic);
        REQUIRE(std::abs(toy::numeric_effect(row, operands) - made) < 1e-9);
      }
    }
  }
}

TEST_CASE("all instructions between the values of a softmax are there, whichever order is tried") {
  const ValueAlgebra algebra = safe_softmax(2);
  std::set<std::tuple<std::string, int, int, int>> known;
  for (const ValueOperation& operation : algebra.operations) {
    const auto [a, b, c] = operation.operands;
    known.insert({std::string(operation.mnemonic), a, b, operation.result});
    if (operation.mnemonic != "SUB" && operation.mnemonic != "DIV") {
      known.insert({std::string(operation.mnemonic), b, a, operation.result});
    }
  }
  std::vector<std::vector<double>> points;
  for (double seed = 1; seed < 40; ++seed) points.push_back(evaluated_at(algebra, seed));
  std::size_t found = 0;
  for (const char* mnemonic : {"ADD", "SUB", "MUL", "MAX"}) {
    const std::size_t row = *toy::find_instruction(mnemonic);
    for (int a = 0; a < algebra.num_values; ++a) {
      for (int b = 0; b < algebra.num_values; ++b) {
        for (int result = 0; result < algebra.num_values; ++result) {
          if (result == a || result == b) continue;
          bool makes = true;
          for (std::size_t p = 0; makes && p < points.size(); ++p) {
            const std::vector<double>& values = points[p];
            const double operands[] = {values[static_cast<std::size_t>(a)],
                                       values[static_cast<std::size_t>(b)]};
            makes = std::abs(toy::numeric_effect(row, operands) -
                             values[static_cast<std::size_t>(result)]) < 1e-9;
          }
          if (!makes) continue;
          ++found;
          CHECK(known.contains({mnemonic, a, b, result}));
        }
      }
    }
  }
  CHECK(found > 30);
}

TEST_CASE("a renumbering of a computation's values maps operations to operations") {
  for (const char* name : {"sum:3", "online:3", "attention:2", "merge:1", "merge:2"}) {
    const Computation computation = computation_named(name);
    const ValueAlgebra& algebra = *computation.algebra();
    const auto normal = [](std::string_view mnemonic, int a, int b, int c, int result) {
      if (mnemonic != "SUB" && mnemonic != "DIV" && b != kNoValue && a > b) std::swap(a, b);
      return std::tuple(mnemonic, a, b, c, result);
    };
    std::set<std::tuple<std::string_view, int, int, int, int>> known;
    for (const auto& o : algebra.operations) {
      known.insert(normal(o.mnemonic, o.operands[0], o.operands[1], o.operands[2], o.result));
    }
    INFO(name);
    CHECK(algebra.symmetries.size() >= 2);
    for (const std::vector<int>& renumbered : algebra.symmetries) {
      const auto at = [&](int value) {
        return value < 0 ? value : renumbered[static_cast<std::size_t>(value)];
      };
      std::set<int> outputs, moved;
      for (const int output : algebra.outputs) {
        outputs.insert(output);
        moved.insert(at(output));
      }
      CHECK(outputs == moved);
      for (const auto& o : algebra.operations) {
        REQUIRE(known.contains(normal(o.mnemonic, at(o.operands[0]), at(o.operands[1]),
                                      at(o.operands[2]), at(o.result))));
      }
    }
  }
}

TEST_CASE("the solver and the plain search agree on attention, online statistics and merging") {
  toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=4,EXP=3,MUL=2", "MAC=5,DIV=3,STORE=2")));
  const std::string name = GENERATE("online:2", "attention:1", "attention:2", "merge:1");
  const Computation computation = computation_named(name);
  for (int registers = 2; registers <= 4; ++registers) {
    INFO(name << ", " << registers << " registers");
    const ValueMachine machine{registers, costs};
    const PlainValueAnswer plain = plain_value_search(*computation.algebra(), machine);
    const Answer answer = solve(*computation.algebra(), machine);
    CHECK(answer.verdict == (plain.cycles < 0 ? Verdict::kInfeasible : Verdict::kOptimal));
    if (plain.cycles >= 0) CHECK(answer.lower_cycles == plain.cycles);
  }
}

TEST_CASE("the cheapest programs of the named computations leave the right numbers") {
  const auto solved = [](const std::string& name, int registers) {
    const Computation computation = computation_named(name);
    const Answer answer = solve(*computation.algebra(), {registers});
    REQUIRE(answer.verdict == Verdict::kOptimal);
    return answer;
  };
  const auto near = [](const std::vector<double>& got, const std::vector<double>& wanted) {
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-12);
  };
  const Answer online = solved("online:2", 3);
  near(run_numbers(online.program->text, {0.5, 2}), {2, 1 + std::exp(-1.5)});
  CHECK(online.lower_cycles == 10);

  const Answer one_key = solved("attention:1", 2);
  near(run_numbers(one_key.program->text, {3, 0.5, -7}), {-7});
  CHECK(one_key.lower_cycles == 2);  // the one value itself

  const Answer attention = solved("attention:2", 6);
  const double a = std::exp(2 * 0.5), b = std::exp(2 * -1.0);
  near(run_numbers(attention.program->text, {2, 0.5, -1, 3, 5}), {(3 * a + 5 * b) / (a + b)});
  CHECK(attention.lower_cycles == 17);
  CHECK(attention.program->loads == 5);

  const Answer merged = solved("merge:1", 4);
  const double e = std::exp(-3.0);
  near(run_numbers(merged.program->text, {1, 4, 10, 4, 2, 20}), {4, 4 * e + 2, 10 * e + 20});
  CHECK(merged.lower_cycles == 18);
}

TEST_CASE("what a program states has the optimum of the family that it belongs to") {
  struct Same {
    const char* family;
    const char* program;
  };
  const Same same = GENERATE(
      Same{"sum:3",
           ".isa softmax\n.input x[3]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\nADD R0, R1, "
           "R0\nLOAD x[2], R1\nADD R0, R1, R0\nSTORE R0, o[0]\n"},
      Same{"max:3",
           ".isa softmax\n.input x[3]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\nMAX R0, R1, "
           "R0\nLOAD x[2], R1\nMAX R0, R1, R0\nSTORE R0, o[0]\n"});
  const auto computation = stated(same.program);
  REQUIRE(computation);
  const Computation family = computation_named(same.family);
  CHECK(computation->algebra()->num_values == family.algebra()->num_values);
  for (int registers = 1; registers <= 4; ++registers) {
    const Answer mine = solve(*computation->algebra(), {registers});
    const Answer theirs = solve(*family.algebra(), {registers});
    CHECK(mine.verdict == theirs.verdict);
    if (mine.verdict == Verdict::kOptimal) CHECK(mine.lower_cycles == theirs.lower_cycles);
  }
}

TEST_CASE("a product of matrices is recognised whatever its arrays are called") {
  const std::string text =
      ".isa matmul\n.input y[2][3]\n.input w[3][2]\n.output out[1][2]\n"
      "LOAD y[1][2], R0\nLOAD w[0][1], R1\nMAC_Z R1, R0, R2\n"
      "LOAD y[1][0], R0\nLOAD w[2][1], R1\nMAC R0, R1, R2, R2\nSTORE R2, out[0][0]\n"
      "LOAD y[1][2], R0\nLOAD w[0][0], R1\nMAC_Z R1, R0, R2\n"
      "LOAD y[1][0], R0\nLOAD w[2][0], R1\nMAC R0, R1, R2, R2\nSTORE R2, out[0][1]\n";
  const auto computation = stated(text);
  REQUIRE(computation);
  REQUIRE(computation->product() != nullptr);
  CHECK(computation->name == "1x2x2");
  ProductMachine four_registers;
  four_registers.registers = 4;
  const Answer answer = solve(*computation->product(), four_registers, {}, {}, computation->frame);
  REQUIRE(answer.program);
  INFO(answer.program->text);
  CHECK(outputs_of(answer.program->text) == outputs_of(text));
}

TEST_CASE("softmax and attention are recognised by their formulas, in the program's arrays") {
  const std::string softmax =
      ".isa softmax\n.input a[2]\n.output p[2]\nLOAD a[0], R0\nLOAD a[1], R1\nEXP R0, R0\nEXP R1, "
      "R1\nADD R0, R1, R2\nDIV R1, R2, R1\nDIV R0, R2, R0\nSTORE R0, p[0]\nSTORE R1, p[1]\n";
  const auto computation = stated(softmax);
  REQUIRE(computation);
  CHECK(computation->name == "softmax:2");
  const Answer answer = solve(*computation->algebra(), {3});
  REQUIRE(answer.program);
  CHECK(answer.lower_cycles == 12);  // the unsafe program takes 9: e^x can overflow
  CHECK(outputs_of(answer.program->text) == outputs_of(softmax));
}

TEST_CASE("what the solver cannot take is refused with the reason") {
  const auto refused = [](const toy::Result<Computation>& result, const std::string& words) {
    REQUIRE_FALSE(result);
    const toy::Diagnostic& first = result.diagnostics.front();
    INFO(first.what << " / " << first.expected);
    CHECK((first.what + first.expected).find(words) != std::string::npos);
  };
  refused(named_computation("nonsense"), "not a computation");
  refused(named_computation("softmax:"), "not a computation");
  refused(named_computation("softmax:99999999999999"), "not a computation");
  refused(named_computation("softmax:6"), "2 to 5 elements");
  refused(named_computation("attention:4"), "1 to 3 keys");
  refused(named_computation("9x9x9"), "at most 64 together");
  refused(named_computation(std::string(5000, 'x')), "...");
  refused(stated(".isa softmax\n.input x[1]\n.output o[1]\nLOAD x[0], R0\n"), "stores no output");
  refused(stated(".isa matmul\n.input x[2]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\nMAC_Z R0, "
                 "R1, R0\nSTORE R0, o[0]\n"),
          "does not compute a product of two matrices");
  refused(stated(".isa softmax\n.param n = 10000\n.input x[n]\n.output o[n]\nfor i in 0..n\nLOAD "
                 "x[i], R0\nADD R0, R0, R1\nSTORE R1, o[i]\nend\n"),
          "more than");
  refused(
      stated(".isa softmax\n.input x[9]\n.output o[1]\nLOAD x[0], R0\nfor i in 1..9\nLOAD x[i], "
             "R1\nADD R0, R1, R0\nend\nSTORE R0, o[0]\n"),
      "a sum of 9");
  refused(stated(".isa softmax\n.input x[1]\n.output o[1]\nADD R0, R0, R1\nSTORE R1, o[0]\n"),
          "R0");
}

TEST_CASE("a result that is no number is refused by its name") {
  const toy::BoundProgram bound = flashlab::test::bound(
      ".isa attention\n.registers 2\n.output o[2]\nFILL 1, R0\nSTORE R0, o[0]\nFILL -inf, "
      "R0\nSTORE R0, o[1]\n");
  const auto stated = stated_computation({"it", "it", {toy::Level::kAttention, {}}, {}, bound, {}});
  REQUIRE_FALSE(stated);
  CHECK_THAT(stated.diagnostics.front().what,
             flashlab::test::contains("o[1] is -inf, which is not a number"));
}

TEST_CASE("what must be loaded is what the results depend on") {
  const toy::BoundProgram bound = flashlab::test::bound(
      ".isa softmax\n.input x[4]\n.output o[2]\nLOAD x[0], R0\nLOAD x[1], R1\nLOAD x[2], R2\nADD "
      "R0, R1, R3\nSUB R3, R1, R3\nSTORE R3, o[0]\nMAX R2, R0, R2\nSTORE R2, o[1]\n");
  const auto compulsory =
      compulsory_transfers({"it", "it", {toy::Level::kSoftmax, {}}, {}, bound, {}});
  REQUIRE(compulsory);
  CHECK(compulsory->loads == 2);  // x[1] is added and taken away again, x[3] never read
  CHECK(compulsory->stores == 2);
}

TEST_CASE("forms made by hand are those that a program makes, and come apart into what they are") {
  toy::FormAlgebra forms;
  const toy::NormalForm x = forms.cell("x", {0}), y = forms.cell("x", {1});
  const toy::NormalForm top = forms.maximum(x, y);
  const toy::NormalForm share = forms.divide(forms.exponential(forms.subtract(x, top)),
                                             forms.add(forms.exponential(forms.subtract(x, top)),
                                                       forms.exponential(forms.subtract(y, top))));
  CHECK(forms.divide(forms.exponential(x), forms.add(forms.exponential(x), forms.exponential(y))) ==
        share);
  const auto at = [](const std::string&, const auto& indices) {
    return indices[0] == 0 ? 1.0 : 3.0;
  };
  CHECK(std::abs(toy::value_at(share, at) - 1 / (1 + std::exp(2.0))) < 1e-15);
  const auto moved = [&at](const std::string& array, const auto& indices, std::size_t point) {
    return at(array, indices) * static_cast<double>(point);
  };
  const std::vector<double> many = toy::values_at(share, 3, moved);
  REQUIRE(many.size() == 3);
  CHECK(many[0] == 0.5);
  CHECK(many[1] == toy::value_at(share, at));
  CHECK(std::abs(many[2] - 1 / (1 + std::exp(4.0))) < 1e-15);
  CHECK(forms.parts(share).denominator.is_written());
  CHECK(forms.function(top)->is(toy::Operation::kMaximum));
  CHECK(forms.function(top)->args.size() == 2);
  CHECK(*forms.number(forms.subtract(x, x)) == 0);
  CHECK_FALSE(forms.function(forms.add(x, y)));
  const toy::NormalForm swapped = forms.substituted(
      share, [&](const std::string&, const auto& indices) { return indices[0] == 0 ? y : x; });
  CHECK(forms.add(share, swapped) == forms.number(1.0));
  toy::FormAlgebra small(4);
  toy::NormalForm sum = small.number(0.0);
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 9; ++i) sum = small.add(sum, small.cell("x", {i}));
      }(),
      std::length_error);
}
