#include "toymachine/forms/normal_form.hpp"

#include <gmpxx.h>

#include <random>
#include <unordered_map>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"

using namespace flashlab;
using test::bound;
using test::bundled;
using test::contains;
using test::params;

namespace {

using Forms = std::vector<toy::NormalForm>;

toy::Result<toy::NormalRun> run(const toy::BoundProgram& program, std::size_t max_terms = 2000) {
  const auto unrolled = toy::unroll(program, 100'000);
  REQUIRE(unrolled);
  return toy::run_normal(program, *unrolled, max_terms);
}

/// The output arrays, cell by cell.
Forms outputs(const toy::BoundProgram& program) {
  const auto result = run(program);
  INFO(toy::format(result.diagnostics, *program.program->source));
  REQUIRE(result);
  Forms forms;
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      forms.push_back(result->dram[static_cast<std::size_t>(array.offset + i)]);
    }
  }
  return forms;
}

void require_equal_forms(const Forms& a, const Forms& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(i << ": " << to_string(a[i]) << "\n   " << to_string(b[i]));
    REQUIRE(a[i].is_written());
    CHECK(a[i] == b[i]);
    CHECK(a[i].hash() == b[i].hash());
  }
}

/// The value that lines of instructions leave in R0; x, y, z are in R1 to R3, R4 to R6 are free.
toy::NormalForm value(const std::string& lines) {
  const Forms forms =
      outputs(bound(".registers 7\n.input x[1]\n.input y[1]\n.input z[1]\n.output o[1]\n"
                    "LOAD x[0], R1\nLOAD y[0], R2\nLOAD z[0], R3\n" +
                    lines + "\nSTORE R0, o[0]\n"));
  return forms[0];
}

std::string text(const std::string& lines) { return to_string(value(lines)); }

}  // namespace

/// The form of o[0] after these lines, with x[0] to x[2] in R0 to R2.
toy::NormalForm form_after(const std::string& lines) {
  const std::string machine =
      ".isa attention, MIN, ABS, TANH, RSQRT, RCP, EXP2, LOG2, LESS, SELECT, ROW, COL\n";
  return outputs(bound(machine + ".input x[3]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\n" +
                       "LOAD x[2], R2\n" + lines + "STORE R9, o[0]\n"))[0];
}
bool same_form(const std::string& a, const std::string& b) {
  return form_after(a) == form_after(b);
}

TEST_CASE("safe, online and unsafe softmax have one normal form") {
  for (std::int64_t n = 1; n <= 5; ++n) {
    const Forms safe = outputs(bundled("softmax_safe", params({{"n", n}})));
    require_equal_forms(safe, outputs(bundled("softmax_online", params({{"n", n}}))));
    require_equal_forms(safe, outputs(bundled("softmax_unsafe", params({{"n", n}}))));
  }
}

TEST_CASE("the orders of a matrix product have one normal form, and one wrong index another") {
  const Forms inner = outputs(bundled("matmul_inner"));
  require_equal_forms(inner, outputs(bundled("matmul_outer")));
  CHECK(inner[0].is_polynomial());
  CHECK(to_string(inner[0]) == "a[0][0]*b[0][0] + a[0][1]*b[1][0]");
  std::string wrong = bundled("matmul_inner").program->source->text();
  wrong.replace(wrong.find("LOAD a[0][1]"), 12, "LOAD a[1][1]");
  const Forms other = outputs(bound(wrong));
  CHECK(other[0].is_polynomial());
  CHECK_FALSE(inner[0] == other[0]);
}

TEST_CASE("Welford's variance is the variance by two passes") {
  const Forms welford = outputs(bundled("welford", params({{"n", 3}})));
  const Forms passes = outputs(
      bound(".registers 5\n.input x[3]\n.output v[2]\nFILL 0, R0\nfor i in 0..3\n  LOAD x[i], R1\n"
            "  ADD R0, R1, R0\nend\nFILL 3, R2\nDIV R0, R2, R0\nFILL 0, R3\nfor i in 0..3\n"
            "  LOAD x[i], R1\n  SUB R1, R0, R1\n  MAC R1, R1, R3, R3\nend\nSTORE R3, v[0]\n"
            "FILL 2, R2\nDIV R3, R2, R3\nSTORE R3, v[1]\n"));
  bool found = false;
  for (const toy::NormalForm& form : welford) found |= form == passes[0] || form == passes[1];
  INFO(to_string(welford.back()) << "\n" << to_string(passes[0]) << "\n" << to_string(passes[1]));
  CHECK(found);
}

TEST_CASE("compensation vanishes from a sum's normal form") {
  require_equal_forms(outputs(bundled("kahan_sum", params({{"n", 4}}))),
                      outputs(bundled("sum_plain", params({{"n", 4}}))));
}

TEST_CASE("attention in blocks has the normal form of naive attention") {
  const toy::Binding tiny = params({{"n", 3}, {"d", 2}, {"B", 1}, {"Bd", 1}, {"nk", 3}, {"Bk", 1}});
  const Forms naive = outputs(bundled("naive", tiny));
  for (const std::string name : {"online", "flash1", "flash2", "split_kv"}) {
    INFO(name);
    const Forms other = outputs(bundled(
        name, name == "split_kv" ? params({{"n", 3}, {"d", 2}, {"B", 1}, {"Bd", 1}}) : tiny));
    for (std::size_t i = 0; i < naive.size(); ++i) CHECK(naive[i] == other[i]);
  }
  Forms first = outputs(bundled("flash1", tiny)), second = outputs(bundled("flash2", tiny));
  first.resize(naive.size());  // behind O, the one leaves l and m, the other m + log l
  second.resize(naive.size());
  require_equal_forms(first, second);
}

TEST_CASE("exponentials multiply by adding, and undo logarithms") {
  CHECK(value("EXP R1, R4\nEXP R2, R5\nMUL R4, R5, R0") == value("ADD R1, R2, R0\nEXP R0, R0"));
  CHECK(value("SUB R1, R1, R0\nEXP R0, R0") == value("FILL 1, R0"));
  CHECK(value("LOG R1, R0\nEXP R0, R0") == value("MOV R1, R0"));
  CHECK(value("EXP R1, R0\nLOG R0, R0") == value("MOV R1, R0"));
  CHECK(value("FILL -inf, R0\nEXP R0, R0") == value("FILL 0, R0"));
  // log(e^(x - z) + e^(y - z)) + z = log(e^x + e^y)
  CHECK(value("SUB R1, R3, R4\nEXP R4, R4\nSUB R2, R3, R5\nEXP R5, R5\nADD R4, R5, R4\n"
              "LOG R4, R4\nADD R4, R3, R0") ==
        value("EXP R1, R4\nEXP R2, R5\nADD R4, R5, R0\nLOG R0, R0"));
  CHECK_FALSE(value("EXP R1, R0") == value("EXP R2, R0"));
}

TEST_CASE("a maximum is flat, without order and repetition") {
  CHECK(value("MAX R1, R2, R0\nMAX R0, R3, R0") == value("MAX R3, R1, R0\nMAX R2, R0, R0"));
  CHECK(value("MAX R1, R2, R0\nMAX R0, R1, R0") == value("MAX R1, R2, R0"));
  CHECK(value("MAX R1, R1, R0") == value("MOV R1, R0"));
  CHECK(value("FILL -inf, R0\nMAX R0, R1, R0") == value("MOV R1, R0"));
  CHECK(value("FILL 2, R4\nADD R1, R4, R4\nMAX R1, R4, R0") == value("FILL 2, R4\nADD R1, R4, R0"));
  CHECK_FALSE(value("MAX R1, R2, R0") == value("MAX R1, R3, R0"));
}

TEST_CASE("quotients are equal when their cross products are") {
  // (x + y)(x - y) / (x + y) = x - y
  CHECK(value("ADD R1, R2, R4\nSUB R1, R2, R5\nMUL R4, R5, R0\nDIV R0, R4, R0") ==
        value("SUB R1, R2, R0"));
  // (x^2 - y^2) / (x^2 + 2xy + y^2) = (x - y) / (x + y)
  const auto reducible = value(
      "MUL R1, R1, R4\nMUL R2, R2, R5\nSUB R4, R5, R4\nADD R1, R2, R5\nMUL R5, R5, R5\n"
      "DIV R4, R5, R0");
  const auto reduced = value("SUB R1, R2, R4\nADD R1, R2, R5\nDIV R4, R5, R0");
  CHECK(reducible == reduced);
  CHECK(reducible.hash() == reduced.hash());
  CHECK_FALSE(reduced.is_polynomial());
  // 1/x + 1/y = (x + y) / (x y)
  CHECK(value("FILL 1, R0\nDIV R0, R1, R4\nDIV R0, R2, R5\nADD R4, R5, R0") ==
        value("ADD R1, R2, R4\nMUL R1, R2, R5\nDIV R4, R5, R0"));
  // With e^x for x: the exponents' maxima are one atom.
  CHECK(value("EXP R1, R4\nEXP R2, R5\nMUL R4, R4, R6\nMUL R5, R5, R0\nSUB R6, R0, R6\n"
              "ADD R4, R5, R4\nDIV R6, R4, R0") == value("EXP R1, R4\nEXP R2, R5\nSUB R4, R5, R0"));
}

TEST_CASE("what has no value is equal only to itself") {
  CHECK(value("FILL 0, R0\nDIV R1, R0, R0") == value("FILL 0, R0\nDIV R1, R0, R0"));
  CHECK_FALSE(value("FILL 0, R0\nDIV R1, R0, R0") == value("FILL 0, R0\nDIV R2, R0, R0"));
  CHECK(value("FILL -inf, R0\nSUB R0, R1, R0") == value("FILL -inf, R0"));
}

TEST_CASE("normal forms are written as a person would write them") {
  CHECK(text("SUB R2, R1, R0") == "-x[0] + y[0]");
  CHECK(text("MUL R1, R2, R0\nMUL R0, R1, R0\nADD R0, R3, R0") == "x[0]^2*y[0] + z[0]");
  CHECK(text("MAX R2, R1, R0\nSUB R1, R0, R0\nEXP R0, R0") == "e^(x[0] - max(x[0], y[0]))");
  CHECK(text("EXP R1, R0") == "e^x[0]");
  CHECK(text("ADD R1, R2, R4\nDIV R3, R4, R0") == "z[0]/(x[0] + y[0])");
  CHECK(text("DIV R1, R2, R0") == "x[0]/y[0]");
  CHECK(text("FILL 3, R0\nDIV R1, R0, R0") == "1/3*x[0]");
  CHECK(text("FILL 0.1, R0\nADD R1, R0, R0\nLOG R0, R0") == "log(x[0] + 0.1)");
  CHECK(text("FILL 0, R0") == "0");
  CHECK(text("FILL -inf, R0") == "-inf");
  CHECK(to_string(toy::NormalForm()) == "nothing");
}

TEST_CASE("a long form loses its middle") {
  const Forms forms = outputs(bundled("sum_plain", params({{"n", 100}})));
  const std::string all = to_string(forms[0], 10'000);
  CHECK(all.substr(0, 13) == "x[0] + x[1] +");
  const std::string cut = to_string(forms[0], 40);
  CHECK(cut.size() == 40);
  CHECK_THAT(cut, contains("x[0] + "));
  CHECK_THAT(cut, contains(" ... "));
  CHECK_THAT(cut, contains("x[99]"));
}

TEST_CASE("a step that reads what nobody wrote is named with its loops") {
  const auto program = bound(
      ".registers 3\n.input x[2]\nfor i in 0..2\n  LOAD x[i], R0\nend\n"
      "for i in 1..2\n  ADD R0, R1, R2\nend\n");
  const auto result = run(program);
  REQUIRE_FALSE(result);
  CHECK_THAT(toy::format(result.diagnostics, *program.program->source),
             contains("7:11: error: step 3 (i = 1): R1 is read, but nothing was written there"));
}

TEST_CASE("every step's result is kept") {
  const auto program =
      bound(".input x[2]\n.output o[1]\nLOAD x[1], R0\nMUL R0, R0, R1\nSTORE R1, o[0]\n");
  const auto result = run(program);
  REQUIRE(result);
  REQUIRE(result->results.size() == 3);
  CHECK(to_string(result->results[0]) == "x[1]");
  CHECK(to_string(result->results[1]) == "x[1]^2");
  CHECK(to_string(result->results[2]) == "x[1]^2");
  CHECK(to_string(result->dram[0]) == "x[0]");
}

TEST_CASE("every instruction but SEND writes one operand") {
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    int written = 0;
    for (const toy::OperandKind kind : spec.kinds()) {
      written += kind == toy::OperandKind::kDestination || toy::is_memory_write(kind) ? 1 : 0;
    }
    INFO(spec.mnemonic);
    CHECK(written == (spec.is_send() ? 0 : 1));
  }
}

TEST_CASE("formulas that explode end at a limit") {
  const std::string start = ".registers 4\n.input x[500]\nLOAD x[0], R0\nLOAD x[1], R1\n";
  const std::vector<std::string> bodies = {
      "ADD R0, R1, R0\nMUL R0, R0, R0\n",  // powers of a sum
      "MUL R0, R0, R0\n",                  // powers of an atom
      "EXP R0, R0\n",                      // towers
      "EXP R0, R2\nMAX R2, R1, R0\n",      // maxima in exponents
      "ADD R0, R1, R0\nDIV R1, R0, R2\nMUL R2, R0, R3\nADD R2, R0, R0\nMUL R0, R0, R0\n",
      "LOAD x[i], R2\nEXP R2, R3\nADD R0, R3, R0\nMUL R0, R0, R0\n",
      "FILL 3, R2\nMUL R0, R2, R0\nADD R0, R1, R2\nMUL R2, R0, R0\nMAX R0, R2, R1\n"};
  for (const std::string& body : bodies) {
    const auto program = bound(start + "for i in 0..500\n" + body + "end\n");
    const auto result = run(program);
    INFO(body);
    REQUIRE_FALSE(result);
    CHECK(result.diagnostics[0].fault == toy::Fault::kLimit);
    CHECK_THAT(result.diagnostics[0].what, contains("step "));
  }
  const auto numbers =
      bound(".registers 1\n.output o[1]\nFILL 3, R0\nfor i in 0..500\n  MUL R0, R0, R0\nend\n");
  CHECK(run(numbers).diagnostics.at(0).fault == toy::Fault::kLimit);
  const auto program = bundled("sum_plain", params({{"n", 50}}));
  CHECK(run(program, 49).diagnostics.at(0).fault == toy::Fault::kLimit);
  CHECK(run(program, 50));
}

namespace {

/// The same random straight line on exact rationals: one value per register.
class RandomPolynomial {
 public:
  explicit RandomPolynomial(unsigned seed) : random_(flashlab::test::seeded(seed)) {
    text = ".registers 4\n.input x[3]\n.output o[1]\n";
    for (int r = 0; r < 4; ++r) line("LOAD x[" + std::to_string(r % 3) + "], R", r, r % 3);
    for (int length = draw(2, 9); length > 0; --length) step();
    text += "STORE R0, o[0]\n";
  }
  std::string text;

  mpq_class at(const std::vector<mpq_class>& x) const {
    std::vector<mpq_class> registers(4);
    for (const auto& [op, target, a, b] : steps_) {
      const mpq_class left = op == 'L' ? x[static_cast<std::size_t>(a)] : registers[idx(a)];
      const mpq_class right = op == 'L' ? mpq_class(0) : registers[idx(b)];
      registers[idx(target)] = op == '*'   ? mpq_class(left * right)
                               : op == '-' ? mpq_class(left - right)
                                           : mpq_class(left + right);
    }
    return registers[0];
  }

 private:
  struct Step {
    char op;
    int target, a, b;
  };
  static std::size_t idx(int i) { return static_cast<std::size_t>(i); }
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  void line(const std::string& before, int target, int source) {
    text += before + std::to_string(target) + "\n";
    steps_.push_back({'L', target, source, 0});
  }
  void step() {
    const int kind = draw(0, 2), a = draw(0, 3), b = draw(0, 3), target = draw(0, 3);
    static const char* const kNames[] = {"MUL", "SUB", "ADD"};
    text += std::string(kNames[kind]) + " R" + std::to_string(a) + ", R" + std::to_string(b) +
            ", R" + std::to_string(target) + "\n";
    steps_.push_back({"*-+"[kind], target, a, b});
  }

  std::mt19937 random_;
  std::vector<Step> steps_;
};

}  // namespace

TEST_CASE("polynomials have equal normal forms when they are equal at random points") {
  std::mt19937 random(flashlab::test::seeded(5));
  std::vector<std::vector<mpq_class>> points(4, std::vector<mpq_class>(3));
  for (auto& point : points) {
    for (mpq_class& x : point) {
      x = mpq_class(std::uniform_int_distribution<int>(-1'000'000, 1'000'000)(random), 997);
      x.canonicalize();
    }
  }
  std::unordered_map<std::string, toy::NormalForm> by_values;
  std::unordered_map<std::size_t, std::string> by_hash;
  int equal = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const RandomPolynomial polynomial(seed);
    const toy::NormalForm form = outputs(bound(polynomial.text))[0];
    CHECK(form.is_polynomial());
    std::string values;
    for (const auto& point : points) values += polynomial.at(point).get_str() + " ";
    const auto [found, is_new] = by_values.emplace(values, form);
    equal += is_new ? 0 : 1;
    INFO(polynomial.text);
    CHECK(found->second == form);
    CHECK(by_hash.emplace(form.hash(), values).first->second == values);
  }
  CHECK(equal > 20);  // different programs do meet
}

TEST_CASE("a minimum is the set of its arguments, and of those that differ by a number the least") {
  CHECK(same_form("MIN R0, R1, R9\nMIN R9, R2, R9\n", "MIN R2, R1, R9\nMIN R0, R9, R9\n"));
  CHECK(same_form("MIN R0, R0, R9\n", "MOV R0, R9\n"));
  CHECK(same_form("FILL 1, R8\nADD R0, R8, R8\nMIN R8, R0, R9\n", "MOV R0, R9\n"));
  CHECK(same_form("FILL -inf, R8\nMIN R0, R8, R9\n", "FILL -inf, R9\n"));
  CHECK_FALSE(same_form("MIN R0, R1, R9\n", "MAX R0, R1, R9\n"));
  CHECK(to_string(form_after("MIN R1, R0, R9\n")) == "min(x[0], x[1])");
}

TEST_CASE("powers of two and their logarithms follow the rules of powers") {
  CHECK(same_form("ADD R0, R1, R9\nEXP2 R9, R9\n", "EXP2 R0, R8\nEXP2 R1, R9\nMUL R8, R9, R9\n"));
  CHECK(same_form("EXP2 R0, R9\nLOG2 R9, R9\n", "MOV R0, R9\n"));
  CHECK(same_form("FILL 3, R9\nEXP2 R9, R9\n", "FILL 8, R9\n"));
  CHECK(same_form("FILL -inf, R9\nEXP2 R9, R9\n", "FILL 0, R9\n"));
  CHECK_FALSE(same_form("EXP2 R0, R9\n", "EXP R0, R9\n"));
  CHECK_FALSE(same_form("LOG2 R0, R9\n", "LOG R0, R9\n"));
}

TEST_CASE("a reciprocal is a quotient, and functions keep their symmetry") {
  CHECK(same_form("RCP R0, R9\nMUL R1, R9, R9\n", "DIV R1, R0, R9\n"));
  const std::string minus = "FILL -1, R8\nMUL R0, R8, R7\n";
  CHECK(same_form(minus + "ABS R7, R9\n", "ABS R0, R9\n"));
  CHECK(same_form("FILL -2, R9\nABS R9, R9\n", "FILL 2, R9\n"));
  CHECK(same_form(minus + "TANH R7, R9\nMUL R9, R8, R9\n", "TANH R0, R9\n"));
  CHECK(same_form("FILL 0, R9\nTANH R9, R9\n", "FILL 0, R9\n"));
  CHECK_FALSE(same_form("TANH R0, R9\n", "TANH R1, R9\n"));
  CHECK_FALSE(same_form("RSQRT R0, R9\n", "RCP R0, R9\n"));
  CHECK(to_string(form_after("TANH R0, R9\n")) == "tanh(x[0])");
  CHECK(to_string(form_after("LESS R0, R1, R8\nSELECT R8, R1, R2, R9\n")) ==
        "select(less(x[0], x[1]), x[1], x[2])");
  CHECK(same_form("LESS R0, R0, R9\n", "FILL 0, R9\n"));
  CHECK(same_form("FILL 1, R8\nADD R0, R8, R8\nLESS R0, R8, R9\n", "FILL 1, R9\n"));
  CHECK(
      same_form("FILL -inf, R7\nROW R0, 3, R8\nCOL R0, 5, R6\nLESS R8, R6, R8\n"
                "SELECT R8, R1, R7, R9\n",
                "MOV R1, R9\n"));
  CHECK_FALSE(same_form("SELECT R0, R1, R2, R9\n", "SELECT R0, R2, R1, R9\n"));
  CHECK(to_string(form_after("RSQRT R0, R9\n")) == "rsqrt(x[0])");
}
