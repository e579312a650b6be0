// `flashlab compare` on an emulated GPU: what is measured, and the files that go on with it.
#include <nlohmann/json.hpp>

#include "tests/catch_shim.hpp"
#include "tests/cli/command.hpp"

using namespace flashlab::test;

namespace {

const std::string kSmallSweep = "compare -B 1 -H 1 -d 16 --dtype float --repeat 1 ";

/// Files of several commands that follow one another.
class GpuFolder : public Workplace {
 public:
  Outcome run(const std::string& arguments) const { return shell("flashlab " + arguments); }
  /// The command with an emulated GPU.
  Outcome emulated(const std::string& arguments) const {
    return shell("FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY "' flashlab " + arguments);
  }
  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(read(name)); }
};

}  // namespace

TEST_CASE("the prediction is the same before and after measuring", "[cli][compare]") {
  const GpuFolder folder;
  const std::string file = "a.json";
  const Outcome outcome = folder.emulated(kSmallSweep + "-v flash2,naive --n 64 --json " + file);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, contains("emulated GPU is not in gpu/sheets/gpus.json"));
  const nlohmann::json json = folder.json(file);
  REQUIRE(json["rows"].size() == 2);
  for (const nlohmann::json& row : json["rows"]) {
    CHECK(row["measured"]["median_ms"].get<double>() > 0);
    CHECK_THAT(row["measured"]["why_no_counters"].get<std::string>(), contains("without CUPTI"));
    CHECK(row["prediction_sha256"].get<std::string>().size() == 64);
    CHECK_FALSE(row["sentence"].get<std::string>().empty());
  }
  CHECK(json["rows"][1]["steps"][1]["name"] == "naive_scale");
  CHECK(json["rows"][1]["steps"][1]["measured"]["median_ms"].get<double>() > 0);
}

TEST_CASE("a sweep goes on with what is there already, and keeps other rows", "[cli][compare]") {
  const GpuFolder folder;
  const std::string file = "a.json";
  REQUIRE(folder.emulated(kSmallSweep + "-v flash2 --n 32 --json " + file).code == 0);
  const nlohmann::json before = folder.json(file);
  const Outcome outcome =
      folder.emulated(kSmallSweep + "-v flash2 --n 32,64 --resume --json " + file);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, contains("1 of 2 calls are there already"));
  CHECK_THAT(outcome.err, !contains("1 of 2: "));
  const nlohmann::json after = folder.json(file);
  REQUIRE(after["rows"].size() == 2);
  CHECK(after["rows"][0]["measured"] == before["rows"][0]["measured"]);
  REQUIRE(folder.emulated(kSmallSweep + "-v flash1 --n 32 --resume --json " + file).code == 0);
  CHECK(folder.json(file)["rows"].size() == 3);
}

TEST_CASE("a kernel that fails leaves its reason, and the rest goes on", "[cli][compare]") {
  const GpuFolder folder;
  const std::string file = "a.json";
  // More than the emulated GPU's memory: said before any is asked for.
  const Outcome outcome = folder.emulated(
      "compare -B 64 -H 64 -d 64 --dtype float --repeat 1 -v naive --n 16384 --json " + file);
  CHECK(outcome.code == 0);
  CHECK_THAT(folder.json(file)["rows"][0]["failure"].get<std::string>(),
             contains("does not fit: "));
  CHECK_FALSE(folder.json(file)["rows"][0].contains("measured"));
}

TEST_CASE("an emulated GPU can be calibrated into a file that predictions take", "[cli][compare]") {
  const GpuFolder folder;
  const std::string file = "c.json";
  const Outcome outcome = folder.emulated("compare --calibrate --json " + file);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("DRAM copy"));
  CHECK(folder.json(file)["format"] == "flashlab-calibration");
  const Outcome refused = folder.run("compare --predict-only --gpu h200 --calibration " + file);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, contains("the calibration is of emulated GPU, the comparison of H200"));
}
