// flashlab run: counters, outputs, what --json holds.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

TEST_CASE("a run that takes too long, or too much memory, ends at its limit") {
  Outcome outcome = flashlab("cost spectrum --max-seconds 0.001");
  CHECK(outcome.code == 3);
  CHECK(
      outcome.err ==
      "flashlab: error: this takes more than 1 ms of processor time\n  expected less, or a larger "
      "--max-seconds\n");
  outcome = flashlab("run softmax_safe --max-memory 1MB --no-outputs -D n=4000000");
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err,
             contains("more than 1000000 bytes of memory") && contains("--max-memory"));
  CHECK(flashlab("run softmax_safe --max-seconds 60 --max-memory 1GiB").code == 0);
  CHECK_THAT(flashlab("run softmax_safe --max-memory none").err, contains("'none' is not a size"));
}

TEST_CASE("run prints the cycles that the course prints") {
  struct Case {
    const char* program;
    int cycles, loads, stores;
  };
  const std::array<Case, 3> cases{
      {{"matmul_c00", 7, 4, 1}, {"matmul_inner", 25, 13, 4}, {"matmul_outer", 22, 10, 4}}};
  for (const Case& expected : cases) {
    CAPTURE(expected.program);
    const auto json = json_of(flashlab("run " + std::string(expected.program) + " --json"));
    CHECK(json["cycles"] == expected.cycles);
    CHECK(json["loads"] == expected.loads);
    CHECK(json["stores"] == expected.stores);
  }
}

TEST_CASE("run --json has every key that was promised") {
  const auto json = json_of(flashlab("run softmax_online -D n=8 --json"));
  for (const char* key : {"steps", "cycles", "loads", "stores", "compute", "by_op", "bytes_loaded",
                          "bytes_stored", "flops", "exps", "peak_registers", "peak_dram_bytes",
                          "by_array", "by_pass", "params", "outputs"}) {
    CAPTURE(key);
    CHECK(json.contains(key));
  }
  CHECK(json["loads"] == 16);
  CHECK(json["stores"] == 8);
  CHECK(json["params"]["n"] == 8);
  CHECK(json["by_op"]["LOAD"] == 16);
  CHECK(json["by_array"]["x"]["elements_loaded"] == 16);
  CHECK(json["by_pass"].size() == 2);
  CHECK(json["outputs"]["out"].size() == 8);
}

TEST_CASE("run --json nests outputs as the array is declared") {
  const auto json =
      json_of(flashlab("run matmul_outer --input 'a=[[1,2],[3,4]]' "
                       "--input 'b=[[5,6],[7,8]]' --json"));
  CHECK(json["outputs"]["c"] == nlohmann::json::parse("[[19,22],[43,50]]"));
}

TEST_CASE("run --no-outputs leaves the outputs out") {
  CHECK_FALSE(json_of(flashlab("run matmul_outer --json --no-outputs")).contains("outputs"));
  CHECK_THAT(flashlab("run matmul_outer").out, contains("\n\n  c "));
  CHECK_THAT(flashlab("run matmul_outer --no-outputs").out, !contains("\n\n  c "));
}

TEST_CASE("minus infinity is a value, in and out") {
  const auto json = json_of(flashlab("run softmax_safe -D n=3 --input 'x=[0,-inf,0]' --json"));
  CHECK(json["outputs"]["out"] == nlohmann::json::parse("[0.5, 0, 0.5]"));
  Workplace place;
  place.write("copy.toy",
              ".registers 1\n.input x[1]\n.output o[1]\nLOAD x[0], R0\nSTORE R0, o[0]\n");
  const auto copied = json_of(place.shell("flashlab run copy.toy --input 'x=[-inf]' --json"));
  CHECK(copied["outputs"]["o"][0] == "-inf");
}

TEST_CASE("two runs without --input agree, and random:SEED decides the values") {
  const std::string first = flashlab("run softmax_safe -D n=6 --json").out;
  CHECK(first == flashlab("run softmax_safe -D n=6 --json").out);
  CHECK(first != flashlab("run softmax_safe -D n=6 --input x=random:7 --json").out);
}

TEST_CASE("costs change cycles and nothing else") {
  const auto plain = json_of(flashlab("run softmax_online --json"));
  const auto dear = json_of(flashlab("run softmax_online --cost load=100,EXP=4 --json"));
  CHECK(dear["steps"] == plain["steps"]);
  CHECK(dear["cycles"] == plain["cycles"].get<int>() + 99 * plain["loads"].get<int>() +
                              3 * plain["by_op"]["EXP"].get<int>());
}

TEST_CASE("parameters may come one by one or together") {
  const auto one = json_of(flashlab("run matmul_naive -D m=2 -D n=3 -D k=4 --json"));
  const auto all = json_of(flashlab("run matmul_naive -Dm=2,n=3,k=4 --json"));
  CHECK(one == all);
  CHECK(one["params"] == nlohmann::json::parse(R"({"m":2,"k":4,"n":3})"));
}

TEST_CASE("inputs come from CSV and JSON files") {
  Workplace place;
  place.write("x.csv", "# three numbers\r\n1\r\n2\r\n3\r\n");
  place.write("x.json", "[1, 2,\n 3]");
  const std::string run = "flashlab run softmax_safe -D n=3 --json --input x=";
  const auto list = json_of(place.shell(run + "'[1,2,3]'"));
  CHECK(json_of(place.shell(run + "x.csv")) == list);
  CHECK(json_of(place.shell(run + "x.json")) == list);
}

TEST_CASE("double precision holds more digits") {
  const std::string run = "run softmax_safe -D n=2 --input 'x=[0.1,0.2]' --json --precision ";
  const double narrow = json_of(flashlab(run + "float"))["outputs"]["out"][0];
  const double wide = json_of(flashlab(run + "double"))["outputs"]["out"][0];
  CHECK(narrow != wide);
  CHECK(std::abs(narrow - wide) < 1e-6);
}

}  // namespace
}  // namespace flashlab::test
