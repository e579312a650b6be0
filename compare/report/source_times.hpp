// The times that the sources published of their kernels, beside what the model predicts for ours on
// their GPUs, from data sheets alone. They are other programs: a ratio far from 1 has a reason that can
// be counted.
#pragma once

#include <string>
#include <vector>

namespace flashlab::compare {

struct SourceTime {
  std::string gpu, problem;  // "RTX 3090"; "float, N 8192, causal", of batch 4 and head_dim 64
  std::string kernel;        // the source's: "unfused"
  double source_ms = 0;      // as published
  std::string ours;          // "flash2 tf32", "their bytes at the sheet's rate"
  double predicted_ms = 0;
  std::string reason;  // if they are not within kNearTime of each other

  double ratio() const { return predicted_ms / source_ms; }
};

/// Returns what a reader has to know about the sources: which mask, and why.
std::string source_note();

/// All times of attention_cuda/bench/source_timings.json that our kernels have a counterpart of.
std::vector<SourceTime> source_times();

}  // namespace flashlab::compare
