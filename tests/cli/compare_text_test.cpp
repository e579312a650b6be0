// The tables of `flashlab compare`, of a file with round numbers.
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// One call of flash2 on an H200: 1 ms predicted, 2 ms measured; 1 GB counted to the SMs, 1.25 GB
/// measured.
constexpr const char* kRoundFile = R"({"format":"flashlab-compare","version":1,"gpu":"h200",
"gpu_name":"NVIDIA H200","date":"2026-01-02T03:04:05Z","rows":[{"variant":"flash2",
"kernel":"flash2_mma_sm80","pass":"forward","dtype":"bf16","products":"native","mask":"none",
"batch":4,"num_heads":8,"num_kv_heads":8,"seqlen_q":4096,"seqlen_k":4096,"head_dim":64,
"toy":{"dram":{"bytes_read":0,"bytes_written":0},"sm":{"bytes_read":999,"bytes_written":0},
 "product_flops":1,"elementwise_flops":2,"divisions":0,"exps":3},
"work":{"dram":{"bytes_read":60000000,"bytes_written":40000000},
 "sm":{"bytes_read":900000000,"bytes_written":100000000},
 "product_flops":5000000000,"elementwise_flops":6000000,"divisions":0,"exps":7000},
"predicted":{"dram_ms":0.1,"sm_ms":0.2,"products_ms":0.9,"elementwise_ms":0,"exp_ms":0.1,
 "launch_ms":0,"fill":1,"roofline_ms":0.6,"overlap_ms":1,"bound":"products",
 "shared_ms":0.3,"issue_ms":0.4,"wait_ms":0.05,"warps":2,"clock_ghz":1.75,"units_ms":1},
"seed_bytes":{"formula":999499,"prose":999600},"seed_ms":0.25,"usual_flops":137438953472,
"tensor_bytes":0,"workspace_bytes":0,"prediction_sha256":"0123",
"measured":{"median_ms":2,"dram":{"bytes_read":1000,"bytes_written":0},
 "sm":{"bytes_read":1250000000,"bytes_written":0}},
"steps":[{"name":"s","num_launches":1,"num_blocks":1024,"block_q":128,"block_kv":64,
 "num_threads":256,"shared_bytes":102400,
 "work":{"dram":{"bytes_read":0,"bytes_written":0},"sm":{"bytes_read":500000000,"bytes_written":0},
  "product_flops":0,"elementwise_flops":0,"divisions":0,"exps":0},
 "predicted":{"dram_ms":0,"sm_ms":0,"products_ms":0.4,"elementwise_ms":0,"exp_ms":0,"launch_ms":0,
  "fill":1,"roofline_ms":0,"overlap_ms":0.5,"bound":"DRAM",
  "shared_ms":0,"issue_ms":0,"wait_ms":0,"warps":0,"clock_ghz":0,"units_ms":0.5},
 "measured":{"median_ms":0.25,"sm":{"bytes_read":250000000,"bytes_written":0}}}]}]})";

nlohmann::json round_file() { return nlohmann::json::parse(kRoundFile); }

/// Every run of blanks as one, none at the begin of a line.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_first = result.empty() || result.back() == '\n';
    if (c == ' ' && (is_first || result.back() == ' ')) continue;
    result += c;
  }
  return result;
}

std::string shown(const nlohmann::json& file, const std::string& flags) {
  const Workplace place;
  place.write("a.json", file.dump());
  const Outcome outcome = place.shell("flashlab compare --measured a.json --width 200 " + flags);
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  return squeezed(outcome.out);
}

}  // namespace

TEST_CASE("a comparison's heading names GPU, rates, date and what all rows share") {
  nlohmann::json file = round_file();
  CHECK_THAT(shown(file, ""),
             contains("H200, rates of the data sheet; timed on NVIDIA H200, 2026-01-02\n"
                      "bf16, batch 4, 8 heads, d 64, full\n\n"));
  file.erase("date");
  file["calibration"] = {{"gpu", "NVIDIA H200"}, {"flops_per_s", nlohmann::json::object()}};
  file["rows"][0]["num_kv_heads"] = 2;
  file["rows"][0]["products"] = "tf32";
  file["rows"][0]["dtype"] = "float";
  CHECK_THAT(shown(file, ""), contains("H200, rates measured; timed on NVIDIA H200\nfloat tf32, "
                                       "batch 4, 8 heads on 2 kv heads, d 64, full\n"));
  file["calibration"]["date"] = "2026-01-01T00:00:00Z";
  file["rows"][0].erase("measured");
  file["rows"][0]["num_heads"] = file["rows"][0]["num_kv_heads"] = 1;
  file.erase("gpu_name");
  const Workplace place;
  place.write("a.json", file.dump());
  CHECK_THAT(place.shell("flashlab compare --measured a.json --width 200").out,
             contains("H200, rates measured 2026-01-01; nothing measured\nfloat tf32, batch 4, 1 "
                      "head, d 64, full\n"));
}

TEST_CASE("the table of times has bytes and milliseconds, their ratios, and steps if asked for") {
  const std::string times = shown(round_file(), "--show times");
  CHECK_THAT(times, contains("variant N GB to SMs counted measured ratio ms predicted measured "
                             "ratio\n"));
  CHECK_THAT(times, contains("\nflash2 4096 1.00 1.25 0.80 1.00 2.00 0.50\n"));
  CHECK_THAT(times, !contains("\ns "));
  CHECK_THAT(shown(round_file(), "--show times --steps"),
             contains("\ns 0.500 0.250 2.00 0.500 0.250 2.00\n"));
  nlohmann::json file = round_file();
  file["rows"][0].erase("measured");
  file["rows"][0]["steps"][0].erase("measured");
  const std::string predicted = shown(file, "--show times");
  CHECK_THAT(predicted, contains("variant N GB to SMs counted ms predicted\n"));
  CHECK_THAT(predicted, contains("\nflash2 4096 1.00 1.00\n"));
  CHECK_THAT(predicted, !contains("within"));  // no share of nothing
}

TEST_CASE("the tables of models, bytes and FLOPs have each number in its column") {
  const std::string models = shown(round_file(), "--show models");
  CHECK_THAT(models, contains("variant N roofline ms overlap units Pallas measured bound\n"));
  CHECK_THAT(models, contains("\nflash2 4096 0.600 1.00 1.00 0.250 2.00 products\n"));
  CHECK_THAT(models,
             contains("\nroofline every unit of the GPU works at its rate, all at once; the "
                      "slowest decides\n"));
  CHECK_THAT(models, !contains("within 25 %"));
  const std::string bytes = shown(round_file(), "--show bytes");
  CHECK_THAT(bytes, contains("DRAM, bytes\nvariant N Pallas formula Pallas prose each array once "
                             "measured\n"));
  // A prefix from 999.5 on.
  CHECK_THAT(bytes, contains("\nflash2 4096 999 kB 1.00 MB 100 MB 1.00 kB\n"));
  CHECK_THAT(bytes, contains("Between L2 and the SMs, bytes\nvariant N toy program the kernel's "
                             "blocks measured\n"));
  CHECK_THAT(bytes, contains("\nflash2 4096 999 B 1.00 GB 1.25 GB\n"));
  const std::string flops = shown(round_file(), "--show flops");
  CHECK_THAT(flops, contains("variant N Pallas usual products others exps\n"));
  // (4 x 64 + 5) x 4 x 8 x 4096 x 4096 = 140.1e9
  CHECK_THAT(flops, contains("\nflash2 4096 140 GFLOP 137 GFLOP 5.00 GFLOP 6.00 MFLOP 7.00 k\n"));
  nlohmann::json file = round_file();
  file["rows"][0].erase("seed_bytes");
  file["rows"][0].erase("seed_ms");
  CHECK_THAT(shown(file, "--show flops"),
             contains("\nflash2 4096 137 GFLOP 5.00 GFLOP 6.00 MFLOP 7.00 k\n"));
  CHECK_THAT(shown(file, "--show bytes"), contains("\nflash2 4096 100 MB 1.00 kB\n"));
  CHECK_THAT(shown(file, "--show models"),
             contains("\nflash2 4096 0.600 1.00 1.00 2.00 products\n"));
}

TEST_CASE("shared memory is shown of kernels with tiles, once each") {
  nlohmann::json file = round_file();
  nlohmann::json& steps = file["rows"][0]["steps"];
  for (const char* const name : {"no_tile", "two_queries", "nothing"}) {
    steps.push_back(steps[0]);
    steps.back()["name"] = name;
  }
  steps[1]["block_q"] = 1;
  steps[2]["block_q"] = 2;
  steps[3]["shared_bytes"] = 0;
  file["rows"].push_back(file["rows"][0]);
  file["rows"][1]["seqlen_q"] = file["rows"][1]["seqlen_k"] = 8192;
  const std::string text = shown(file, "--show shared-memory");
  CHECK_THAT(text, contains("kernel d tile threads KiB per block of 227.0\n"));
  CHECK_THAT(text, contains("\ns, bf16 64 128 x 64 256 100.0 44 %\n"));
  CHECK_THAT(text, contains("\ntwo_queries, bf16 64 2 x 64 256 100.0 44 %\n"));
  CHECK_THAT(text, !contains("no_tile"));
  CHECK_THAT(text, !contains("nothing,"));
  CHECK(text.find("\ns, bf16") == text.rfind("\ns, bf16"));
}

TEST_CASE(
    "FLOPs per byte are those of the post, of the counts and of the hardware, beside the ridge") {
  nlohmann::json file = round_file();
  file["rows"][0]["seed_bytes"]["formula"] = 1401233080;  // of 4 B H T^2 D + 5 B H T^2 FLOPs
  file["rows"][0]["measured"]["dram"]["bytes_read"] = 50060070;
  const std::string text = shown(file, "--show intensity");
  CHECK_THAT(text, contains("FLOPs per byte of DRAM\nvariant N Pallas each array once measured "
                            "bytes ridge\n"));
  CHECK_THAT(text, contains("\nflash2 4096 100 50.1 100 206\n"));
  // 64 tiles of 64 queries each load K and V, 16.8 MB in bf16 each; Q, O and lse once.
  CHECK_THAT(text, contains("with its tile of 64 queries\nvariant N formula prose\n"));
  CHECK_THAT(text, contains("\nflash2 4096 67.4 MB 2.18 GB\n"));
}

TEST_CASE("a call that does not fit into the GPU's memory says so, unless it was measured") {
  const std::string needs =
      "compare --predict-only --gpu rtx3090 -v naive,flash2 --batch 4 -H 1 "
      "--dtype float --n 65536 --width 120";
  const Outcome outcome = flashlab(needs);
  // S and P of 4 x 65536 x 65536 floats each, and a little more.
  CHECK_THAT(outcome.out, contains("\nnaive, N 65536: the arrays of its program take 138 GB, more "
                                   "than the 24.0 GB of the RTX 3090\n"));
  CHECK_THAT(outcome.out, !contains("flash2, N 65536: the arrays"));
  CHECK_THAT(shown(round_file(), ""), !contains("the arrays of its program"));
}

TEST_CASE("the post's list of shared memory stands entry by entry") {
  const std::string text = shown(round_file(), "--show shared-memory");
  CHECK_THAT(text, contains("\nO, float 16.00 32.00\n"));
  CHECK_THAT(text, contains("\nK and V once more: two stages 16.00 32.00\nall 73.25 129.25\n"));
}

TEST_CASE("the post's tile and a T x T matrix are compared with limits of shared memory") {
  const std::string text = shown(round_file(), "--show shared-memory");
  CHECK_THAT(text, contains("57.2 + 16.0 = 73.2 KiB at d 64 (fits"));
  CHECK_THAT(text, contains("97.2 + 32.0 = 129.2 KiB at d 128 (does not fit"));
  CHECK_THAT(text, contains("\n256 128.0 56 % yes\n512 512.0 226 % no\n"));
}

TEST_CASE("the ridge is the rate of products over the rate of DRAM") {
  const std::string text = shown(round_file(), "--show models");
  CHECK(std::regex_search(text, std::regex("ridge [0-9.]+ FLOPs per byte of DRAM in bf16 \\(")));
}

TEST_CASE("the committed measurements are found without the flags of their shape") {
  const Outcome found = flashlab("compare --measured h200 -v naive,flash2 --n 1024..16384");
  CHECK(found.code == 0);
  CHECK_THAT(found.err, !contains("no measurement"));
  const Outcome of_sources =
      flashlab("compare --measured h200_source_sizes -v flash2 --dtype float --n 8192");
  CHECK_THAT(of_sources.err, !contains("no measurement"));
}

TEST_CASE("a comparison without a measured row says which sizes there are") {
  const Outcome outcome = flashlab("compare --measured h200 -v flash2 --n 1000..16000 -H 3");
  CHECK_THAT(outcome.err, contains("h200 has no measurement of flash2, bf16, batch 4, 3 heads"));
  CHECK_THAT(outcome.err, contains("nor of ") && contains("more calls"));
  CHECK_THAT(outcome.err, contains("it has flash2 in bf16: N ") &&
                              contains("N 512, 1024, 2048, ") &&
                              contains("(--tokens 16384 --hidden 2048)"));
}

TEST_CASE("attributes in which rows differ have columns, and are in sentences") {
  nlohmann::json file = round_file();
  nlohmann::json other = file["rows"][0];
  other["mask"] = "causal", other["head_dim"] = 128, other["tile"] = "64x32";
  other["dtype"] = "float", other["products"] = "tf32", other["seqlen_k"] = 100;
  other.erase("measured");
  file["rows"].push_back(other);
  const std::string text = shown(file, "--show models,sentences");
  CHECK_THAT(text, contains("\nbatch 4, 8 heads\n"));
  CHECK_THAT(text, contains("variant type d mask keys tile N roofline ms"));
  CHECK_THAT(text, contains("\nflash2 bf16 64 full 4096 0.600"));
  CHECK_THAT(text, contains("\nflash2 tf32 128 causal 100 64x32 4096 0.600"));
  CHECK_THAT(text, contains("\nflash2, bf16, d 64, full, N 4096: 2.0 times the predicted time"));
  CHECK_THAT(text, contains("\nflash2, float tf32, d 128, causal, 100 keys, tile 64x32, N 4096: "
                            "predicted only; bound by products"));
}

TEST_CASE("the shares of close predictions are below times and sentences") {
  nlohmann::json file = round_file();
  file["rows"].push_back(file["rows"][0]);
  file["rows"].back()["predicted"]["units_ms"] = 1.8;  // of 2 ms
  const std::string text = shown(file, "--show sentences");
  CHECK_THAT(text, contains("\n0 of 2 (0 %) bytes to SMs within 5 %: flash1, flash2, "
                            "bwd-twopass, N >= 4096\n"));
  CHECK_THAT(text, contains("\n1 of 2 (50 %) times within 15 %: all calls, N >= 1024\n"));
  CHECK_THAT(text, contains("\n1 of 2 (50 %) times within 30 %: all calls, N >= 1024\n"));
}

TEST_CASE("a tile's side is from 1 to 65536, and sizes may be ranges that double") {
  const std::string predict = "compare --predict-only --gpu h200 -v flash2 ";
  const std::pair<const char*, bool> tiles[] = {
      {"1x1", true},       {"0x1", false},      {"1x0", false},       {"64x65536", true},
      {"64x65537", false}, {"65537x64", false}, {"64", false},        {"64x", false},
      {"x64", false},      {"64x32x16", false}, {"64x32,32x64", true}};
  for (const auto& [tile, is_good] : tiles) {
    CAPTURE(tile);
    const Outcome outcome = flashlab(predict + "--n 128 --tile " + tile);
    const bool is_refused = outcome.err.find("each from 1 to 65536") != std::string::npos;
    CHECK(is_refused == !is_good);
    if (!is_good) CHECK(outcome.code == 2);
  }
  const std::pair<const char*, std::vector<int>> lengths[] = {{"128..512", {128, 256, 512}},
                                                              {"128..384+128", {128, 256, 384}},
                                                              {"64..1024*4", {64, 256, 1024}},
                                                              {"96,64", {96, 64}}};
  for (const auto& [text, expected] : lengths) {
    CAPTURE(text);
    std::vector<int> all;
    const nlohmann::json result = json_of(flashlab(predict + "--json - --n " + text));
    for (const auto& row : result.at("rows")) {
      all.push_back(row["seqlen_q"]);
    }
    CHECK(all == expected);
  }
}

TEST_CASE("a measured time may be the floor of its GPU, but not below") {
  // 137438953472 FLOPs at 989.4e12 a second take 0.138911 ms.
  nlohmann::json file = round_file();
  file["rows"][0]["measured"] = {{"median_ms", 0.13892}};
  CHECK_THAT(shown(file, "--show times"), contains("0.139"));
  file["rows"][0]["measured"] = {{"median_ms", 0.1389}};
  const Workplace place;
  place.write("a.json", file.dump());
  const Outcome outcome = place.shell("flashlab compare --measured a.json");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("0.138900 ms, and H200 cannot do it in less than 0.138911 ms: "
                                   "the measurement is wrong"));
}

TEST_CASE("a row is explained by bars of its units and by the one that binds") {
  nlohmann::json file = round_file();
  nlohmann::json& step = file["rows"][0]["steps"][0];
  step["predicted"].update({{"products_ms", 0.2},
                            {"shared_ms", 0.4},
                            {"warps", 2},
                            {"clock_ghz", 1.75},
                            {"wait_ms", 0.05}});
  step["measured"]["shared_percent"] = 60;
  const std::string text = shown(file, "--explain 1");
  CHECK_THAT(text, contains("flash2, bf16, batch 4, 8 heads, N 4096"));
  CHECK_THAT(
      text,
      contains("\ns: predicted 500 µs, measured 250 µs; 2 warps per scheduler at 1.75 GHz\n"));
  CHECK_THAT(text, contains("shared memory predicted 80 % " + std::string(40, '#') + "\n"));
  CHECK_THAT(text, contains("measured 60 % " + std::string(30, '#') + "\n"));
  CHECK_THAT(text, contains("waits predicted 10 % #####\n"));
  CHECK_THAT(text, contains("shared memory binds, busy 80 % of the predicted time; with 50 % less "
                            "of it, products would bind"));
  CHECK_THAT(text, !contains("GB to SMs"));
}

TEST_CASE("an explained row has its measured clock, and the ratio in cycles") {
  nlohmann::json file = round_file();
  CHECK_THAT(shown(file, "--explain 1"), !contains("GHz"));
  nlohmann::json& row = file["rows"][0];
  row["predicted"]["clock_ghz"] = 1.5;
  row["measured"] = {{"median_ms", 0.5}, {"clock_ghz", 1.25}};
  const double in_time = row["predicted"]["units_ms"].get<double>() / 0.5;
  REQUIRE(in_time == 2);
  CHECK_THAT(
      shown(file, "--explain 1"),
      contains("measured at 1.25 GHz; predicted over measured: 2.00 in time, 2.40 in cycles\n"));
}

TEST_CASE("a row that is not in the table cannot be explained") {
  const Workplace place;
  place.write("a.json", round_file().dump());
  for (const char* const row : {"0", "2", "-1"}) {
    const Outcome outcome =
        place.shell("flashlab compare --measured a.json --explain " + std::string(row));
    CHECK(outcome.code != 0);
    CHECK_THAT(outcome.err, contains("--explain " + std::string(row)));
    CHECK_THAT(outcome.err, contains("a row of the table, 1 to 1"));
  }
}

}  // namespace flashlab::test
