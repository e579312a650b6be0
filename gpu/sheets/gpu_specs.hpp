// The data sheets of real GPUs: one row of gpus.json for each, with its source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::gpu {

/// Clocks from an instruction to its result, if nothing else runs.
struct Latencies {
  double shared = 0;  // a load from shared memory
  double mma = 0;     // a product on tensor cores
  double wgmma = 0;   // a group of products, besides the time of the products
  double exp = 0, shuffle = 0;
  double barrier = 0;       // of a block
  double l2 = 0, dram = 0;  // a load from there
  double instruction = 0;   // arithmetic in fp32 or with integers
};

struct GpuSpec {
  std::string name;                // "RTX 4000 Ada"
  std::string key;                 // the value of flags: "rtx4000ada"
  std::string compute_capability;  // "8.9"
  std::int64_t shared_memory_per_block_bytes = 0, shared_memory_per_sm_bytes = 0;
  std::int64_t num_sms = 0;
  double boost_clock_hz = 0;
  double tensor_boost_clock_hz = 0;  // clock for the tensor cores' peaks; mostly the same
  std::int64_t memory_bytes = 0;     // at least
  std::optional<std::int64_t> l2_bytes;

  // Peak rates. Products are dense and accumulate in fp32.
  double dram_bytes_per_s = 0;
  std::map<std::string, double> flops_per_s;  // "bf16", "fp16", "float", "float tf32"
  double exps_per_clock_per_sm = 0;           // 2^x in fp32
  double additions_per_clock_per_sm = 0;      // fp32; a multiply-add counts as one
  double shared_bytes_per_clock_per_sm = 0;
  double instructions_per_clock_per_sm = 0;  // of warps; one for each scheduler
  double mma_share = 1;  // of the products' peak, for mma.sync; the rest needs wgmma
  /// Clocks of a scheduler for an arithmetic instruction of threads, whose operands share the banks of the registers,
  /// and for a warp's load from constant memory.
  double arithmetic_clocks = 1, constant_clocks = 0;
  Latencies latency;
  /// The share by which the clock falls if shared memory is always busy beside mma.sync; 0: unknown.
  double shared_clock_drop = 0;

  /// Whether what a multiprocessor does per clock is known: not of a GPU without a row here.
  bool has_clocks() const { return instructions_per_clock_per_sm > 0 && boost_clock_hz > 0; }

  std::vector<std::string> other_models;  // words that no name of this GPU contains: "Ti"
  std::vector<std::string> sources;       // title, table, address
};

/// Returns the rows in the order of the file.
const std::vector<GpuSpec>& gpu_specs();

/// Finds a GPU by key or name, ignoring letter case, spaces, hyphens and underscores, or by the
/// name that CUDA gives the device (device_name.hpp).
std::optional<GpuSpec> find_gpu(std::string_view name);

}  // namespace flashlab::gpu
