// Every field of a results file: where it is stored, what it may be, and what is said otherwise.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/calibration_fields.hpp"
#include "results/result_file.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

namespace flashlab::test {
namespace {

using namespace compare;
using FieldsJson = nlohmann::json;

/// Every field that a file can have, no two numbers of a kind equal.
constexpr const char* kWholeFile = R"({
"format":"flashlab-compare","version":1,"gpu":"h200","gpu_name":"NVIDIA H200","driver":"13.0",
"cuda":"12.9","date":"2026-01-02","commit":"abc","command":"flashlab compare",
"calibration":{"format":"flashlab-calibration","version":1,"gpu":"Some GPU","date":"2026-01-01",
 "driver":"13.1","cuda":"12.8","dram_copy_bytes_per_s":1e12,"dram_read_bytes_per_s":2e12,
 "sm_bytes_per_s":3e12,"shared_bytes_per_s":4e12,
 "additions_bytes_per_s":10e12,"bulk_additions_bytes_per_s":11e12,"elementwise_per_s":5e12,"exps_per_s":6e12,
 "divisions_per_s":7e12,"launch_s":8e-6,"l2_bytes":9,"flops_per_s":{"bf16":1e14,"float":2e13}},
"rows":[{"variant":"bwd-twopass","kernel":"a_kernel","pass":"backward","dtype":"bf16",
 "products":"native","mask":"causal","batch":2,"num_heads":6,"num_kv_heads":3,"seqlen_q":40,
 "seqlen_k":50,"head_dim":16,"tile":"64x32",
 "toy":{"dram":{"bytes_read":101,"bytes_written":102},"sm":{"bytes_read":103,"bytes_written":104},
  "product_flops":105,"elementwise_flops":106,"divisions":107,"exps":108},
 "work":{"dram":{"bytes_read":201,"bytes_written":202},"sm":{"bytes_read":203,"bytes_written":204},
  "product_flops":205,"elementwise_flops":206,"divisions":207,"exps":208},
 "predicted":{"dram_ms":0.1,"sm_ms":0.2,"products_ms":0.3,"elementwise_ms":0.4,"exp_ms":0.5,
  "launch_ms":0.6,"fill":0.75,"roofline_ms":0.8,"overlap_ms":1.5,"bound":"exp",
  "shared_ms":0.11,"sums_ms":0.14,"issue_ms":0.12,"wait_ms":0.13,"warps":2.5,"clock_ghz":1.75,"units_ms":1.6},
 "seed_bytes":{"formula":301,"prose":302},"seed_ms":0.25,"usual_flops":303,"tensor_bytes":304,
 "workspace_bytes":305,"prediction_sha256":"0123",
 "measured":{"median_ms":2,"least_ms":1.75,"most_ms":2.5,"num_samples":5,"clock_ghz":1.5,
  "dram":{"bytes_read":401,"bytes_written":402},"sm":{"bytes_read":403,"bytes_written":404},
  "tensor_percent":11,"exp_percent":12,"issue_percent":13,"shared_percent":14,
  "why_no_counters":"none"},"failure":"broke","sentence":"a, b",
 "steps":[{"name":"dQ","num_launches":21,"num_blocks":22,"block_q":23,"block_kv":24,
  "num_threads":25,"shared_bytes":26,
  "work":{"dram":{"bytes_read":501,"bytes_written":502},"product_flops":505,
   "elementwise_flops":506,"divisions":507,"exps":508},
  "predicted":{"dram_ms":1,"sm_ms":2,"products_ms":3,"elementwise_ms":4,"exp_ms":5,
   "launch_ms":6,"fill":1,"roofline_ms":7,"overlap_ms":8,"bound":"launches",
   "shared_ms":9,"issue_ms":10,"wait_ms":11,"warps":12,"clock_ghz":13,"units_ms":14},
  "measured":{"median_ms":0.5}}]}]})";

FieldsJson whole_file() { return FieldsJson::parse(kWholeFile); }

std::string file_error(const FieldsJson& json) {
  try {
    parse_comparison(json.dump());
  } catch (const ResultFileError& error) {
    return error.what();
  }
  return "";
}

/// What is said of the file if one field has this value. Empty: nothing.
std::string error_with(const std::string& pointer, const FieldsJson& value) {
  FieldsJson json = whole_file();
  json[FieldsJson::json_pointer(pointer)] = value;
  return file_error(json);
}

struct FieldPlace {
  std::string parent, key;
};

std::string error_without(const FieldPlace& field) {
  FieldsJson json = whole_file();
  json[FieldsJson::json_pointer(field.parent)].erase(field.key);
  return file_error(json);
}

std::vector<FieldPlace> places(const std::string& parent, const std::vector<std::string>& keys) {
  std::vector<FieldPlace> result;
  for (const std::string& key : keys) result.push_back({parent, key});
  return result;
}

void append(std::vector<FieldPlace>& all, const std::vector<FieldPlace>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

constexpr const char* kRow = "/rows/0";

std::vector<FieldPlace> whole_numbers() {
  std::vector<FieldPlace> all =
      places(kRow, {"batch", "num_heads", "num_kv_heads", "seqlen_q", "seqlen_k", "head_dim",
                    "usual_flops", "tensor_bytes", "workspace_bytes"});
  for (const char* const work : {"/rows/0/toy", "/rows/0/work", "/rows/0/steps/0/work"}) {
    append(all, places(work, {"product_flops", "elementwise_flops", "divisions", "exps"}));
    append(all, places(std::string(work) + "/dram", {"bytes_read", "bytes_written"}));
  }
  for (const char* const traffic : {"toy/sm", "work/sm", "measured/dram", "measured/sm"}) {
    append(all, places(std::string(kRow) + "/" + traffic, {"bytes_read", "bytes_written"}));
  }
  append(all, places("/rows/0/seed_bytes", {"formula", "prose"}));
  append(all, places("/rows/0/steps/0", {"num_launches", "num_blocks", "block_q", "block_kv",
                                         "num_threads", "shared_bytes"}));
  return all;
}

std::vector<FieldPlace> predicted_numbers() {
  std::vector<FieldPlace> all;
  for (const char* const parent : {"/rows/0/predicted", "/rows/0/steps/0/predicted"}) {
    append(all, places(parent, {"dram_ms", "sm_ms", "products_ms", "elementwise_ms", "exp_ms",
                                "launch_ms", "roofline_ms", "overlap_ms", "shared_ms", "issue_ms",
                                "wait_ms", "warps", "clock_ghz"}));
  }
  return all;
}

}  // namespace

TEST_CASE("each field of a file is read into its place", "[compare]") {
  const Comparison read = parse_comparison(kWholeFile);
  CHECK(read.gpu_key == "h200");
  CHECK(read.gpu_name == "NVIDIA H200");
  CHECK(read.driver == "13.0");
  CHECK(read.cuda == "12.9");
  CHECK(read.date == "2026-01-02");
  CHECK(read.commit == "abc");
  CHECK(read.command == "flashlab compare");
  REQUIRE(read.rows.size() == 1);
  const Row& row = read.rows[0];
  CHECK(row.variant == "bwd-twopass");
  CHECK(row.pass == Pass::kBackward);
  CHECK(row.kernel == "a_kernel");
  CHECK(row.tile == "64x32");
  CHECK(std::vector{row.batch, row.num_heads, row.num_kv_heads, row.seqlen_q, row.seqlen_k,
                    row.head_dim} == std::vector<std::int64_t>{2, 6, 3, 40, 50, 16});
  CHECK(row.toy.dram == Traffic{101, 102});
  CHECK(row.toy.sm == Traffic{103, 104});
  CHECK(row.work.dram == Traffic{201, 202});
  CHECK(row.work.sm == Traffic{203, 204});
  CHECK(std::vector{row.work.product_flops, row.work.elementwise_flops, row.work.divisions,
                    row.work.exps} == std::vector<std::int64_t>{205, 206, 207, 208});
  const Prediction& p = row.predicted;
  CHECK(std::vector{p.dram_ms, p.sm_ms, p.products_ms, p.elementwise_ms, p.exp_ms, p.launch_ms,
                    p.fill, p.roofline_ms,
                    p.overlap_ms} == std::vector{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.8, 1.5});
  CHECK(p.bound == Bound::kExp);
  CHECK(std::vector{p.shared_ms, p.sums_ms, p.issue_ms, p.wait_ms, p.warps, p.clock_ghz,
                    p.units_ms} == std::vector{0.11, 0.14, 0.12, 0.13, 2.5, 1.75, 1.6});
  CHECK(row.pallas_bytes->formula == 301);
  CHECK(row.pallas_bytes->prose == 302);
  CHECK(row.pallas_ms == 0.25);
  CHECK(std::vector{row.usual_flops, row.tensor_bytes, row.workspace_bytes} ==
        std::vector<std::int64_t>{303, 304, 305});
  CHECK(row.prediction_sha256 == "0123");
  CHECK(row.failure == "broke");
  CHECK(row.sentence == "a, b");
  const Measurement& m = *row.measured;
  CHECK(m.median_ms == 2.0);
  CHECK(m.least_ms == 1.75);
  CHECK(m.clock_ghz == 1.5);
  CHECK(m.most_ms == 2.5);
  CHECK(m.num_samples == 5);
  CHECK(m.dram == Traffic{401, 402});
  CHECK(m.sm == Traffic{403, 404});
  CHECK(m.tensor_percent == 11.0);
  CHECK(m.exp_percent == 12.0);
  CHECK(m.issue_percent == 13.0);
  CHECK(m.shared_percent == 14.0);
  CHECK(m.why_no_counters == "none");
  REQUIRE(row.steps.size() == 1);
  const Step& step = row.steps[0];
  CHECK(step.name == "dQ");
  CHECK(std::vector<std::int64_t>{step.num_launches, step.num_blocks, step.block_q, step.block_kv,
                                  step.num_threads, step.shared_bytes} ==
        std::vector<std::int64_t>{21, 22, 23, 24, 25, 26});
  CHECK(step.work.dram == Traffic{501, 502});
  CHECK_FALSE(step.work.sm.has_value());
  CHECK(step.predicted.bound == Bound::kLaunch);
  CHECK(step.measured->median_ms == 0.5);
}

TEST_CASE("each field of a calibration is read into its place", "[compare]") {
  const Calibration c = *parse_comparison(kWholeFile).calibration;
  CHECK(c.gpu_name == "Some GPU");
  CHECK(c.date == "2026-01-01");
  CHECK(c.driver == "13.1");
  CHECK(c.cuda == "12.8");
  CHECK(std::vector{c.dram_copy_bytes_per_s, c.dram_read_bytes_per_s, c.sm_bytes_per_s,
                    c.shared_bytes_per_s, c.elementwise_per_s, c.exps_per_s, c.divisions_per_s,
                    c.launch_s, c.additions_bytes_per_s, c.bulk_additions_bytes_per_s} ==
        std::vector<std::optional<double>>{1e12, 2e12, 3e12, 4e12, 5e12, 6e12, 7e12, 8e-6, 10e12,
                                           11e12});
  CHECK(c.l2_bytes == 9);
  CHECK(c.flops_per_s == std::map<std::string, double>{{"bf16", 1e14}, {"float", 2e13}});
}

TEST_CASE("every field that is read is written, under the same name", "[compare]") {
  const Comparison read = parse_comparison(kWholeFile);
  CHECK(FieldsJson::parse(to_json(read).dump()) == whole_file());
  CHECK(FieldsJson::parse(to_text(read)) == whole_file());
}

TEST_CASE("a file has a line for each row, and ends with one", "[compare]") {
  Comparison comparison;
  comparison.gpu_key = "h200";
  CHECK(to_text(comparison) ==
        "{\n \"format\": \"flashlab-compare\",\n \"version\": 1,\n \"gpu\": \"h200\",\n"
        " \"rows\": [\n ]\n}\n");
  comparison.rows = {synthetic_row(), synthetic_row()};
  const std::string text = to_text(comparison);
  CHECK(std::count(text.begin(), text.end(), '\n') == 9);
  CHECK_THAT(text, contains(",\n \"rows\": [\n{\"variant\":\"flash2\""));
  CHECK_THAT(text, contains("},\n{\"variant\":\"flash2\""));
}

TEST_CASE("measured and predicted numbers are written with six digits", "[compare]") {
  Row row = measured_row(1.2345678);
  row.predicted.overlap_ms = 123456.7;
  row.pallas_ms = 1.0 / 3;
  Comparison comparison;
  comparison.rows = {row};
  const FieldsJson json = FieldsJson::parse(to_json(comparison).dump())["rows"][0];
  CHECK(json["measured"]["median_ms"] == 1.23457);
  CHECK(json["predicted"]["overlap_ms"] == 123457.0);
  CHECK(json["seed_ms"] == 0.333333);
}

TEST_CASE("empty texts and missing values are not written", "[compare]") {
  Comparison comparison;
  comparison.rows = {synthetic_row()};
  comparison.rows[0].measured.emplace();
  const FieldsJson json = FieldsJson::parse(to_json(comparison).dump());
  for (const char* const key :
       {"gpu_name", "driver", "cuda", "date", "commit", "command", "calibration"}) {
    INFO(key);
    CHECK_FALSE(json.contains(key));
  }
  const FieldsJson& row = json["rows"][0];
  for (const char* const key : {"tile", "seed_bytes", "seed_ms", "failure", "sentence"}) {
    INFO(key);
    CHECK_FALSE(row.contains(key));
  }
  CHECK(row["measured"] == FieldsJson::object());  // no samples, so no number of samples
  CHECK_FALSE(row["steps"][0].contains("measured"));
  CHECK_NOTHROW(parse_comparison(json.dump()));
}

TEST_CASE("a count is a whole number from 0 to 2^63 - 1", "[compare]") {
  for (const FieldPlace& field : whole_numbers()) {
    const std::string pointer = field.parent + "/" + field.key;
    INFO(pointer);
    CHECK(error_with(pointer, 0).empty());
    CHECK(error_with(pointer, -1) == pointer + ": -1: expected a number of at least 0");
    CHECK(error_with(pointer, 1.5) == pointer + ": 1.5: expected a whole number");
    CHECK(error_without(field) == field.parent + ": no \"" + field.key + "\"");
  }
  const std::string flops = "/rows/0/usual_flops";
  CHECK(error_with(flops, 9223372036854775807).empty());
  CHECK(error_with(flops, 9223372036854775808U) ==
        flops + ": 9223372036854775808: expected a number below 2^63");
}

TEST_CASE("a predicted time may be 0, but not negative and not missing", "[compare]") {
  for (const FieldPlace& field : predicted_numbers()) {
    const std::string pointer = field.parent + "/" + field.key;
    INFO(pointer);
    CHECK(error_with(pointer, 0).empty());
    CHECK(error_with(pointer, -0.5) == pointer + ": -0.5: expected a number of at least 0");
    CHECK(error_with(pointer, "1") == pointer + ": \"1\": expected a number");
    CHECK(error_without(field) == field.parent + ": no \"" + field.key + "\"");
  }
  const FieldPlace fill = {"/rows/0/predicted", "fill"};
  CHECK(error_with("/rows/0/predicted/fill", 0) ==
        "/rows/0/predicted/fill: 0: expected a number above 0");
  CHECK(error_without(fill) == "/rows/0/predicted: no \"fill\"");
}

TEST_CASE("a measured time and a rate are above 0, and may be missing", "[compare]") {
  std::vector<FieldPlace> all =
      places("/rows/0/measured", {"median_ms", "least_ms", "most_ms", "clock_ghz"});
  append(all, {{kRow, "seed_ms"}});
  append(all, places("/calibration",
                     {"dram_copy_bytes_per_s", "dram_read_bytes_per_s", "sm_bytes_per_s",
                      "shared_bytes_per_s", "additions_bytes_per_s", "bulk_additions_bytes_per_s",
                      "elementwise_per_s", "exps_per_s", "divisions_per_s", "launch_s"}));
  for (const FieldPlace& field : all) {
    const std::string pointer = field.parent + "/" + field.key;
    INFO(pointer);
    CHECK(error_with(pointer, 0) == pointer + ": 0: expected a number above 0");
    CHECK(error_with(pointer, -1) == pointer + ": -1: expected a number of at least 0");
    CHECK(error_without(field).empty());
  }
  CHECK(error_with("/calibration/flops_per_s/bf16", 0) ==
        "/calibration/flops_per_s/bf16: 0: expected a number above 0");
  CHECK(error_without({"/calibration", "flops_per_s"}) == "/calibration: no \"flops_per_s\"");
  CHECK(error_without({"/calibration", "l2_bytes"}).empty());
  CHECK(error_without({"/calibration", "gpu"}) == "/calibration: no \"gpu\"");
}

TEST_CASE("a percentage is at most 100, with half a per cent for rounding", "[compare]") {
  for (const char* const key :
       {"tensor_percent", "exp_percent", "issue_percent", "shared_percent"}) {
    const std::string pointer = std::string("/rows/0/measured/") + key;
    INFO(pointer);
    CHECK(error_with(pointer, 0).empty());
    CHECK(error_with(pointer, 100.5).empty());
    CHECK(error_with(pointer, 100.625) == pointer + ": 100.625: expected at most 100 per cent");
    CHECK(error_without({"/rows/0/measured", key}).empty());
  }
}

TEST_CASE("the fastest run is not above the median, nor the median above the slowest",
          "[compare]") {
  struct Times {
    const char* measured;
    bool holds;
  };
  const Times cases[] = {
      {R"({"least_ms":1,"median_ms":2,"most_ms":3})", true},
      {R"({"least_ms":2,"median_ms":2,"most_ms":2})", true},
      {R"({"least_ms":2,"median_ms":2,"most_ms":3})", true},
      {R"({"least_ms":1,"median_ms":3,"most_ms":3})", true},
      {R"({"least_ms":3,"median_ms":2,"most_ms":3})", false},
      {R"({"least_ms":1,"median_ms":3,"most_ms":2})", false},
      {R"({"least_ms":3,"median_ms":2,"most_ms":1})", false},
      {R"({"least_ms":3,"median_ms":2})", true},  // only all three are compared
      {R"({"median_ms":2,"most_ms":1})", true},
      {R"({"least_ms":2,"most_ms":1})", true},
  };
  for (const auto& [measured, holds] : cases) {
    INFO(measured);
    const std::string error = error_with("/rows/0/measured", FieldsJson::parse(measured));
    CHECK(error.empty() == holds);
    if (!holds) CHECK_THAT(error, contains("expected least_ms <= median_ms <= most_ms"));
  }
}

TEST_CASE("texts of a row are required, or may be missing", "[compare]") {
  for (const char* const key :
       {"variant", "kernel", "dtype", "products", "mask", "prediction_sha256"}) {
    INFO(key);
    CHECK(error_without({kRow, key}) == std::string("/rows/0: no \"") + key + "\"");
    CHECK_THAT(error_with(std::string("/rows/0/") + key, 3), contains(": 3: expected text"));
  }
  for (const char* const key : {"tile", "failure", "sentence"}) {
    INFO(key);
    CHECK(error_without({kRow, key}).empty());
    CHECK_THAT(error_with(std::string("/rows/0/") + key, 3), contains(": 3: expected text"));
  }
  for (const char* const key : {"toy", "work", "predicted", "steps"}) {
    INFO(key);
    CHECK(error_without({kRow, key}) == std::string("/rows/0: no \"") + key + "\"");
  }
  CHECK(error_with("/rows/0/toy", 3) == "/rows/0/toy: 3: expected an object");
  CHECK(error_with("/rows/0/steps", "x") == "/rows/0/steps: \"x\": expected an array");
  CHECK(error_without({"/rows/0/steps/0", "name"}) == "/rows/0/steps/0: no \"name\"");
}

TEST_CASE("all units that can bound a step have a name", "[compare]") {
  const std::pair<const char*, Bound> cases[] = {{"DRAM", Bound::kDram},
                                                 {"L2 to SM", Bound::kSm},
                                                 {"products", Bound::kProducts},
                                                 {"exp", Bound::kExp},
                                                 {"elementwise", Bound::kElementwise},
                                                 {"launches", Bound::kLaunch}};
  for (const auto& [name, bound] : cases) {
    INFO(name);
    CHECK(to_string(bound) == name);
    FieldsJson json = whole_file();
    json["rows"][0]["predicted"]["bound"] = name;
    CHECK(parse_comparison(json.dump()).rows[0].predicted.bound == bound);
  }
}

TEST_CASE("a value in a message has at most 60 characters", "[compare]") {
  const std::string whole(58, 'x'), longer(59, 'x');  // and two quotes
  CHECK(error_with("/rows/0/toy", whole) == "/rows/0/toy: \"" + whole + "\": expected an object");
  CHECK(error_with("/rows/0/toy", longer) ==
        "/rows/0/toy: \"" + longer + "...: expected an object");
}

TEST_CASE("a file may nest 64 deep", "[compare]") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK_THROWS_WITH(parse_comparison(nested(65)),
                    contains("the file: [[[") && contains("[...: expected an object"));
  CHECK_THROWS_WITH(parse_comparison(nested(66)), "the file nests more than 64 deep");
}

TEST_CASE("an error in the last byte is no early end", "[compare]") {
  CHECK_THROWS_WITH(parse_comparison("[1,2}"), "byte 5 of 5: not JSON");
  CHECK_THROWS_WITH(parse_comparison("[1,2"), "byte 5 of 4: the file ends too early");
  CHECK_THROWS_WITH(parse_calibration(kWholeFile),
                    "/format: \"flashlab-compare\": expected \"flashlab-calibration\"");
}

}  // namespace flashlab::test
