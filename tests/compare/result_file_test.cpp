#include "results/result_file.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

using namespace flashlab::compare;
using namespace flashlab::test;
using Json = nlohmann::ordered_json;

namespace {

Comparison comparison() {
  Comparison result;
  result.gpu_key = "h200";
  result.gpu_name = "NVIDIA H200";
  result.date = "2026-11-21T21:00:00Z";
  result.command = "flashlab compare --n 4096";
  result.calibration.emplace();
  result.calibration->gpu_name = "NVIDIA H200";
  result.calibration->dram_copy_bytes_per_s = 4.28e12;
  result.calibration->flops_per_s = {{"bf16", 6.4e14}};
  result.calibration->launch_s = 2.1e-6;
  result.calibration->l2_bytes = 60'000'000;
  result.rows = {measured_row(1.25), flashlab::test::synthetic_row()};
  result.rows[1].seqlen_q = 8192;
  result.rows[1].failure = "no memory, \"none\"\nat all";
  for (Row& row : result.rows) row.prediction_sha256 = prediction_sha256(row);
  return result;
}

/// The message of what parsing a changed file throws.
std::string changed_file_error(const std::function<void(Json&)>& change) {
  Json json = to_json(comparison());
  change(json);
  try {
    parse_comparison(json.dump());
  } catch (const ResultFileError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a file comes back as it was written", "[compare]") {
  const std::string text = to_json(comparison()).dump(2);
  CHECK(to_json(parse_comparison(text)).dump(2) == text);
}

TEST_CASE("a calibration comes back as it was written", "[compare]") {
  const std::string text = to_json(*comparison().calibration).dump();
  CHECK(to_json(parse_calibration(text)).dump() == text);
}

TEST_CASE("the hash is of the prediction, not of what was measured", "[compare]") {
  Row row = measured_row(1.25);
  const std::string before = prediction_sha256(row);
  CHECK(before.size() == 64);
  row.measured->median_ms = 99;
  row.steps.front().measured = row.measured;
  row.sentence = "said later";
  CHECK(prediction_sha256(row) == before);
  row.predicted.overlap_ms *= 1.00001;
  CHECK(prediction_sha256(row) != before);
}

TEST_CASE("the hash of a row that was read is the one that it was written with", "[compare]") {
  const Comparison read = parse_comparison(to_json(comparison()).dump());
  for (const Row& row : read.rows) CHECK(prediction_sha256(row) == row.prediction_sha256);
}

TEST_CASE("a truncated file says where it ends", "[compare]") {
  const std::string text = to_json(comparison()).dump();
  CHECK_THROWS_WITH(parse_comparison(text.substr(0, 100)),
                    "byte 101 of 100: the file ends too early");
  CHECK_THROWS_WITH(parse_comparison("nothing"), contains("not JSON"));
}

TEST_CASE("a file that nests without end is refused before it is looked into", "[compare]") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  CHECK_THROWS_WITH(parse_comparison(deep), "the file nests more than 64 deep");
  CHECK_THROWS_WITH(parse_calibration("{\"format\":" + deep + "}"), contains("64 deep"));
}

TEST_CASE("a file of another version or kind is refused", "[compare]") {
  CHECK_THAT(changed_file_error([](Json& json) { json["version"] = 2; }),
             contains("/version: 2: expected version 1"));
  CHECK_THAT(changed_file_error([](Json& json) { json["format"] = "flashlab-attention"; }),
             contains("/format: \"flashlab-attention\": expected \"flashlab-compare\""));
  CHECK_THAT(changed_file_error([](Json& json) { json.erase("rows"); }),
             contains("the file: no \"rows\""));
}

TEST_CASE("a value that is none is named with its place", "[compare]") {
  using Change = std::function<void(Json&)>;
  const std::pair<Change, const char*> cases[] = {
      {[](Json& j) { j["rows"][0]["measured"]["median_ms"] = nullptr; },  // how NaN is written
       "/rows/0/measured/median_ms: null: expected a number"},
      {[](Json& j) { j["rows"][0]["measured"]["median_ms"] = -1.5; },
       "/rows/0/measured/median_ms: -1.5: expected a number of at least 0"},
      {[](Json& j) { j["rows"][0]["measured"]["median_ms"] = 0; },
       "/rows/0/measured/median_ms: 0: expected a number above 0"},
      {[](Json& j) { j["rows"][0]["measured"]["least_ms"] = 7; },
       "expected least_ms <= median_ms <= most_ms"},
      {[](Json& j) { j["rows"][1]["toy"]["sm"]["bytes_read"] = "many"; },
       "/rows/1/toy/sm/bytes_read: \"many\": expected a whole number"},
      {[](Json& j) { j["rows"][1]["seqlen_q"] = 18446744073709551615U; },
       "/rows/1/seqlen_q: 18446744073709551615: expected a number below 2^63"},
      {[](Json& j) { j["rows"][0]["variant"] = "flash9"; },
       "/rows/0/variant: \"flash9\": expected a variant"},
      {[](Json& j) { j["rows"][0]["measured"]["tensor_percent"] = 250; },
       "/rows/0/measured/tensor_percent: 250: expected at most 100 per cent"},
      {[](Json& j) { j["rows"][0]["predicted"]["bound"] = "the moon"; },
       "/rows/0/predicted/bound: \"the moon\": expected a unit"},
      {[](Json& j) {
         j["rows"][0]["predicted"].update({{"units_ms", 1},
                                           {"shared_ms", 1},
                                           {"issue_ms", 1},
                                           {"wait_ms", 1},
                                           {"clock_ghz", 1},
                                           {"warps", 65}});
       },
       "/rows/0/predicted/warps: 65: expected at most 64 warps of a scheduler"},
      {[](Json& j) { j["predicted_again"] = 1; }, "/predicted_again: 1: expected true or false"},
      {[](Json& j) { j["rows"] = 3; }, "/rows: 3: expected an array"},
  };
  for (const auto& [change, message] : cases)
    CHECK_THAT(changed_file_error(change), contains(message));
}

TEST_CASE("as CSV each row is a line with as many cells as the header", "[compare]") {
  const std::string csv = to_csv(comparison());
  CHECK_THAT(csv, contains("\"no memory, \"\"none\"\"\nat all\""));
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string first = csv.substr(header.size() + 1, csv.find('\n', header.size() + 1));
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  CHECK(commas(header) == commas(first.substr(0, first.find('\n'))));
  CHECK_THAT(first, contains("flash2,forward,flash2_mma_sm80,bf16,native,none,4,8,8,4096"));
}
