// Programs compared with a solution line by line, and what is said of their lines.
#include "exercises/grader/repair/line_differences.hpp"

#include <string>
#include <vector>

#include "exercises/grader/explain/statement_parts.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

toy::SourceText source(const std::string& text) { return {"mine.toy", text}; }

using Lines = std::vector<std::uint32_t>;
using Parts = std::vector<std::string>;

}  // namespace

TEST_CASE("texts that differ in comments and spaces have no different lines", "[differences]") {
  const auto found = line_differences(source("; mine\nLOAD x[0], R0  ; a\n\n  EXP R0,R1\n"),
                                      source("LOAD  x[0],R0\nEXP R0, R1\n"));
  REQUIRE(found);
  CHECK(found->empty());
}

TEST_CASE("lines in the place of others, too many and missing are told apart", "[differences]") {
  const toy::SourceText mine = source("A\nB x\nC\nD\nE\n"), other = source("A\nB y\nC\nE\nF\n");
  const auto found = line_differences(mine, other);
  REQUIRE(found);
  REQUIRE(found->size() == 3);
  const LineDifference &other_line = (*found)[0], &too_many = (*found)[1], &missing = (*found)[2];
  CHECK(other_line.mine == Lines{2});
  CHECK(other_line.other == Lines{2});
  CHECK(other_line.above == 1);
  CHECK(other_line.below == 3);
  CHECK(too_many.mine == Lines{4});
  CHECK(too_many.other.empty());
  CHECK(missing.mine.empty());
  CHECK(missing.other == Lines{5});
  CHECK(missing.above == 5);
  CHECK(missing.below == 0);
  CHECK(replaced_text(mine, other, *found) == "A\nB y\nC\nE\nF\n");
  CHECK(replaced_text(mine, other, {too_many}) == "A\nB x\nC\nE\n");
}

TEST_CASE("a line that is missing at the beginning is put there", "[differences]") {
  const toy::SourceText mine = source("B\n"), other = source("A\nB\n");
  const auto found = line_differences(mine, other);
  REQUIRE(found);
  CHECK(replaced_text(mine, other, *found) == "A\nB\n");
}

TEST_CASE("a text with other lines throughout is not compared line by line", "[differences]") {
  std::string mine, other, many;
  for (int line = 0; line < 6; ++line) {
    mine += "MUL R" + std::to_string(line) + "\n";
    other += "ADD R" + std::to_string(line) + "\n";
  }
  for (int line = 0; line < 10'000; ++line) many += "EXP R0, R" + std::to_string(line) + "\n";
  CHECK_FALSE(line_differences(source(mine), source(other)));
  CHECK_FALSE(line_differences(source(many), source("ADD R0, R1, R2\n" + many + "x\n")));
}

TEST_CASE("a line is split into its instruction and operands, a loop into its bounds",
          "[differences]") {
  CHECK(statement_parts("  MASK S, i*B, j*Bk + 1, S   ; the diagonal") ==
        Parts{"MASK", "S", "i*B", "j*Bk + 1", "S"});
  CHECK(statement_parts("for j in 0..ceildiv(min(n, i*B + B), Bk) step 2") ==
        Parts{"for", "j", "0", "ceildiv(min(n, i*B + B), Bk)", "2"});
  CHECK(statement_parts("end") == Parts{"end"});
  CHECK(statement_parts("  ; nothing").empty());
}

TEST_CASE("what a line has in place of another's parts is said", "[differences]") {
  CHECK(other_parts_text("MAC dS^T, K[c], dK, dK", "MAC dS^T, Q[c], dK, dK") ==
        "K[c] where Q[c] belongs");
  CHECK(other_parts_text("MAX M, S, X", "ROWMAX S, X") == "MAX where ROWMAX belongs");
  CHECK(other_parts_text("for c in 0..tiles(q)", "for c in 0..tiles(q, 1)") ==
        "the bound tiles(q) where tiles(q, 1) belongs");
  CHECK(other_parts_text("SUB A, B, C", "SUB B, A, C") ==
        "A where B belongs, and B where A belongs");
  CHECK(other_parts_text("DIV O[0], L, O[0]", "DIV O[c], L, O[c]") == "O[0] where O[c] belongs");
  CHECK(other_parts_text("EXP A, B ; same", "EXP A,B").empty());
}

TEST_CASE("a line is described by what it writes", "[differences]") {
  CHECK(statement_text("MUL L, A, L") == "a MUL that writes L");
  CHECK(statement_text("STORE O[c], o[i][c]") == "a STORE that writes o[i][c]");
  CHECK(statement_text("EXP S, P") == "an EXP that writes P");
  CHECK(statement_text("for j in 0..n") == "a loop over j");
  CHECK(statement_text("end") == "an end");
}

TEST_CASE("a line reads its sources, transposed or not", "[differences]") {
  const LineRegisters line("MAC Q[c], K^T, S, S");
  CHECK(line.written == "S");
  CHECK(line.reads("K"));
  CHECK(line.reads("S"));
  CHECK_FALSE(line.reads("K^T"));
  CHECK_FALSE(line.reads("X"));
}
