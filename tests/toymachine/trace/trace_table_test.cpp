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

TEST_CASE(
    "with more than four registers a line says what its step makes, beside what is read later") {
  const std::string text = table(bundled("matmul_outer"), unicode_options());
  CHECK(line_with(text, "    1 │") == "    1 │ LOAD a[0][0], R0 │ R0 = a₀₀     │›a₀₀");
  CHECK(line_with(text, "    3 │") ==  // nobody reads R1 again
        "    3 │ MAC_Z R0, R1, R2 │ R2 = a₀₀·b₀₀ │ a₀₀ │     │›a₀₀·b₀₀");
  CHECK(line_with(text, "   12 │") ==
        "   12 │ MAC R0, R1, R2, R2 │ R2 = c₀₀ = a₀₀·b₀₀ + a₀₁·b₁₀ │›c₀₀     │ a₀₀·b₀₁");
  CHECK(line_with(text, "   22 │") == "   22 │›STORE R5, c[1][1] │ c₁₁");
}

TEST_CASE("a long formula names what earlier steps made") {
  const std::string text =
      table(bundled("flash2", params({{"n", 4}, {"d", 2}, {"B", 2}})), unicode_options());
  const auto made_at = [&](const std::string& step) {
    const std::string line = line_with(text, " " + step + " │");
    const std::size_t first = line.find("│", line.find("│") + 1) + 4;  // of the third column
    return line.substr(first, line.find_last_not_of(' ', line.find("│", first) - 1) + 1 - first);
  };
  CHECK(made_at("9") == "S = q₀₀·0.707107·k₀₀ᵀ");
  CHECK(made_at("12") == "M = X@10");  // max(-inf, X) is X
  CHECK(made_at("17") == "X = rowsum(e^(S@9−M@12))");
  CHECK(made_at("28") == "M = max(M@12, X@26)");
  CHECK(made_at("30") == "A = e^(M@12−M@28)");  // a difference has no name here
  CHECK(made_at("38") == "O[0] = O[0]@37 + P@32·v₁₀");
  CHECK(made_at("40") == "o₀₀ = O[0]@39");
  CHECK_THAT(text, contains("\n X@10 is what step 10 put into X.\n"));
  CHECK(lines(text).size() <= 95);  // 86 steps: no line is there twice
  CHECK(text.find('"') == std::string::npos);
}

TEST_CASE("names of a generic round are of its own steps, and what is carried has no column") {
  TraceOptions options;
  options.body = "j";
  const std::string text =
      table(bundled("flash2", params({{"n", 4}, {"d", 2}, {"B", 2}})), unicode_options(), options);
  CHECK_THAT(line_with(text, "   12 │"), contains("│ L = L·e^(M−M@6) "));
  CHECK_THAT(line_with(text, " Step │"), contains("│ M   │ P    │ A"));
  // The next round reads M and overwrites A.
  CHECK(line_with(text, "   16 │") ==
        "   16 │ MAC P, V, O[0], O[0] │ O[0] = O[0]@15 + P@10·vⱼ₀     │ M@6");
  CHECK(lines(text).size() <= 40);
}

TEST_CASE("numbers of elements stand as they are written where a step is of all rounds") {
  TraceOptions options;
  const BoundProgram causal = bundled("flash2_causal", params({{"n", 4}, {"d", 2}, {"B", 2}}));
  CHECK_THAT(table(causal, unicode_options(), options), contains(" MASK S, 0, 0, S "));
  options.body = "j";
  CHECK_THAT(table(causal, unicode_options(), options), contains(" MASK S, i*B, j*Bk, S "));
}

TEST_CASE("a part of a trace names what the steps before it made, as the whole does") {
  const BoundProgram program = bundled("flash2", params({{"n", 4}, {"d", 2}, {"B", 2}}));
  TraceOptions options;
  options.from = 31;
  const std::string whole = table(program, unicode_options());
  const std::string part = table(program, unicode_options(), options);
  for (const std::string step : {"   31 │", "   34 │", "   38 │", "   39 │"}) {
    const std::string line = line_with(whole, step);
    const std::size_t end = line.find("│", line.find("│", line.find("│") + 1) + 1);
    CAPTURE(line);
    CHECK_THAT(part, contains(line.substr(0, end)));
  }
}

TEST_CASE("a sum is written before what a step adds to it") {
  TraceOptions options;
  options.body = "j";
  const std::string text = table(bundled("online"), {}, options);
  CHECK_THAT(text, contains("| S = S@3 + Q[1]*kj1 + Q[2]*kj2 "));
  CHECK_THAT(text, contains("| O[0] = O[0]@21 + S@16*vj0 "));
  CHECK_THAT(text, contains("| L = L*A@14 + e^(S@9 - M@12) "));
}

TEST_CASE("registers with very long names fit the terminal, too") {
  const std::string name(70, 'n');
  const BoundProgram program =
      bound(".isa attention\n.input x[2]\n.reg " + name + "[6]\nLOAD x[0], " + name + "[0]\nADD " +
            name + "[0], " + name + "[0], " + name + "[1]\nEXP " + name + "[1], " + name + "[5]\n");
  for (const Ditto ditto : {Ditto::kAuto, Ditto::kNever}) {
    TraceTableOptions look;
    look.width = 80;
    look.ditto = ditto;
    for (const std::string& line : lines(table(program, look))) {
      INFO(line);
      CHECK(display_width(line) <= 80);
    }
  }
}

TEST_CASE("what each step makes can be had for few registers, with those that are asked for") {
  TraceTableOptions look;
  look.changes = true;
  CHECK(line_with(table(bundled("matmul_c00"), look), "    6 |") ==
        "    6 | MAC R0, R1, R2, R2 | R2 = c00 = a00*b00 + a01*b10 |     |     |>c00");
  look.changes = false;
  look.shown = {1};
  look.values = true;
  const std::string text = table(bundled("matmul_c00"), look);
  CHECK_THAT(line_with(text, " Step |"), contains("| Makes ") && contains(" | R1"));
  CHECK_THAT(line_with(text, "    4 |"), contains("| R0 = a01 = ") && contains(" | b00"));
  look.symbols = false;
  CHECK_THAT(line_with(table(bundled("flash2"), look), "    9 |"),
             contains("| S = [[175, 195], [451, 503]] "));
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

TEST_CASE("numbers of a small tile stand where they fit, else its shape") {
  TraceTableOptions look;
  look.changes = true;
  look.symbols = false;
  look.values = true;
  look.width = 80;
  const auto made = [&](const std::string& tile) {
    const std::string lines =
        ".input x(2, 4) tile " + tile + "\n.output y(2, 4) tile " + tile + "\nFILL 3, R1\n";
    return line_with(table(bound(lines + "LOAD x[0][0], R0\nSUB R0, R0, R0\nADD R0, R1, R0\n"
                                         "STORE R0, y[0][0]\n"),
                           look),
                     " ADD");
  };
  CHECK_THAT(made("(1, 2)"), contains("| R0 = [3, 3]"));
  CHECK_THAT(made("(2, 1)"), contains("| R0 = [[3], [3]]"));
  CHECK_THAT(made("(2, 2)"), contains("| R0 = [[3, 3], [3, 3]]"));
  CHECK_THAT(made("(2, 4)"), contains("| R0 = 2x4"));
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

TEST_CASE("a table fits its terminal") {
  TraceOptions options;
  options.to = 40;
  Binding binding;
  binding.registers = 40;
  for (const std::string name : {"matmul_blocked", "welford", "kahan_sum", "softmax_safe", "flash2",
                                 "bwd_onepass", "online"}) {
    const BoundProgram program = bundled(name, name == "matmul_blocked" ? binding : Binding{});
    for (const bool is_unicode : {false, true}) {
      for (const std::size_t width : {60u, 80u, 140u}) {
        for (const Ditto ditto : {Ditto::kAuto, Ditto::kNever}) {
          TraceTableOptions look;
          look.unicode = is_unicode;
          look.width = width;
          look.ditto = ditto;
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
}

TEST_CASE(
    "with all registers, those that do not fit come in blocks, and those not used are left out") {
  Binding binding;
  binding.registers = 40;
  TraceOptions options;
  options.to = 20;
  TraceTableOptions look;
  look.ditto = Ditto::kAlways;
  const std::string text = table(bundled("matmul_blocked", binding), look, options);
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

TEST_CASE("tables of rounds have names of their own, and what came in is called by its register") {
  TraceOptions options;
  options.body = "c";
  const std::string text = table(bundled("online"), {}, options);
  CHECK_THAT(text, contains("| MUL O[1], A, O[1]    | O[1] = O[1]*A "));
  CHECK_THAT(text, contains("| DIV O[1], L, O[1]   | O[1] = O[1]/l "));
  CHECK(text.find('@', text.find("LOAD v[j][c]")) > text.find("O[1]@3"));
}

TEST_CASE("a text is never cut inside of a name") {
  TraceTableOptions look;
  look.width = 60;
  TraceOptions options;
  options.from = 60;
  const std::string text = table(bundled("flash2"), look, options);
  CHECK_THAT(text, contains("..."));
  for (const std::string& line : lines(text)) {
    const std::size_t dots = line.find("...");
    if (dots == std::string::npos || dots == 0) continue;
    const std::size_t last = line.find_last_not_of("0123456789", dots - 1);
    CAPTURE(line);
    CHECK(line[last] != '@');
  }
}
