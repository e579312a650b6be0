// Traces as tables in the terminal.
#include "toymachine/trace/trace_table.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/trace/trace_program.hpp"
#include "text/width.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT
using flashlab::display_width;

std::string table(const BoundProgram& program, const TraceTableOptions& look = {},
                  const TraceOptions& options = {}) {
  std::ostringstream out;
  const auto sink = make_trace_table(out, look);
  const auto result = run_trace(program, *sink, options);
  INFO(messages(result));
  REQUIRE(result);
  return out.str();
}

TraceTableOptions unicode_options() {
  TraceTableOptions look;
  look.unicode = true;
  return look;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines(text)) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

}  // namespace

TEST_CASE("the first trace of the course, as it is printed") {
  CHECK(table(bundled("matmul_c00")) ==
        " Step | Instruction        | R0  | R1  | R2\n"
        "------+--------------------+-----+-----+---------\n"
        "    1 | LOAD a[0][0], R0   |>a00 |     |\n"
        "    2 | LOAD b[0][0], R1   | a00 |>b00 |\n"
        "    3 | MAC_Z R0, R1, R2   | a00 | b00 |>a00*b00\n"
        "    4 | LOAD a[0][1], R0   |>a01 | b00 | a00*b00\n"
        "    5 | LOAD b[1][0], R1   | a01 |>b10 | a00*b00\n"
        "    6 | MAC R0, R1, R2, R2 | a01 | b10 |>c00\n"
        "    7 |>STORE R2, c[0][0]  | a01 | b10 | c00\n"
        "\n"
        " Claims checked: 1, all hold.\n");
}

TEST_CASE("claims about tiles are not said to hold") {
  const std::string text = table(bundled("flash2"));
  CHECK_THAT(text,
             contains("\n Claims: 8, none checked: the machine checks numbers, not tiles.\n"));
  CHECK_THAT(text, !contains("all hold"));
}

TEST_CASE("Unicode brings subscripts and lines, in the same columns") {
  const std::string ascii = table(bundled("matmul_c00"));
  const std::string small = table(bundled("matmul_c00"), unicode_options());
  CHECK(line_with(small, "MAC_Z") == "    3 │ MAC_Z R0, R1, R2   │ a₀₀ │ b₀₀ │›a₀₀·b₀₀");
  REQUIRE(lines(ascii).size() == lines(small).size());
  for (std::size_t i = 0; i < lines(ascii).size(); ++i) {
    CHECK(display_width(lines(ascii)[i]) == display_width(lines(small)[i]));
  }
}

TEST_CASE("with more than four registers, what stays in a sum is a ditto mark") {
  const std::string text = table(bundled("matmul_outer"), unicode_options());
  CHECK(line_with(text, "    9 │") ==
        "    9 │ MAC_Z R0, R1, R4 │ a₁₀ │ b₀₀ │ \"       │ \"       │›a₁₀·b₀₀ │ \"");
  CHECK(line_with(text, "   10 │") ==  // a new table begins in full
        "   10 │ LOAD a[0][1], R0   │›a₀₁ │ b₀₀ │ a₀₀·b₀₀ │ a₀₀·b₀₁ │ a₁₀·b₀₀ │ a₁₀·b₀₁");
}

TEST_CASE("ditto marks can be had always or never") {
  TraceTableOptions look;
  look.ditto = Ditto::kAlways;
  CHECK(line_with(table(bundled("matmul_c00"), look), "    5 |") ==
        "    5 | LOAD b[1][0], R1   | \"   |>b10 | \"");
  look.ditto = Ditto::kNever;
  CHECK(table(bundled("matmul_outer"), look).find('"') == std::string::npos);
}

TEST_CASE("passes have headings that say what they were left") {
  const std::string text = table(bundled("softmax_safe"));
  CHECK_THAT(text, contains(" Pass 1. Get max\n"));
  CHECK_THAT(text, contains(" Pass 2. Get sum of exponentials  (R1 = m)\n"));
  CHECK_THAT(text, contains(" Pass 3. Normalize  (R1 = m, R2 = S)\n"));
}

TEST_CASE("the generic iteration of online softmax is the notes' table") {
  TraceOptions options;
  options.body = "i";
  const std::string text = table(bundled("softmax_online"), unicode_options(), options);
  CHECK_THAT(text,
             contains(" Pass 1. Online max and sum, each round of for i in 1..n  (R1 = m, R2 = s)\n"
                      "\n"
                      " Step │ Instruction    │ R0        │ R1 │ R2         │ R3\n"
                      "──────┼────────────────┼───────────┼────┼────────────┼──────────\n"
                      "    1 │ LOAD x[i], R0  │›xᵢ        │ m  │ s          │\n"
                      "    2 │ MOV R1, R3     │ xᵢ        │ m  │ s          │›m\n"
                      "    3 │ MAX R1, R0, R1 │ xᵢ        │›m′ │ s          │ m\n"
                      "    4 │ SUB R3, R1, R3 │ xᵢ        │ m′ │ s          │›m − m′\n"
                      "    5 │ SUB R0, R1, R0 │›xᵢ − m′   │ m′ │ s          │ m − m′\n"
                      "    6 │ EXP R3, R3     │ xᵢ − m′   │ m′ │ s          │›e^(m−m′)\n"
                      "    7 │ EXP R0, R0     │›e^(xᵢ−m′) │ m′ │ s          │ e^(m−m′)\n"
                      "    8 │ MUL R2, R3, R2 │ e^(xᵢ−m′) │ m′ │›s·e^(m−m′) │ e^(m−m′)\n"
                      "    9 │ ADD R2, R0, R2 │ e^(xᵢ−m′) │ m′ │›s′         │ e^(m−m′)\n"));
}

TEST_CASE("an elided trace says how much is left out") {
  TraceOptions options;
  options.elide = true;
  const std::string text = table(bundled("softmax_safe", params({{"n", 100}})), {}, options);
  CHECK_THAT(text, contains("  ... | 192 steps"));
  CHECK_THAT(text, contains("| LOAD x[n-1], R0 |>x[n-1] | max(x0..x[n-2]) |"));
}

TEST_CASE("numbers stand in place of formulas or below them") {
  const BoundProgram program = bound(
      ".isa softmax\n.input x[2]\nLOAD x[0], R0\nLOAD x[1], R1\nDIV R0, R1, R0\n.name R0 = q\n");
  TraceTableOptions look;
  look.symbols = false;
  look.values = true;
  CHECK(line_with(table(program, look), "DIV") == "    3 | DIV R0, R1, R0 |>0.5 | 2");
  look.symbols = true;
  const auto both = lines(table(program, look));
  CHECK(both[6] == "    3 | DIV R0, R1, R0 |>q   | x1");
  CHECK(both[7] == "      |                | 0.5 | 2");
}

TEST_CASE("label lines are shown when asked for") {
  TraceTableOptions look;
  look.labels = true;
  CHECK_THAT(table(bundled("matmul_c00"), look), contains("| R2 = c00, checked  |"));
}

TEST_CASE("a formula that has lost its meaning is a dash") {
  const std::string text = table(bundled("softmax_online"));
  CHECK_THAT(line_with(text, "LOAD x[2]"), contains("| s            | -"));
}

TEST_CASE("a table fits its terminal, with all registers") {
  TraceOptions options;
  options.to = 40;
  Binding binding;
  binding.registers = 40;
  for (const std::string name : {"matmul_blocked", "welford", "kahan_sum", "softmax_safe"}) {
    const BoundProgram program = bundled(name, name == "matmul_blocked" ? binding : Binding{});
    for (const bool is_unicode : {false, true}) {
      for (const std::size_t width : {60u, 80u, 140u}) {
        TraceTableOptions look;
        look.unicode = is_unicode;
        look.width = width;
        INFO(name << " at " << width);
        std::size_t widest = 0;
        for (const std::string& line : lines(table(program, look, options))) {
          widest = std::max(widest, display_width(line));
        }
        CHECK(widest <= width);
      }
    }
  }
}

TEST_CASE("registers that do not fit come in blocks, and those not used are left out") {
  Binding binding;
  binding.registers = 40;
  TraceOptions options;
  options.to = 20;
  const std::string text = table(bundled("matmul_blocked", binding), {}, options);
  std::size_t headers = 0;
  for (const std::string& line : lines(text)) headers += line.rfind(" Step |", 0) == 0;
  CHECK(headers == 4);
  CHECK_THAT(text, contains(" Neither read nor written here: R18 to R39\n"));
}

TEST_CASE("colour only adds to what is there without it") {
  TraceTableOptions look;
  look.color = true;
  std::string text = table(bundled("softmax_safe"), look);
  CHECK_THAT(text, contains(">\033[1mm\033[0m"));
  for (const std::string code : {"\033[1m", "\033[0m"}) {
    for (std::size_t at; (at = text.find(code)) != std::string::npos;) text.erase(at, code.size());
  }
  look.color = false;
  CHECK(text == table(bundled("softmax_safe"), look));
}
