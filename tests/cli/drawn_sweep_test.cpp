// compare/bench/drawn_sweep.py: what a seed draws, and what its verdict counts.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// Where a small sweep was predicted, for an H100. Empty: there is no Python.
class SmallSweep : public Workplace {
 public:
  bool has_python() const { return shell("python3 -c 'import json'").code == 0; }
  Outcome script(const std::string& arguments) const {
    return shell("python3 -B '" FLASHLAB_SOURCE_DIR "/compare/bench/drawn_sweep.py' " + arguments);
  }
  void predict(const std::string& seed, const std::string& out) const {
    const Outcome outcome = script("predict --seed " + seed + " --calls 4 --runs 3 --flashlab '" +
                                   FLASHLAB_BINARY + "' --out " + out);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
  }
  nlohmann::json rows(const std::string& file) const {
    return nlohmann::json::parse(read(file))["rows"];
  }
};

}  // namespace

TEST_CASE("a seed draws the same sweep, and another seed another one") {
  const SmallSweep place;
  if (!place.has_python()) FLASHLAB_SKIP("there is no python3 (with its standard library)");
  place.predict("7", "a");
  place.predict("7", "b");
  place.predict("8", "c");
  for (const std::string file : {"/calls.json", "/programs.json"}) {
    INFO(file);
    CHECK(place.rows("a" + file).size() >= 3);
    CHECK(place.rows("a" + file) == place.rows("b" + file));
    CHECK(place.rows("a" + file) != place.rows("c" + file));
  }
}

TEST_CASE("the verdict on a sweep counts errors, and predictions that were made later") {
  const SmallSweep place;
  if (!place.has_python()) FLASHLAB_SKIP("there is no python3 (with its standard library)");
  place.predict("7", "predicted");
  place.predict("7", "measured");
  auto programs = nlohmann::json::parse(place.read("measured/programs.json"));
  // Measured times that make predicted over measured 1.25, 0.8 and 1.
  const double factors[] = {1 / 1.25, 1 / 0.8, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    auto& row = programs["rows"][i];
    row["measured"]["median_ms"] = row["predicted_ms"].get<double>() * factors[i];
  }
  place.write("measured/programs.json", programs.dump());
  const Outcome outcome = place.script("judge measured --predicted predicted");
  CHECK(outcome.code == 0);
  // The errors are 0.25, 0.2 and 0.
  CHECK_THAT(outcome.out, contains("    3    15.0%      33%     100%      1.25\n"));
  CHECK_THAT(outcome.out, contains("predictions that are not those written before: 0 of 3\n"));
  CHECK_THAT(outcome.out, contains("not measured: 4\n"));  // the calls
  const std::string again =
      place.script("judge measured --again --flashlab '" FLASHLAB_BINARY "'").out;
  CHECK_THAT(again.substr(again.find("predicted again")),
             contains("    3    15.0%      33%     100%      1.25\n"));
  CHECK_THAT(place.script("judge measured --again --flashlab no_such_file").err,
             contains("no_such_file: No such file or directory: expected the command flashlab"));
  const Outcome nothing = place.script("judge no_such_folder");
  CHECK(nothing.code == 1);
  CHECK_THAT(nothing.err, contains("no_such_folder: expected a folder with calls.json"));
  programs["rows"][1]["prediction_sha256"] = "made later";
  place.write("measured/programs.json", programs.dump());
  CHECK_THAT(place.script("judge measured --predicted predicted").out,
             contains("predictions that are not those written before: 1 of 3\n"));
}

}  // namespace flashlab::test
