// The source's tables against the counters: formulas that add up, and runs that agree.
#include <nlohmann/json.hpp>

#include "tests/catch_shim.hpp"
#include "tests/cli/command.hpp"

using namespace flashlab;

namespace {

nlohmann::json tables(const std::string& name = "") {
  const auto result = test::flashlab("tables " + name + " --json");
  REQUIRE(result.code == 0);
  return nlohmann::json::parse(result.out);
}

/// The counter of a run with one-row tiles; of one pass where the table says so.
nlohmann::json run_counters(const std::string& program, const std::string& pass,
                            const std::string& params) {
  const auto result = test::flashlab("run " + program + " " + params + " --no-outputs --json");
  REQUIRE(result.code == 0);
  const nlohmann::json all = nlohmann::json::parse(result.out);
  if (pass.empty()) return all;
  for (const nlohmann::json& one : all["by_pass"]) {
    if (one["pass"] == pass) return one;
  }
  FAIL("no pass " << pass);
  return {};
}

}  // namespace

TEST_CASE("every entry of the source is what is counted, or differs by named formulas") {
  std::size_t entries = 0;
  for (const nlohmann::json& table : tables()) {
    for (const nlohmann::json& row : table["rows"]) {
      INFO(table["name"] << ": " << row["row"] << ", " << row["column"]);
      CHECK(row["adds_up"] == true);
      if (!row.at("stated").is_null()) ++entries;
    }
  }
  CHECK(entries >= 40);
}

TEST_CASE("the formulas of the loop orders are those of executed programs") {
  // n = 6, one-row tiles: inner product 2n^2 + n loads; outer product 4n^2 + 2n.
  const std::string params = "-D n=6,d=3,B=1";
  CHECK(run_counters("flash2", "", params)["loads"] == 2 * 36 + 6);
  const nlohmann::json outer = run_counters("flash1", "Attention", params);
  CHECK(outer["loads"] == 4 * 36 + 2 * 6);
  CHECK(outer["by_array"]["o"]["stores"] == 36);
}

TEST_CASE("the spectrum runs from the outer product to the inner product") {
  for (const int s : {0, 1, 3, 6}) {
    const nlohmann::json counters =
        run_counters("spectrum", "Attention", "-D n=6,d=3,B=1,s=" + std::to_string(s));
    INFO("s = " << s);
    CHECK(counters["by_array"]["o"]["stores"] == 36 - s * 5);
  }
}

TEST_CASE("without D the keys are loaded twice, and with a row kept the values once") {
  const std::string params = "-D n=6,d=3,B=1";
  CHECK(run_counters("bwd_rowwise", "Gradients", params)["by_array"]["k"]["loads"] == 36);
  CHECK(run_counters("bwd_no_delta_blocks", "", params)["by_array"]["k"]["loads"] == 72);
  CHECK(run_counters("bwd_no_delta_blocks", "", params)["by_array"]["v"]["loads"] == 72);
  CHECK(run_counters("bwd_no_delta_row", "", params)["by_array"]["k"]["loads"] == 72);
  CHECK(run_counters("bwd_no_delta_row", "", params)["by_array"]["v"]["loads"] == 36);
}

TEST_CASE("an unknown table is refused with a near miss") {
  const auto result = test::flashlab("tables loop-order");
  CHECK(result.code == 2);
  CHECK(result.err.find("did you mean loop-orders?") != std::string::npos);
}
