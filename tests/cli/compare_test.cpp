// `flashlab compare` without a GPU: predictions, and files of measurements.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/cli/command.hpp"

using namespace flashlab::test;

namespace {

/// Files of several commands that follow one another.
class Folder : public Workplace {
 public:
  Outcome run(const std::string& arguments) const { return shell("flashlab " + arguments); }
};

}  // namespace

TEST_CASE("without a GPU compare counts and predicts for any GPU of the list", "[cli][compare]") {
  const Folder folder;
  const auto sheets =
      nlohmann::json::parse(std::ifstream(FLASHLAB_SOURCE_DIR "/gpu/sheets/gpus.json"));
  for (const auto& row : sheets.at("gpus")) {
    const std::string gpu = row.at("key");
    const Outcome outcome = folder.run("compare --predict-only -v flash2 --gpu " + gpu);
    INFO(gpu << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("rates of the data sheet; nothing measured"));
    CHECK_THAT(outcome.out, contains("flash2, N 4096: predicted only; "));
  }
}

TEST_CASE("bytes to the SMs are in the JSON, exactly", "[cli][compare]") {
  const Folder folder;
  const nlohmann::json json =
      json_of(folder.run("compare --predict-only -v flash2 --gpu h200 --json -"));
  const nlohmann::json& row = json["rows"][0];
  // 32 heads x (Q once, K and V for each of 22 tiles of 192 queries) x 4096 x 64 x 2 bytes
  CHECK(row["work"]["sm"]["bytes_read"] == 754974720);
  CHECK(row["kernel"] == "flash2_wgmma_sm90");
  CHECK(row["prediction_sha256"].get<std::string>().size() == 64);
}

TEST_CASE("rows of one call are told apart by their kernels", "[cli][compare]") {
  const Folder folder;
  const Outcome outcome = folder.run(
      "compare --predict-only --gpu h200 -v flash2 --kernel flash2_mma_sm80,flash2_wgmma_sm90");
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("flash2_mma_sm80"));
  CHECK_THAT(outcome.out, contains("flash2_wgmma_sm90"));
  const Outcome wrong = folder.run("compare --predict-only --gpu h200 --kernel flash9");
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, contains("--kernel flash9"));
}

TEST_CASE("a sweep has a row for each combination, as CSV too", "[cli][compare]") {
  const Folder folder;
  const Outcome outcome = folder.run(
      "compare --predict-only -v flash2,bwd-onepass --n 1024..4096 -d 64,128 --mask none,causal "
      "--csv -");
  CHECK(outcome.code == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 1 + 2 * 3 * 2 * 2);
}

TEST_CASE("what another machine measured is shown here", "[cli][compare]") {
  const Folder folder;
  const std::string file = "a.json";
  nlohmann::json json = json_of(folder.run("compare --predict-only -v flash2 --gpu h200 --json -"));
  json["gpu_name"] = "NVIDIA H200";
  json["date"] = "2026-01-02T03:04:05Z";
  json["rows"][0]["measured"] = {{"median_ms", 0.41}, {"least_ms", 0.4}, {"most_ms", 0.43}};
  folder.write(file, json.dump());
  const Outcome whole = folder.run("compare --measured " + file);
  CHECK(whole.code == 0);
  CHECK_THAT(whole.out, contains("timed on NVIDIA H200, 2026-01-02"));
  CHECK_THAT(whole.out, contains("0.410"));
  const Outcome some = folder.run("compare -v flash2,flash1 --dtype bf16 --measured " + file);
  CHECK_THAT(some.out, contains("0.410"));
  CHECK_THAT(some.err, contains("left out: flash1, bf16"));
}

TEST_CASE("the report is one page, the pictures are files", "[cli][compare]") {
  const Folder folder;
  const Outcome outcome = folder.run(
      "compare --predict-only -v all --dtype float --n 1024..4096 --html r.html --svg "
      "pictures");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(folder.read("r.html"), contains("<svg"));
  CHECK_FALSE(std::filesystem::is_empty(folder.path("pictures")));
}

TEST_CASE("bad files and flags of compare are refused with place and value", "[cli][compare]") {
  const Folder folder;
  const std::string good =
      json_of(folder.run("compare --predict-only -v flash2 --gpu h200 --json -")).dump();
  nlohmann::json below = nlohmann::json::parse(good);
  below["rows"][0]["measured"] = {{"median_ms", 1e-5}};
  nlohmann::json other = nlohmann::json::parse(good);
  other["version"] = 7;
  nlohmann::json unlisted = nlohmann::json::parse(good);
  unlisted["gpu"] = "voodoo2";
  folder.write("short.json", good.substr(0, good.size() / 2));
  folder.write("below.json", below.dump());
  folder.write("other.json", other.dump());
  folder.write("unlisted.json", unlisted.dump());
  const std::pair<std::string, const char*> cases[] = {
      {"--measured short.json", "the file ends too early"},
      {"--measured below.json", "cannot do it in less than"},
      {"--measured other.json", "/version: 7: expected version 1"},
      {"--measured unlisted.json", "the GPU 'voodoo2' is not in gpu/sheets/gpus.json"},
      {"--measured none.json", "no such file"},
      {"--gpu voodoo2", "'voodoo2' is not in gpu/sheets/gpus.json"},
      {"--variant flash3", "--variant 'flash3'"},
      {"--tile 64", "--tile '64'"},
      {"--tile 0x64", "--tile '0x64'"},
      {"--dtype int8", "--dtype 'int8'"},
      {"--show everything", "--show 'everything'"},
      {"--n 0", "--n 0"},
      {"-v flash2 -d 1024", "--head-dim 1024"},
      {"-v flash2 -d 512", "head_dim"},
      {"--measured h200 --gpu a100", "--gpu a100 with measurements of h200"},
      {"--resume", "--resume has no file to continue"},
      {"--again", "--again has no rows to predict"},
      {"--calibration other.json", "expected \"flashlab-calibration\""},
      {"--from-ncu short.json", "--from-ncu is for one call"},
      {"-v flash2 --from-ncu short.json", "short.json: "},
  };
  for (const auto& [flags, message] : cases) {
    const Outcome outcome = folder.run("compare " + flags);
    INFO(flags << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains(message));
  }
}

TEST_CASE("a measured sweep is predicted again, and its kernels' units stand beside the counters",
          "[cli][compare]") {
  const Folder folder;
  const Outcome run =
      folder.run("compare --measured h100_fresh --again --show kernels --width 100");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("predicted again by this version, after the measurements"));
  CHECK_THAT(run.out, contains("flash2_wgmma_sm90           bf16"));
  CHECK_THAT(run.out, contains("times within 15 %"));
  const Outcome before = folder.run("compare --measured h100_fresh --show kernels");
  CHECK_THAT(before.out, !contains("predicted again"));
}

TEST_CASE("measured rows keep the predictions that were hashed before, unless others are wanted",
          "[cli][compare]") {
  const Folder folder;
  for (const char* const flags : {"", "-v flash2,naive -d 64 --n 4096 "}) {
    const std::string command = std::string("compare --measured h200 ") + flags;
    const Outcome kept = folder.run(command + "--json kept.json");
    CHECK(kept.code == 0);
    CHECK(kept.err.empty());
    CHECK_THAT(kept.out, !contains("predicted again"));
    const auto file =
        nlohmann::json::parse(std::ifstream(FLASHLAB_SOURCE_DIR "/docs/results/compare_h200.json"));
    std::set<std::string> hashes;
    for (const auto& row : file["rows"]) hashes.insert(row["prediction_sha256"]);
    const auto rows_of = [&](const char* name) {
      return nlohmann::json::parse(folder.read(name)).at("rows").get<nlohmann::json::array_t>();
    };
    for (const auto& row : rows_of("kept.json")) {
      CHECK(hashes.contains(row["prediction_sha256"]));
    }
    for (const char* const other : {"--again", "--data-sheet"}) {
      const Outcome again = folder.run(command + other + " --json again.json");
      CHECK_THAT(again.out,
                 contains("\npredicted again by this version, after the measurements\n"));
      for (const auto& row : rows_of("again.json")) {
        CHECK_FALSE(hashes.contains(row["prediction_sha256"]));
        CHECK(row.contains("measured"));
      }
      // Who reads that file later is told, too.
      CHECK_THAT(folder.run("compare --measured again.json --show times").out,
                 contains("\npredicted again by this version, after the measurements\n"));
    }
  }
}

TEST_CASE("a call that does not fit into the GPU's memory is said so instead of timed",
          "[cli][compare]") {
  const Folder folder;
  const std::string command =
      "compare --predict-only --gpu rtx3090 -v naive,flash2 -H 1 --dtype float --n 65536 --width "
      "100 ";
  const Outcome run = folder.run(command + "--steps --show times,models,sentences");
  CHECK(run.code == 0);
  const std::string reason = "does not fit: at least 69.0 GB needed, RTX 3090 has 24 GB";
  CHECK_THAT(run.out, contains("naive, N 65536: " + reason + "\n"));
  CHECK_THAT(run.out, contains("  naive     65536\n"));  // no times, no unit
  CHECK_THAT(run.out, contains("flash2, N 65536: predicted only; "));
  CHECK_THAT(folder.run(command + "--explain 1").out, contains("\n" + reason + "\n"));
  const nlohmann::json json = json_of(folder.run(command + "--json -"));
  CHECK(json["rows"][0]["failure"] == reason);
  CHECK_FALSE(json["rows"][1].contains("failure"));
  const Outcome csv = folder.run(command + "--csv -");
  CHECK_THAT(csv.out, contains(",,,") && contains(reason));
  const Outcome page = folder.run(command + "--html page.html");
  CHECK(page.code == 0);
  CHECK_THAT(folder.read("page.html"), contains(reason));
}

// Typed from the Pallas post: an RTX 4000 Ada has 48 SMs, 99 KB of shared memory for a block, 48 MB
// of L2, 20 GB at 360 GB/s, and 106.91 TFLOP/s in bf16.
TEST_CASE("a data sheet is printed without calls, with measured rates beside it if there are any",
          "[cli][compare]") {
  const Folder folder;
  const auto squeezed = [](const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c != ' ' || !result.ends_with(' ')) result += c;
    }
    return result;
  };
  const Outcome run = folder.run("compare --gpu rtx4000ada --show data-sheet");
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  const std::string text = squeezed(run.out);
  for (const char* const line :
       {"multiprocessors (SMs) 48\n", "memory 20 GB\n", "L2 48 MiB\n",
        "shared memory of a block 99 KiB\n", "DRAM, copied 360 GB/s\n",
        "products, bf16 107 TFLOP/s\n", "\nfrom NVIDIA, RTX 4000 Ada Generation data sheet"}) {
    CHECK_THAT(text, contains(line));
  }
  CHECK_THAT(text, !contains("measured"));
  CHECK_THAT(text, !contains("flash2"));
  const std::string measured =
      squeezed(folder.run("compare --measured h200_fresh --show data-sheet").out);
  CHECK_THAT(measured, contains("H200 data sheet measured\n"));
  CHECK_THAT(measured, contains("products, bf16 989 TFLOP/s 647 TFLOP/s\n"));
  CHECK_THAT(measured, contains("L2 to SMs 9.66 TB/s\n"));
}

TEST_CASE("the sources' times stand beside predictions, each that differs with a reason",
          "[cli][compare]") {
  const Folder folder;
  const Outcome run = folder.run("compare --sources --width 120");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("RTX 3090"));
  CHECK_THAT(run.out, contains("their bytes"));
  CHECK_THAT(run.out, contains("no data sheet has a rate of additions"));
  CHECK_THAT(run.out, contains("of 25 within 30 %"));
}

TEST_CASE("a calibration without a GPU is refused", "[cli][compare]") {
  const Folder folder;
  const Outcome outcome = folder.run("compare --calibrate");
  if (outcome.code == 0) FLASHLAB_SKIP("there is a GPU here");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("no GPU"));
}

TEST_CASE("compare's tables fit the terminal", "[cli][compare]") {
  const Folder folder;
  for (const char* const width : {"60", "80", "140"}) {
    const Outcome outcome = folder.run(
        "compare --predict-only --show all --steps --n 1024,4096 --width " + std::string(width));
    REQUIRE(outcome.code == 0);
    INFO(outcome.out);
    CHECK(widest_line(outcome.out) <= static_cast<std::size_t>(std::stoi(width)));
  }
}
