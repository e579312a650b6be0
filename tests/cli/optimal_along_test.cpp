// `flashlab optimal --along` and `--count`: what they say of programs, and of how many there are.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.hpp"

namespace flashlab::test {

TEST_CASE("a program is judged on its own machine, step by step") {
  const Outcome run = flashlab("optimal 2x2x2 --along matmul_inner");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("3 registers, operands pinned, only results are stored"));
  CHECK_THAT(run.out, contains("    25     49   STORE R2, c[1][0]        25       0      25"));
  CHECK_THAT(run.out, contains("The program takes the optimum, 25 cycles, and is optimal."));
  CHECK(run.out.find("Lost in") == std::string::npos);
  CHECK(widest_line(run.out) <= 80);
}

TEST_CASE("a program without a computation beside it is judged by what it computes itself") {
  const Outcome run = flashlab("optimal --along softmax_safe -D n=3");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("softmax_safe as softmax_safe: softmax:3"));
  CHECK_THAT(run.out, contains("The program takes 32 cycles, 6 above the optimum."));
}

TEST_CASE("an exercise's size gives the judged program its parameters") {
  const Workplace place;
  REQUIRE(place.shell("HOME=$PWD flashlab exercises start 06").code == 0);
  place.write("mine.toy",
              ".isa softmax\n.registers 3\n.param n = 4\n.input x[n]\n.output out[n]\n"
              "LOAD x[0], R0\nLOAD x[n-1], R1\n");
  const Outcome run =
      place.shell("flashlab optimal --exercise 06 --size n=2 --scratch 0 --along mine.toy");
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("LOAD x[n-1], R1"));
  CHECK_THAT(run.out, contains("The program ends after 2 cycles without all results"));
}

TEST_CASE("a bundled program says what to compute, and what it takes itself") {
  const Outcome run = flashlab("optimal softmax_safe -D n=3");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("26 cycles, proved optimal"));
  CHECK_THAT(run.out, contains("The program itself takes 32 cycles, 6 more than the"));
  CHECK_THAT(flashlab("optimal matmul_outer").out, contains("22 cycles: it is optimal."));
  const Outcome strange = flashlab("optimal 2x2x2 -D n=3");
  CHECK(strange.code == 2);
  CHECK_THAT(strange.err, contains("-D gives values to a program's parameters"));
}

TEST_CASE("the same program on a larger machine loses where it forgets what would fit") {
  const Outcome run = flashlab("optimal 2x2x2 --along matmul_inner --registers 4");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("Lost in step 4 (line 18), LOAD a[0][1], R0: 1 cycle."));
  CHECK_THAT(run.out, contains("could still be reached is step\n3 (line 17)."));
  CHECK_THAT(run.out, contains("The program takes 25 cycles, 2 above the optimum."));
}

TEST_CASE("an unfinished program is told what its cheapest completion takes, with loops in JSON") {
  const Workplace place;
  place.write("part.toy",
              ".isa softmax\n.registers 2\n.input x[4]\n.output o[1]\nLOAD x[0], R0\n"
              "for i in 1..3\n  LOAD x[i], R1  ; the next\n  ADD R0, R1, R0\nend\n");
  const Outcome text = place.shell("flashlab optimal sum:4 --along part.toy");
  CHECK(text.code == 0);
  CHECK_THAT(text.out, contains("LOAD x[i], R1  (i = 2)"));
  CHECK_THAT(text.out,
             contains("The program ends after 5 cycles without all results: the cheapest"));
  const auto json = json_of(place.shell("flashlab optimal sum:4 --along part.toy --json"));
  CHECK(json["format"] == "flashlab-optimal-along");
  CHECK(json["total_cycles"] == 8);
  CHECK(json["is_proved"] == true);
  CHECK(json["is_finished"] == false);
  CHECK(json["optimum_reachable_through_step"] == 5);
  REQUIRE(json["steps"].size() == 5);
  CHECK(json["steps"][4]["instruction"] == "ADD R0, R1, R0");
  CHECK(json["steps"][4]["loops"] == "i = 2");
  CHECK(json["steps"][4]["remaining_cycles"] == 3);
  CHECK(json["steps"][4]["total_cycles"] == 8);
}

TEST_CASE("searches that did not end give lower bounds and no optimum") {
  const Outcome run = flashlab("optimal 2x2x2 --along matmul_inner --most-seconds 0");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains(">= "));
  CHECK_THAT(run.out, contains("Not proved: every program takes at least"));
  CHECK(run.out.find("ptimal") == std::string::npos);
}

TEST_CASE("a program of another computation is refused with what was expected") {
  const Outcome other = flashlab("optimal 2x3x2 --along matmul_inner");
  CHECK(other.code == 1);
  CHECK_THAT(other.err, contains("'a' is not the array of this computation"));
  CHECK_THAT(other.err, contains(".input a[2][3]"));
  CHECK(flashlab("optimal 2x2x2 --along no_such_program").code == 2);
}

TEST_CASE("flags that make no sense beside --along are refused") {
  const std::string flags =
      GENERATE("--registers 3..5", "--operands both", "--witness best.toy", "--count", "--times");
  const Outcome run = flashlab("optimal 2x2x2 --along matmul_inner " + flags);
  CHECK(run.code == 2);
  CHECK_THAT(run.err, contains("--along"));
}

TEST_CASE("the count says how many optimal programs there are, in words, table and JSON") {
  const Outcome words = flashlab("optimal 2x2x2 --registers 3 --operands pinned --count");
  CHECK(words.code == 0);
  CHECK_THAT(words.out, contains("; 4096 optimal\nprograms, 256 up to symmetry;"));
  const Outcome table = flashlab("optimal 2x2x2 --operands both --count");
  CHECK(table.code == 0);
  CHECK_THAT(table.out, contains("203 254 415 360"));
  CHECK(widest_line(table.out) <= 80);
  const std::string many = "optimal dot:8 --registers 6 --count";
  CHECK_THAT(flashlab(many).out, contains("; 8.875e15 optimal\nprograms, "));
  CHECK(json_of(flashlab(many + " --json"))["points"][0]["optimal_programs"] == "8875973836800000");
  const auto json = json_of(flashlab("optimal max:3 --registers 2..3 --count --json"));
  CHECK(json["points"][0]["optimal_programs"] == "6");
  CHECK(json["points"][0]["optimal_programs_up_to_symmetry"] == "1");
  CHECK(json["points"][1]["optimal_programs"] == "24");
}

TEST_CASE("programs that could go on for nothing are not counted") {
  const Outcome run = flashlab("optimal softmax:2 --registers 3 --count --cost EXP=0");
  CHECK(run.code == 2);
  CHECK_THAT(run.err, contains("EXP costs nothing"));
}

}  // namespace flashlab::test
