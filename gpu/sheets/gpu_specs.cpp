#include "gpu/sheets/gpu_specs.hpp"

#include <cctype>
#include <nlohmann/json.hpp>

#include "gpu/sheets/device_name.hpp"
#include "gpu_files.hpp"

namespace flashlab::gpu {
namespace {

/// The letters and digits of a name, in lower case.
std::string key_of_name(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) continue;
    key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

bool is_device(const GpuSpec& spec, std::string_view device) {
  std::string others;
  for (const std::string& word : spec.other_models) others += word + " ";
  return has_name_of_sheet(device, spec.name, others);
}

Latencies read_latencies(const nlohmann::json& clocks) {
  const double dram = clocks.at("dram"), mma = clocks.at("mma");
  return {clocks.at("shared"),        mma,
          clocks.value("wgmma", mma), clocks.at("exp"),
          clocks.at("shuffle"),       clocks.at("barrier"),
          clocks.value("l2", dram),   dram,
          clocks.at("instruction")};
}

GpuSpec read_gpu(const nlohmann::json& row, const nlohmann::json& file) {
  const nlohmann::json& sources = file.at("sources");
  const auto kib = [&](const char* key) { return row.at(key).get<std::int64_t>() * 1024; };
  GpuSpec spec;
  spec.name = row.at("name");
  spec.key = row.at("key");
  spec.compute_capability = row.at("compute_capability");
  spec.shared_memory_per_block_bytes = kib("shared_memory_per_block_kib");
  spec.shared_memory_per_sm_bytes = kib("shared_memory_per_sm_kib");
  spec.num_sms = row.at("num_sms");
  spec.boost_clock_hz = row.at("boost_clock_mhz").get<double>() * 1e6;
  spec.tensor_boost_clock_hz = row.value("tensor_boost_clock_mhz", spec.boost_clock_hz / 1e6) * 1e6;
  spec.memory_bytes = row.at("memory_bytes");
  if (row.contains("l2_kib")) spec.l2_bytes = kib("l2_kib");
  spec.dram_bytes_per_s = row.at("rates").at("bytes_per_s");
  spec.flops_per_s = row.at("rates").at("flops_per_s").get<std::map<std::string, double>>();
  const auto& per_clock = row.at("per_clock_per_sm");
  spec.exps_per_clock_per_sm = per_clock.at("exps");
  spec.additions_per_clock_per_sm = per_clock.at("additions");
  spec.shared_bytes_per_clock_per_sm = per_clock.at("shared_bytes");
  const auto& architecture = file.at("architectures").at(spec.compute_capability);
  spec.instructions_per_clock_per_sm = architecture.at("schedulers");
  spec.mma_share = architecture.at("mma_share");
  spec.arithmetic_clocks = architecture.at("arithmetic_clocks");
  spec.constant_clocks = architecture.at("constant_clocks");
  spec.latency = read_latencies(architecture.at("latency_clocks"));
  spec.shared_clock_drop = row.value("shared_clock_drop", 0.0);
  spec.other_models = row.at("not_with");
  for (const std::string name : row.at("source")) spec.sources.push_back(sources.at(name));
  return spec;
}

std::vector<GpuSpec> read_file() {
  std::vector<GpuSpec> specs;
  const auto file = nlohmann::json::parse(gpu_files[0].text);
  for (const auto& row : file.at("gpus")) specs.push_back(read_gpu(row, file));
  return specs;
}

}  // namespace

const std::vector<GpuSpec>& gpu_specs() {
  static const std::vector<GpuSpec> specs = read_file();
  return specs;
}

std::optional<GpuSpec> find_gpu(std::string_view name) {
  for (const GpuSpec& spec : gpu_specs()) {
    if (key_of_name(name) == key_of_name(spec.key) || key_of_name(name) == key_of_name(spec.name))
      return spec;
  }
  for (const GpuSpec& spec : gpu_specs()) {
    if (is_device(spec, name)) return spec;
  }
  return std::nullopt;
}

}  // namespace flashlab::gpu
