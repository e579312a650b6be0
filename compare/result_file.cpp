#include "compare/result_file.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compare/calibration_fields.hpp"
#include "toymachine/sha256.hpp"

namespace flashlab::compare {
namespace {

using Json = nlohmann::ordered_json;

/// Six digits that count: what was timed has no more, and a file of many rows stays small.
double rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return std::strtod(text.data(), nullptr);
}
std::int64_t rounded(std::int64_t value) { return value; }

template <class Value>
void set(Json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = rounded(*value);
}
void set_text(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

Json to_json(const Traffic& traffic) {
  return {{"bytes_read", traffic.bytes_read}, {"bytes_written", traffic.bytes_written}};
}

Json to_json(const Work& work) {
  Json json = {{"dram", to_json(work.dram)}};
  if (work.sm) json["sm"] = to_json(*work.sm);
  json["product_flops"] = work.product_flops;
  json["elementwise_flops"] = work.elementwise_flops;
  json["divisions"] = work.divisions;
  json["exps"] = work.exps;
  return json;
}

Json to_json(const Prediction& p) {
  return {{"dram_ms", rounded(p.dram_ms)},
          {"sm_ms", rounded(p.sm_ms)},
          {"products_ms", rounded(p.products_ms)},
          {"elementwise_ms", rounded(p.elementwise_ms)},
          {"exp_ms", rounded(p.exp_ms)},
          {"launch_ms", rounded(p.launch_ms)},
          {"fill", rounded(p.fill)},
          {"roofline_ms", rounded(p.roofline_ms)},
          {"overlap_ms", rounded(p.overlap_ms)},
          {"bound", to_string(p.bound)}};
}

Json to_json(const Measurement& m) {
  Json json = Json::object();
  set(json, "median_ms", m.median_ms);
  set(json, "least_ms", m.least_ms);
  set(json, "most_ms", m.most_ms);
  if (m.num_samples > 0) json["num_samples"] = m.num_samples;
  if (m.dram) json["dram"] = to_json(*m.dram);
  if (m.sm) json["sm"] = to_json(*m.sm);
  set(json, "tensor_percent", m.tensor_percent);
  set(json, "exp_percent", m.exp_percent);
  set(json, "issue_percent", m.issue_percent);
  set(json, "shared_percent", m.shared_percent);
  set_text(json, "why_no_counters", m.why_no_counters);
  return json;
}

/// Without what was measured.
Json prediction_json(const Step& step) {
  return {{"name", step.name},
          {"num_launches", step.num_launches},
          {"num_blocks", step.num_blocks},
          {"block_q", step.block_q},
          {"block_kv", step.block_kv},
          {"num_threads", step.num_threads},
          {"shared_bytes", step.shared_bytes},
          {"work", to_json(step.work)},
          {"predicted", to_json(step.predicted)}};
}

/// Without what was measured, the hash and the steps.
Json prediction_json(const Row& row) {
  Json json = {
      {"variant", row.variant},   {"kernel", row.kernel},       {"pass", to_string(row.pass)},
      {"dtype", row.dtype},       {"products", row.products},   {"mask", row.mask},
      {"batch", row.batch},       {"num_heads", row.num_heads}, {"num_kv_heads", row.num_kv_heads},
      {"seqlen_q", row.seqlen_q}, {"seqlen_k", row.seqlen_k},   {"head_dim", row.head_dim}};
  set_text(json, "tile", row.tile);
  json["toy"] = to_json(row.toy);
  json["work"] = to_json(row.work);
  json["predicted"] = to_json(row.predicted);
  if (row.seed_bytes) {
    json["seed_bytes"] = {{"formula", row.seed_bytes->formula}, {"prose", row.seed_bytes->prose}};
  }
  set(json, "seed_ms", row.seed_ms);
  json["usual_flops"] = row.usual_flops;
  json["tensor_bytes"] = row.tensor_bytes;
  json["workspace_bytes"] = row.workspace_bytes;
  return json;
}

Json to_json(const Row& row) {
  Json json = prediction_json(row);
  json["prediction_sha256"] = row.prediction_sha256;
  if (row.measured) json["measured"] = to_json(*row.measured);
  set_text(json, "failure", row.failure);
  set_text(json, "sentence", row.sentence);
  Json steps = Json::array();
  for (const Step& step : row.steps) {
    steps.push_back(prediction_json(step));
    if (step.measured) steps.back()["measured"] = to_json(*step.measured);
  }
  json["steps"] = std::move(steps);
  return json;
}

}  // namespace

Json to_json(const Calibration& c) {
  Json json = {{"format", kCalibrationFormat}, {"version", kResultVersion}};
  json["gpu"] = c.gpu_name;
  set_text(json, "date", c.date);
  set_text(json, "driver", c.driver);
  set_text(json, "cuda", c.cuda);
  for (const CalibrationField& field : calibration_fields()) set(json, field.key, c.*field.value);
  set(json, "l2_bytes", c.l2_bytes);
  for (const auto& [type, per_s] : c.flops_per_s) json["flops_per_s"][type] = rounded(per_s);
  return json;
}

Json to_json(const Comparison& comparison) {
  Json json = {{"format", kResultFormat}, {"version", kResultVersion}};
  json["gpu"] = comparison.gpu_key;
  set_text(json, "gpu_name", comparison.gpu_name);
  set_text(json, "driver", comparison.driver);
  set_text(json, "cuda", comparison.cuda);
  set_text(json, "date", comparison.date);
  set_text(json, "commit", comparison.commit);
  set_text(json, "command", comparison.command);
  if (comparison.calibration) json["calibration"] = to_json(*comparison.calibration);
  Json rows = Json::array();
  for (const Row& row : comparison.rows) rows.push_back(to_json(row));
  json["rows"] = std::move(rows);
  return json;
}

std::string to_text(const Comparison& comparison) {
  Json json = to_json(comparison);
  const Json rows = std::move(json["rows"]);
  json.erase("rows");
  std::string text = json.dump(1);
  text.resize(text.size() - 2);  // the last line's end and brace
  text += ",\n \"rows\": [";
  for (std::size_t k = 0; k < rows.size(); ++k) text += (k == 0 ? "\n" : ",\n") + rows[k].dump();
  return text + "\n ]\n}\n";
}

std::string prediction_sha256(const Row& row) {
  Json json = prediction_json(row);
  for (const Step& step : row.steps) json["steps"].push_back(prediction_json(step));
  return toy::hex(toy::sha256(json.dump()));
}

}  // namespace flashlab::compare
