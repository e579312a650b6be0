// The flags of `flashlab compare`, and their meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "compare/rows/sweep.hpp"

namespace flashlab::cli {

/// The GPU if there is none here and none is requested.
inline constexpr const char* kUsualGpu = "h200";
inline constexpr int kUsualRepeat = 5;

struct CompareFlags {
  // The calls. Lists are "a,b"; numbers may be ranges.
  std::string variants = "all", dtypes = "bf16", products = "native", masks = "none", tiles,
              kernels;
  std::string seqlens = "4096", head_dims = "64";
  std::optional<std::int64_t> batch, num_heads, num_kv_heads, seqlen_k, tokens, hidden;
  // The machine
  std::string gpu, calibration;
  std::string gpus;  // numbers of GPUs that compute one attention together; empty: one
  bool calibrate = false, data_sheet = false, sources = false;
  // The measurement
  std::string measured, from_ncu, peers;
  bool predict_only = false, no_counters = false, resume = false;
  bool again = false;  // all rows of `measured` are predicted by this version
  std::optional<int> repeat;
  std::uint64_t seed = 1;
  // The output
  std::string json, csv, html, svg, commit;
  std::string show = "times,sentences";
  bool steps = false;
  std::optional<int> explained;  // a row of the table, from 1 on
  TerminalOptions terminal;

  void add_to(CLI::App& command);
  /// Returns the tables to print.
  std::vector<std::string> tables() const;
  bool shows(const std::string& table) const;
  /// Returns the numbers of --gpus. Throws Failure: not from 1 to 1024.
  std::vector<int> num_gpus() const;
  /// Throws Failure: an unknown word, an invalid size, flags that contradict each other.
  compare::SweepAxes axes() const;
  void check() const;
  /// Whether any flag chooses the calls.
  bool chooses_calls = false;
  /// Whether a flag chooses the numbers of batch entries or heads.
  bool chooses_shape() const {
    return batch || num_heads || num_kv_heads || seqlen_k || tokens || hidden;
  }

 private:
  void add_call_flags(CLI::App& command);
  void add_machine_flags(CLI::App& command);
  void add_output_flags(CLI::App& command);
};

}  // namespace flashlab::cli
