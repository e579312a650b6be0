// `flashlab gpu`: plans, sources, and what it refuses.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

TEST_CASE("gpu --plan names the grid's loop, or the line that ties its iterations") {
  const Outcome grid = flashlab("gpu flash2 -D n=8,B=2 --plan");
  CHECK(grid.code == 0);
  CHECK_THAT(grid.out, contains("4 blocks, the iterations of the loop over i in line 24"));
  CHECK_THAT(grid.out, contains("1152 bytes loaded, 160 stored"));
  CHECK_THAT(flashlab("gpu matmul_blocked --plan").out,
             contains("one block: line 30 reads R1, which line 36 may have written"));
  CHECK_THAT(flashlab("gpu softmax_online --plan").out, contains("passes joined"));
}

TEST_CASE("gpu --plan --json counts the bytes that cost counts, launch by launch") {
  const auto plan = json_of(flashlab("gpu bwd_onepass -D n=6,nk=8,B=2 --plan --json"));
  const auto cost = json_of(flashlab("cost bwd_onepass -D n=6,nk=8,B=2 --json"));
  REQUIRE(plan["launches"].size() == 3);
  std::int64_t loaded = 0, stored = 0, updated = 0;
  for (const auto& launch : plan["launches"]) {
    loaded += launch["bytes_loaded"].get<std::int64_t>();
    stored += launch["bytes_stored"].get<std::int64_t>();
    updated += launch["bytes_updated"].get<std::int64_t>();
  }
  CHECK(loaded == cost["value"]["bytes_loaded"]);
  CHECK(stored == cost["value"]["bytes_stored"]);
  CHECK(updated == cost["value"]["bytes_updated"]);
  CHECK(plan["launches"][2]["blocks"] == 4);
  CHECK(plan["launches"][2]["kernel"] == "bwd_onepass_3");
}

TEST_CASE("gpu --plan --json shows what each block loads again") {
  const Workplace place;
  place.write(
      "p.toy",
      ".isa softmax\n.input x[9]\n.output y[8]\nLOAD x[8], R0\nfor i in 0..4\n"
      "for j in 0..2\nLOAD x[2*i + j], R1\nADD R0, R1, R1\nSTORE R1, y[2*i + j]\nend\nend\n");
  const auto plan = json_of(place.shell("flashlab gpu p.toy --plan --json"));
  const auto& launch = plan["launches"][0];
  CHECK(launch["repeated"] == nlohmann::json{{{"line", 4}, {"bytes_per_block", 4}}});
  CHECK(launch["bytes_loaded"] == 4 * 4 + 8 * 4);
}

TEST_CASE("gpu --emit prints a source that has the device functions and one kernel per launch") {
  const Outcome outcome = flashlab("gpu bwd_twopass --emit");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("namespace toy {"));
  for (const std::string kernel : {"bwd_twopass_1(", "bwd_twopass_2(", "bwd_twopass_3("}) {
    CHECK_THAT(outcome.out, contains(kernel));
  }
}

TEST_CASE("gpu lists the tiles that do not fit into shared memory") {
  const Outcome outcome = flashlab("gpu flash2 -D n=512,d=128,B=64 --plan");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.err, contains("K 64 x 128 = 33024"));
  CHECK_THAT(outcome.err, contains("at most 65536 bytes per block"));
  CHECK(flashlab("gpu flash2 -D n=512,d=128,B=64 --sram h100 --plan").code == 0);
}

TEST_CASE("a loop that waits for its loads is predicted to take at least their latencies") {
  // flash1 loads m and l, and then o, in its inner loop: a block waits twice for L2, 288 clocks at 1.98 GHz each.
  const auto run =
      json_of(flashlab("gpu flash1 -D n=1024,d=64,B=16,Bk=16 --level 1 --dtype bf16 --gpu h200 "
                       "--predict-only --json"));
  CHECK(run["launches"][1]["blocks"] == 1);
  constexpr double kPairs = 64 * 64, kWaits = 2 * 288 / 1.98e6;
  CHECK(run["launches"][1]["predicted_ms"].get<double>() > kPairs * kWaits);
}

TEST_CASE("numbers beyond a thread's registers are predicted to take time") {
  // Tiles of 32 x 128 in one warp: 384 numbers for each thread, where 208 have room. Of half the columns it has 192.
  const auto ms = [](const std::string& tiles) {
    return json_of(flashlab(
        "gpu bwd_onepass -D n=1600,d=64," + tiles +
        " --level 1 --dtype fp16 --heads 64 --gpu h200 --predict-only --json"))["launches"][2]
                                                                               ["predicted_ms"]
                                                                                   .get<double>();
  };
  CHECK(ms("B=32,Bk=128") > 1.4 * ms("B=32,Bk=64"));
}

TEST_CASE("gpu refuses a program that goes wrong") {
  const Workplace place;
  place.write("tiles.toy",
              ".isa attention\n.input x(4, 4) tile (2, 2)\n.output y(4, 4) tile (4, 4)\n"
              "LOAD x[0][0], R0\nSTORE R0, y[0][0]\n");
  place.write("range.toy",
              ".isa softmax\n.param n = 4\n.input x[n]\n.output y[n]\n"
              "for i in 0..n\nLOAD x[i+1], R0\nSTORE R0, y[i]\nend\n");
  for (const std::string name : {"tiles.toy", "range.toy"}) {
    const Outcome outcome = place.shell("flashlab gpu " + name + " --emit");
    INFO(name);
    CHECK(outcome.code == 1);
    CHECK(outcome.out == "");
    CHECK_THAT(outcome.err, contains(name + ":"));
  }
}

}  // namespace
}  // namespace flashlab::test
