// The flags of `flashlab attention`, and the problem that they define.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "attention/ranks/rank_process.hpp"
#include "attention/ranks/shards.hpp"
#include "attention/variants.hpp"
#include "attention_cpu/attention.hpp"
#include "cli/options/options.hpp"

namespace flashlab::cli {

struct AttentionFlags {
  std::optional<std::string> variant;
  std::string device = "cpu", dtype = "float", mask = "none", instruction_set;
  std::int64_t batch = 1, num_heads = 1, head_dim = 64;
  std::optional<std::int64_t> num_kv_heads, seqlen, seqlen_q, seqlen_k;
  std::vector<std::int64_t> key_lengths, window;  // window: left, or left and right
  std::vector<std::int64_t> packed, packed_keys;  // lengths of sequences
  std::optional<double> softmax_scale;
  int num_threads = 0;
  std::uint64_t seed = 1;
  bool verify = false, bench = false, by_kernel = false, list = false, json = false;
  std::string products, kernel;
  std::optional<int> num_splits, num_gpus;
  std::string sharding, transfers;
  std::optional<double> rank_timeout;  // seconds
  bool stop_kernels = false;
  bool round_statistics = false, deterministic = false;
  std::optional<int> repeat;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
  /// Returns the number of runs for --bench and --by-kernel.
  int num_runs() const { return repeat.value_or(kUsualRepeat); }

 private:
  static constexpr int kUsualRepeat = 10;
  void add_gpu_flags_to(CLI::App& command);
};

/// Flags that only apply to a GPU.
struct GpuFlags {
  std::string products = "native";
  std::string kernel;  // a stem; empty: the best
  int num_splits = 0;
  bool round_statistics = false, deterministic = false;
  std::optional<Shards> shards;  // of a variant over several GPUs
  RankOptions ranks;

  /// Returns whether another process prints the results.
  bool is_silent() const { return ranks.process && ranks.process->rank != 0; }
};

/// The request, checked as far as possible without tensors.
struct AttentionRequest {
  std::vector<const VariantInfo*> variants;
  AttentionProblem problem;
  cpu::InstructionSet instruction_set = cpu::InstructionSet::kBaseline;
  int num_threads = 0;  // 0: OpenMP's default
  std::uint64_t seed = 1;
  bool on_gpu = false;
  GpuFlags gpu;

  /// Throws Failure: a flag of another device, an invalid size, an unknown word.
  explicit AttentionRequest(const AttentionFlags& flags);

  bool multiplies_tf32() const { return gpu.products == "tf32"; }
  /// Returns "batch 1, 8 heads on 2 kv heads, 2048 queries, 2048 keys, head_dim 64, causal, float".
  std::string description() const;
};

}  // namespace flashlab::cli
