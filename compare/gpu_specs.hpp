// What is known of real GPUs: one row of gpus.json each, with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::compare {

struct GpuSpec {
  std::string name;                // "RTX 4000 Ada"
  std::string key;                 // as flags take it: "rtx4000ada"
  std::string compute_capability;  // "8.9"
  std::int64_t shared_memory_per_block_bytes = 0;
};

/// In the order of the file.
const std::vector<GpuSpec>& gpu_specs();

/// By key or name; letter case, spaces, hyphens and underscores are ignored.
std::optional<GpuSpec> find_gpu(std::string_view name);

}  // namespace flashlab::compare
