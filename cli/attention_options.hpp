// The flags of `flashlab attention`, and the problem that they state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "attention/variants.hpp"
#include "attention_cpu/attention.hpp"
#include "cli/options.hpp"

namespace flashlab::cli {

struct AttentionFlags {
  std::string variant = "flash2", device = "cpu", dtype = "float", mask = "none", instruction_set;
  std::int64_t batch = 1, num_heads = 1, head_dim = 64;
  std::optional<std::int64_t> num_kv_heads, seqlen, seqlen_q, seqlen_k;
  std::vector<std::int64_t> key_lengths;
  std::optional<double> softmax_scale;
  int num_threads = 0;
  std::uint64_t seed = 1;
  bool verify = false, bench = false, json = false;
  int repeat = 10;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
};

/// What is asked for, checked as far as it can be without tensors.
struct AttentionRequest {
  std::vector<const VariantInfo*> variants;
  AttentionProblem problem;
  cpu::InstructionSet instruction_set = cpu::InstructionSet::kBaseline;
  int num_threads = 0;  // 0: as many as OpenMP would take
  std::uint64_t seed = 1;

  /// Throws Failure: another device, a flag that is no size, an unknown word.
  explicit AttentionRequest(const AttentionFlags& flags);

  AttentionOptions options() const;
  /// "batch 1, 8 heads on 2 kv heads, 2048 queries, 2048 keys, head_dim 64, causal, float".
  std::string description() const;
};

}  // namespace flashlab::cli
