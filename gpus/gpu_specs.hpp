// What is known of real GPUs: one row of gpus.json each, with its source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::compare {

struct GpuSpec {
  std::string name;                // "RTX 4000 Ada"
  std::string key;                 // as flags take it: "rtx4000ada"
  std::string compute_capability;  // "8.9"
  std::int64_t shared_memory_per_block_bytes = 0, shared_memory_per_sm_bytes = 0;
  std::int64_t num_sms = 0;
  double boost_clock_hz = 0;
  double tensor_boost_clock_hz = 0;  // that the tensor cores' peaks hold at; mostly the same
  std::int64_t memory_bytes = 0;     // at least
  std::optional<std::int64_t> l2_bytes;

  // Peak rates. Products are dense and added up in fp32.
  double dram_bytes_per_s = 0;
  std::map<std::string, double> flops_per_s;  // "bf16", "fp16", "float", "float tf32"
  double exps_per_clock_per_sm = 0;           // 2^x in fp32
  double additions_per_clock_per_sm = 0;      // fp32; a multiply-add counts as one
  double shared_bytes_per_clock_per_sm = 0;

  std::vector<std::string> other_models;  // words that a name of this GPU does not have: "Ti"
  std::vector<std::string> sources;       // title, table, address
};

/// In the order of the file.
const std::vector<GpuSpec>& gpu_specs();

/// By key or name, where letter case, spaces, hyphens and underscores are ignored; or by the name
/// that CUDA gives the device: "NVIDIA GeForce RTX 3090" has all words of "RTX 3090", while "NVIDIA
/// GeForce RTX 3090 Ti" is another model.
std::optional<GpuSpec> find_gpu(std::string_view name);

}  // namespace flashlab::compare
