// The flags of `flashlab compare`, and what they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "compare/rows/sweep.hpp"

namespace flashlab::cli {

/// Where there is none, and none is asked for.
inline constexpr const char* kUsualGpu = "h200";
inline constexpr int kUsualRepeat = 5;

struct CompareFlags {
  // The calls. Lists are "a,b"; numbers may be ranges.
  std::string variants = "all", dtypes = "bf16", products = "native", masks = "none", tiles;
  std::string seqlens = "4096", head_dims = "64";
  std::int64_t batch = 4, num_heads = 8;
  std::optional<std::int64_t> num_kv_heads, seqlen_k, tokens, hidden;
  // The machine
  std::string gpu, calibration;
  bool calibrate = false, data_sheet = false;
  // What is measured
  std::string measured, from_ncu, peers;
  bool predict_only = false, no_counters = false, resume = false;
  std::optional<int> repeat;
  std::uint64_t seed = 1;
  // Where it goes
  std::string json, csv, html, svg, commit;
  std::string show = "times,sentences";
  bool steps = false;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
  /// The tables to print.
  std::vector<std::string> tables() const;
  bool shows(const std::string& table) const;
  /// Throws Failure: a word or a size that is none, flags that contradict each other.
  compare::SweepAxes axes() const;
  void check() const;
  /// Whether the calls were chosen, rather than left at what they are without flags.
  bool chooses_calls = false;

 private:
  void add_call_flags(CLI::App& command);
  void add_machine_flags(CLI::App& command);
  void add_output_flags(CLI::App& command);
};

}  // namespace flashlab::cli
