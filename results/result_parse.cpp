// Parses a results file. Every error gives the place as a JSON pointer, because files come from
// other machines and other versions.
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/calibration_fields.hpp"
#include "results/result_file.hpp"

namespace flashlab::compare {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostQuoted = 60;  // characters of a value in a message
/// Valid files nest 7 levels deep. Printing a value in a message recurses once for each level.
constexpr int kMostNested = 64;

std::string json_quoted(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMostQuoted) text = text.substr(0, kMostQuoted) + "...";
  return text;
}

/// A value and its path.
class Place {
 public:
  Place(const Json& json, std::string pointer) : json_(json), pointer_(std::move(pointer)) {}

  [[noreturn]] void fail(const std::string& expected) const {
    throw ResultFileError((pointer_.empty() ? "the file" : pointer_) + ": " + json_quoted(json_) +
                          ": expected " + expected);
  }

  bool has(const char* key) const { return object().contains(key); }
  Place at(const char* key) const {
    if (!has(key)) {
      throw ResultFileError((pointer_.empty() ? "the file" : pointer_) + ": no \"" + key + "\"");
    }
    return {json_.at(key), pointer_ + "/" + key};
  }
  std::vector<Place> elements() const {
    if (!json_.is_array()) fail("an array");
    std::vector<Place> result;
    for (std::size_t k = 0; k < json_.size(); ++k) {
      result.emplace_back(json_[k], pointer_ + "/" + std::to_string(k));
    }
    return result;
  }
  const Json& object() const {
    if (!json_.is_object()) fail("an object");
    return json_;
  }

  std::string text() const {
    if (!json_.is_string()) fail("text");
    return json_.get<std::string>();
  }
  bool truth() const {
    if (!json_.is_boolean()) fail("true or false");
    return json_.get<bool>();
  }
  std::string text_or_empty(const char* key) const { return has(key) ? at(key).text() : ""; }
  /// A count, which is not negative.
  std::int64_t whole() const {
    if (!json_.is_number_integer()) fail("a whole number");
    if (json_.is_number_unsigned() && json_.get<std::uint64_t>() > INT64_MAX) {
      fail("a number below 2^63");
    }
    const auto value = json_.get<std::int64_t>();
    if (value < 0) fail("a number of at least 0");
    return value;
  }
  double number() const {
    if (!json_.is_number()) fail("a number");
    const double value = json_.get<double>();
    if (!std::isfinite(value) || value < 0) fail("a number of at least 0");
    return value;
  }
  /// A measured time or rate.
  double positive() const {
    const double value = number();
    if (value <= 0) fail("a number above 0");
    return value;
  }
  double percent() const {
    const double value = number();
    if (value > 100.5) fail("at most 100 per cent");  // rounding of several passes
    return value;
  }

 private:
  const Json& json_;
  std::string pointer_;
};

Traffic traffic_of(const Place& place) {
  return {place.at("bytes_read").whole(), place.at("bytes_written").whole()};
}

Work work_of(const Place& place) {
  Work work;
  work.dram = traffic_of(place.at("dram"));
  if (place.has("sm")) work.sm = traffic_of(place.at("sm"));
  work.product_flops = place.at("product_flops").whole();
  work.elementwise_flops = place.at("elementwise_flops").whole();
  work.divisions = place.at("divisions").whole();
  work.exps = place.at("exps").whole();
  return work;
}

Bound bound_of(const Place& place) {
  const std::string name = place.text();
  for (int k = 0; k <= static_cast<int>(kLastBound); ++k) {
    if (to_string(static_cast<Bound>(k)) == name) return static_cast<Bound>(k);
  }
  place.fail("a unit of the machine, such as \"DRAM\"");
}

/// What combines the times of units takes a round for each warp.
double warps_of(const Place& place) {
  constexpr double kMostOfScheduler = 64;
  const double warps = place.number();
  if (warps > kMostOfScheduler) place.fail("at most 64 warps of a scheduler");
  return warps;
}

Prediction prediction_of(const Place& place) {
  Prediction p;
  p.dram_ms = place.at("dram_ms").number();
  p.sm_ms = place.at("sm_ms").number();
  p.products_ms = place.at("products_ms").number();
  p.elementwise_ms = place.at("elementwise_ms").number();
  p.exp_ms = place.at("exp_ms").number();
  p.launch_ms = place.at("launch_ms").number();
  p.fill = place.at("fill").positive();
  p.roofline_ms = place.at("roofline_ms").number();
  p.overlap_ms = place.at("overlap_ms").number();
  p.bound = bound_of(place.at("bound"));
  if (!place.has("units_ms")) return p;  // by a version that did not look into blocks
  p.shared_ms = place.at("shared_ms").number();
  if (place.has("sums_ms")) p.sums_ms = place.at("sums_ms").positive();
  p.issue_ms = place.at("issue_ms").number();
  p.wait_ms = place.at("wait_ms").number();
  p.warps = warps_of(place.at("warps"));
  p.clock_ghz = place.at("clock_ghz").number();
  p.units_ms = place.at("units_ms").positive();
  return p;
}

std::optional<double> optional_positive(const Place& place, const char* key) {
  if (!place.has(key)) return std::nullopt;
  return place.at(key).positive();
}
std::optional<double> optional_percent(const Place& place, const char* key) {
  if (!place.has(key)) return std::nullopt;
  return place.at(key).percent();
}

Measurement measurement_of(const Place& place) {
  Measurement m;
  m.median_ms = optional_positive(place, "median_ms");
  m.least_ms = optional_positive(place, "least_ms");
  m.most_ms = optional_positive(place, "most_ms");
  if (m.median_ms && m.least_ms && m.most_ms &&
      !(*m.least_ms <= *m.median_ms && *m.median_ms <= *m.most_ms)) {
    place.fail("least_ms <= median_ms <= most_ms");
  }
  if (place.has("num_samples")) m.num_samples = static_cast<int>(place.at("num_samples").whole());
  m.clock_ghz = optional_positive(place, "clock_ghz");
  if (place.has("dram")) m.dram = traffic_of(place.at("dram"));
  if (place.has("sm")) m.sm = traffic_of(place.at("sm"));
  m.tensor_percent = optional_percent(place, "tensor_percent");
  m.exp_percent = optional_percent(place, "exp_percent");
  m.issue_percent = optional_percent(place, "issue_percent");
  m.shared_percent = optional_percent(place, "shared_percent");
  m.why_no_counters = place.text_or_empty("why_no_counters");
  return m;
}

Step step_of(const Place& place) {
  Step step;
  step.name = place.at("name").text();
  step.num_launches = place.at("num_launches").whole();
  step.num_blocks = place.at("num_blocks").whole();
  step.block_q = static_cast<int>(place.at("block_q").whole());
  step.block_kv = static_cast<int>(place.at("block_kv").whole());
  step.num_threads = static_cast<int>(place.at("num_threads").whole());
  step.shared_bytes = place.at("shared_bytes").whole();
  step.work = work_of(place.at("work"));
  step.predicted = prediction_of(place.at("predicted"));
  if (place.has("measured")) step.measured = measurement_of(place.at("measured"));
  return step;
}

void read_problem(const Place& place, Row& row) {
  row.variant = place.at("variant").text();
  try {
    row.pass = find_variant(row.variant).pass;
  } catch (const ProblemError&) {
    place.at("variant").fail("a variant that `flashlab attention --list` shows");
  }
  row.kernel = place.at("kernel").text();
  row.dtype = place.at("dtype").text();
  row.products = place.at("products").text();
  row.mask = place.at("mask").text();
  row.batch = place.at("batch").whole();
  row.num_heads = place.at("num_heads").whole();
  row.num_kv_heads = place.at("num_kv_heads").whole();
  row.seqlen_q = place.at("seqlen_q").whole();
  row.seqlen_k = place.at("seqlen_k").whole();
  row.head_dim = place.at("head_dim").whole();
  row.tile = place.text_or_empty("tile");
}

Row row_of(const Place& place) {
  Row row;
  read_problem(place, row);
  row.toy = work_of(place.at("toy"));
  row.work = work_of(place.at("work"));
  row.predicted = prediction_of(place.at("predicted"));
  if (place.has("seed_bytes")) {
    const Place bytes = place.at("seed_bytes");
    row.pallas_bytes = PallasBytes{bytes.at("formula").whole(), bytes.at("prose").whole()};
  }
  row.pallas_ms = optional_positive(place, "seed_ms");
  row.usual_flops = place.at("usual_flops").whole();
  row.tensor_bytes = place.at("tensor_bytes").whole();
  row.workspace_bytes = place.at("workspace_bytes").whole();
  row.prediction_sha256 = place.at("prediction_sha256").text();
  if (place.has("measured")) row.measured = measurement_of(place.at("measured"));
  row.failure = place.text_or_empty("failure");
  row.sentence = place.text_or_empty("sentence");
  for (const Place& step : place.at("steps").elements()) row.steps.push_back(step_of(step));
  return row;
}

Calibration calibration_of(const Place& place) {
  Calibration c;
  c.gpu_name = place.at("gpu").text();
  c.date = place.text_or_empty("date");
  c.driver = place.text_or_empty("driver");
  c.cuda = place.text_or_empty("cuda");
  for (const CalibrationField& field : calibration_fields()) {
    c.*field.value = optional_positive(place, field.key);
  }
  if (place.has("l2_bytes")) c.l2_bytes = place.at("l2_bytes").whole();
  const Place flops = place.at("flops_per_s");
  for (const auto& [key, value] : flops.object().items()) {
    c.flops_per_s[key] = flops.at(key.c_str()).positive();
  }
  return c;
}

/// Parses the document and checks its format and version.
Json parse(std::string_view text, const std::string& format) {
  const auto check_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth <= kMostNested) return true;
    throw ResultFileError("the file nests more than " + std::to_string(kMostNested) + " deep");
  };
  Json json;
  try {
    json = Json::parse(text, check_depth);
  } catch (const Json::parse_error& error) {
    throw ResultFileError("byte " + std::to_string(error.byte) + " of " +
                          std::to_string(text.size()) + ": " +
                          (error.byte > text.size() ? "the file ends too early" : "not JSON"));
  }
  const Place place(json, "");
  if (place.at("format").text() != format) place.at("format").fail("\"" + format + "\"");
  if (place.at("version").whole() != kResultVersion) {
    place.at("version").fail("version " + std::to_string(kResultVersion) +
                             ", which this flashlab writes and reads");
  }
  return json;
}

}  // namespace

Comparison parse_comparison(std::string_view text) {
  const Json json = parse(text, kResultFormat);
  const Place place(json, "");
  Comparison comparison;
  comparison.gpu_key = place.at("gpu").text();
  comparison.gpu_name = place.text_or_empty("gpu_name");
  comparison.driver = place.text_or_empty("driver");
  comparison.cuda = place.text_or_empty("cuda");
  comparison.date = place.text_or_empty("date");
  comparison.commit = place.text_or_empty("commit");
  comparison.command = place.text_or_empty("command");
  comparison.is_again = place.has("predicted_again") && place.at("predicted_again").truth();
  if (place.has("calibration")) comparison.calibration = calibration_of(place.at("calibration"));
  for (const Place& row : place.at("rows").elements()) comparison.rows.push_back(row_of(row));
  return comparison;
}

Calibration parse_calibration(std::string_view text) {
  const Json json = parse(text, kCalibrationFormat);
  return calibration_of(Place(json, ""));
}

}  // namespace flashlab::compare
