#include "compare/gpu_specs.hpp"

#include <cctype>
#include <nlohmann/json.hpp>

#include "gpu_files.hpp"

namespace flashlab::compare {
namespace {

std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) key += static_cast<char>(std::tolower(byte));
  }
  return key;
}

std::vector<GpuSpec> read() {
  std::vector<GpuSpec> specs;
  const auto file = nlohmann::json::parse(gpu_files[0].text);
  for (const auto& row : file.at("gpus")) {
    specs.push_back({row.at("name"), row.at("key"), row.at("compute_capability"),
                     row.at("shared_memory_per_block_kib").get<std::int64_t>() * 1024});
  }
  return specs;
}

}  // namespace

const std::vector<GpuSpec>& gpu_specs() {
  static const std::vector<GpuSpec> specs = read();
  return specs;
}

std::optional<GpuSpec> find_gpu(std::string_view name) {
  for (const GpuSpec& spec : gpu_specs()) {
    if (key_of(name) == key_of(spec.key) || key_of(name) == key_of(spec.name)) return spec;
  }
  return std::nullopt;
}

}  // namespace flashlab::compare
