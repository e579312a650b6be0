#include "results/result_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "results/calibration_fields.hpp"
#include "text/numbers.hpp"
#include "text/sha256.hpp"

namespace flashlab::compare {
namespace {

/// Six significant digits: timings are not more precise, and files stay small.
double rounded(double value) { return std::strtod(short_text(value).c_str(), nullptr); }
std::int64_t rounded(std::int64_t value) { return value; }

template <class Value>
void set(nlohmann::ordered_json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = rounded(*value);
}
void set_text(nlohmann::ordered_json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

nlohmann::ordered_json object_of(const Traffic& traffic) {
  return {{"bytes_read", traffic.bytes_read}, {"bytes_written", traffic.bytes_written}};
}

nlohmann::ordered_json object_of(const Work& work) {
  nlohmann::ordered_json json = {{"dram", object_of(work.dram)}};
  if (work.sm) json["sm"] = object_of(*work.sm);
  json["product_flops"] = work.product_flops;
  json["elementwise_flops"] = work.elementwise_flops;
  json["divisions"] = work.divisions;
  json["exps"] = work.exps;
  return json;
}

nlohmann::ordered_json object_of(const Prediction& p) {
  nlohmann::ordered_json json = {{"dram_ms", rounded(p.dram_ms)},
                                 {"sm_ms", rounded(p.sm_ms)},
                                 {"products_ms", rounded(p.products_ms)},
                                 {"elementwise_ms", rounded(p.elementwise_ms)},
                                 {"exp_ms", rounded(p.exp_ms)},
                                 {"launch_ms", rounded(p.launch_ms)},
                                 {"fill", rounded(p.fill)},
                                 {"roofline_ms", rounded(p.roofline_ms)},
                                 {"overlap_ms", rounded(p.overlap_ms)},
                                 {"bound", to_string(p.bound)}};
  if (p.units_ms <= 0) return json;  // read from a file of a version that did not look into blocks
  json["shared_ms"] = rounded(p.shared_ms);
  if (p.sums_ms > 0) json["sums_ms"] = rounded(p.sums_ms);
  json["issue_ms"] = rounded(p.issue_ms);
  json["wait_ms"] = rounded(p.wait_ms);
  json["warps"] = rounded(p.warps);
  json["clock_ghz"] = rounded(p.clock_ghz);
  json["units_ms"] = rounded(p.units_ms);
  return json;
}

nlohmann::ordered_json object_of(const Measurement& m) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  set(json, "median_ms", m.median_ms);
  set(json, "least_ms", m.least_ms);
  set(json, "most_ms", m.most_ms);
  if (m.num_samples > 0) json["num_samples"] = m.num_samples;
  set(json, "clock_ghz", m.clock_ghz);
  if (m.dram) json["dram"] = object_of(*m.dram);
  if (m.sm) json["sm"] = object_of(*m.sm);
  set(json, "tensor_percent", m.tensor_percent);
  set(json, "exp_percent", m.exp_percent);
  set(json, "issue_percent", m.issue_percent);
  set(json, "shared_percent", m.shared_percent);
  set_text(json, "why_no_counters", m.why_no_counters);
  return json;
}

/// The step without measured values.
nlohmann::ordered_json prediction_json(const Step& step) {
  return {{"name", step.name},
          {"num_launches", step.num_launches},
          {"num_blocks", step.num_blocks},
          {"block_q", step.block_q},
          {"block_kv", step.block_kv},
          {"num_threads", step.num_threads},
          {"shared_bytes", step.shared_bytes},
          {"work", object_of(step.work)},
          {"predicted", object_of(step.predicted)}};
}

/// The row without measured values, hash and steps.
nlohmann::ordered_json prediction_json(const Row& row) {
  nlohmann::ordered_json json = {
      {"variant", row.variant},   {"kernel", row.kernel},       {"pass", to_string(row.pass)},
      {"dtype", row.dtype},       {"products", row.products},   {"mask", row.mask},
      {"batch", row.batch},       {"num_heads", row.num_heads}, {"num_kv_heads", row.num_kv_heads},
      {"seqlen_q", row.seqlen_q}, {"seqlen_k", row.seqlen_k},   {"head_dim", row.head_dim}};
  set_text(json, "tile", row.tile);
  json["toy"] = object_of(row.toy);
  json["work"] = object_of(row.work);
  json["predicted"] = object_of(row.predicted);
  if (row.pallas_bytes) {
    json["seed_bytes"] = {{"formula", row.pallas_bytes->formula},
                          {"prose", row.pallas_bytes->prose}};
  }
  set(json, "seed_ms", row.pallas_ms);
  json["usual_flops"] = row.usual_flops;
  json["tensor_bytes"] = row.tensor_bytes;
  json["workspace_bytes"] = row.workspace_bytes;
  return json;
}

nlohmann::ordered_json object_of(const Row& row) {
  nlohmann::ordered_json json = prediction_json(row);
  json["prediction_sha256"] = row.prediction_sha256;
  if (row.measured) json["measured"] = object_of(*row.measured);
  set_text(json, "failure", row.failure);
  set_text(json, "sentence", row.sentence);
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const Step& step : row.steps) {
    steps.push_back(prediction_json(step));
    if (step.measured) steps.back()["measured"] = object_of(*step.measured);
  }
  json["steps"] = std::move(steps);
  return json;
}

}  // namespace

std::vector<std::string> variants_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Row& row : comparison.rows) {
    if (std::find(names.begin(), names.end(), row.variant) == names.end()) {
      names.push_back(row.variant);
    }
  }
  return names;
}

nlohmann::ordered_json to_json(const Calibration& c) {
  nlohmann::ordered_json json = {{"format", kCalibrationFormat}, {"version", kResultVersion}};
  json["gpu"] = c.gpu_name;
  set_text(json, "date", c.date);
  set_text(json, "driver", c.driver);
  set_text(json, "cuda", c.cuda);
  for (const CalibrationField& field : calibration_fields()) set(json, field.key, c.*field.value);
  set(json, "l2_bytes", c.l2_bytes);
  for (const auto& [type, per_s] : c.flops_per_s) json["flops_per_s"][type] = rounded(per_s);
  return json;
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
  nlohmann::ordered_json json = {{"format", kResultFormat}, {"version", kResultVersion}};
  json["gpu"] = comparison.gpu_key;
  set_text(json, "gpu_name", comparison.gpu_name);
  set_text(json, "driver", comparison.driver);
  set_text(json, "cuda", comparison.cuda);
  set_text(json, "date", comparison.date);
  set_text(json, "commit", comparison.commit);
  set_text(json, "command", comparison.command);
  if (comparison.is_again) json["predicted_again"] = true;
  if (comparison.calibration) json["calibration"] = to_json(*comparison.calibration);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : comparison.rows) rows.push_back(object_of(row));
  json["rows"] = std::move(rows);
  return json;
}

std::string to_text(const Comparison& comparison) {
  nlohmann::ordered_json json = to_json(comparison);
  const nlohmann::ordered_json rows = std::move(json["rows"]);
  json.erase("rows");
  std::string text = json.dump(1);
  text.resize(text.size() - 2);  // the last line's end and brace
  text += ",\n \"rows\": [";
  for (std::size_t k = 0; k < rows.size(); ++k) text += (k == 0 ? "\n" : ",\n") + rows[k].dump();
  return text + "\n ]\n}\n";
}

std::string prediction_sha256(const Row& row) {
  nlohmann::ordered_json json = prediction_json(row);
  for (const Step& step : row.steps) json["steps"].push_back(prediction_json(step));
  return hex(sha256(json.dump()));
}

}  // namespace flashlab::compare
