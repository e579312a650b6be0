// What is counted, predicted and measured for attention on a GPU: one row for each call, one step
// for each kernel.
//
// Traffic: bytes that cross a boundary. There are two:
//   DRAM  between DRAM and L2: at least every input once and every output once
//   SM    between L2 and the multiprocessors: the toy machine's loads and stores, with the tiles
//         of the kernel
// An atomic addition counts once, as bytes written, because L2 executes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "attention/variants.hpp"

namespace flashlab::compare {

struct Traffic {
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::int64_t bytes() const { return bytes_read + bytes_written; }
  bool operator==(const Traffic&) const = default;
};

/// The work of a kernel, from the counters of its toy program.
struct Work {
  Traffic dram;                        // each array once: a minimum for any cache
  std::optional<Traffic> sm;           // nothing: the tiles of a library's product are unknown
  std::int64_t product_flops = 0;      // of matrix products; a multiply-add counts as 2
  std::int64_t elementwise_flops = 0;  // maxima, sums, factors
  std::int64_t divisions = 0;          // part of elementwise_flops
  std::int64_t exps = 0;               // exponentials and logarithms
};

/// A unit of the machine that can limit a step.
enum class Bound : std::uint8_t {
  kDram,
  kSm,
  kProducts,
  kElementwise,
  kExp,
  kLaunch,
  kShared,
  kIssue,
  kSums
};
inline constexpr Bound kLastBound = Bound::kSums;
/// Returns "DRAM", "L2 to SM", "products", "elementwise", "exp", "launches", "shared memory",
/// "issue slots", "additions".
std::string_view to_string(Bound bound);

/// Predicted times in milliseconds.
struct Prediction {
  double dram_ms = 0, sm_ms = 0, products_ms = 0, elementwise_ms = 0, exp_ms = 0, launch_ms = 0;
  double fill = 1;  // mean share of the multiprocessors that have work
  /// Every unit runs at its rate, all at once: the maximum of the times.
  double roofline_ms = 0;
  /// Loads and stores overlap with computing. Products, elementwise work and exponentials run one
  /// after another, as they do within a tile: max(loads and stores, computing / fill) + launches.
  double overlap_ms = 0;
  Bound bound = Bound::kDram;  // of the roofline
  // What a block does inside its multiprocessor, if that is described (model/unit_cycles.hpp).
  double shared_ms = 0;  // shared memory
  double sums_ms = 0;    // additions to global memory
  double issue_ms = 0;   // instructions
  double wait_ms = 0;    // what the warps of a scheduler wait for, divided among them
  double warps = 0;      // that compute at once, per scheduler; 0: not described
  double clock_ghz = 0;
  /// The warps of a multiprocessor share its units: max(loads and stores, computing) + launches.
  /// Without a description of blocks, the same as overlap_ms. 0: predicted by an earlier version.
  double units_ms = 0;
};

/// Returns the prediction of a row that is compared with the measured time.
inline double predicted_ms(const Prediction& prediction) {
  return prediction.units_ms > 0 ? prediction.units_ms : prediction.overlap_ms;
}

/// Measurements of one kernel, or of a whole call. `why_no_counters` says why values are missing.
struct Measurement {
  std::optional<double> median_ms, least_ms, most_ms;
  int num_samples = 0;
  /// Of the multiprocessors, the mean over a call between calls like those that were timed. Counters
  /// are read in other calls, at other clocks.
  std::optional<double> clock_ghz;
  std::optional<Traffic> dram, sm;  // by hardware counters
  // Percentage of the elapsed cycles in which a unit is busy: tensor cores, special functions
  // (exp2), issue slots, shared memory.
  std::optional<double> tensor_percent, exp_percent, issue_percent, shared_percent;
  std::string why_no_counters;  // empty: there are counters
};

/// The launches of one kernel in a call: "bwd_twopass_dQ".
struct Step {
  std::string name;
  std::int64_t num_launches = 1;
  std::int64_t num_blocks = 0;                     // of one launch; 0: unknown (a library)
  int block_q = 0, block_kv = 0, num_threads = 0;  // tile and threads of a block; 0: none
  std::int64_t shared_bytes = 0;                   // of a block
  Work work;
  Prediction predicted;
  std::optional<Measurement> measured;
};

/// Bytes by the formulas of the Pallas post, for the passes and variants that it covers.
struct PallasBytes {
  std::int64_t formula = 0;  // by the post's code
  std::int64_t prose = 0;    // by the post's text, which counts its own six steps
};

/// One call: a variant on a problem, with one kernel file.
struct Row {
  // The problem
  std::string variant, kernel;  // "flash2", "flash2_mma_sm80"
  Pass pass = Pass::kForward;
  std::string dtype, products, mask;  // "bf16"; "native", "tf32", "tf32x3"; "none", "causal"
  std::int64_t batch = 0, num_heads = 0, num_kv_heads = 0, seqlen_q = 0, seqlen_k = 0, head_dim = 0;
  std::string tile;  // "128x64", requested instead of the kernel's: the row is only predicted

  // Counted and predicted
  Work toy;   // the toy program on one worker, with the kernel's tiles
  Work work;  // all blocks of the kernel, all steps
  Prediction predicted;
  std::optional<PallasBytes> pallas_bytes;
  std::optional<double>
      pallas_ms;  // the Pallas post's roofline: its FLOPs and bytes at the peak rates
  std::int64_t usual_flops = 0;   // for TFLOP/s: forward 4, backward 10 x visible pairs x head_dim
  std::int64_t tensor_bytes = 0;  // the arguments'
  std::int64_t workspace_bytes = 0;
  std::string prediction_sha256;  // of all members above, computed before the measurement
  std::vector<Step> steps;

  // Measured
  std::optional<Measurement> measured;
  std::string failure;   // why it is missing: no memory, no kernel, an error
  std::string sentence;  // why prediction and measurement differ (explain.hpp)
};

/// The beginning of the failure of a call that the GPU's memory does not hold.
inline constexpr std::string_view kDoesNotFit = "does not fit: ";
/// Such a call has no time, neither measured nor predicted.
inline bool does_not_fit(const Row& row) {
  return !row.measured && row.failure.starts_with(kDoesNotFit);
}

/// Predicted time divided by measured time.
std::optional<double> time_ratio(const Row& row);
std::optional<double> time_ratio(const Step& step);
/// Predicted bytes between L2 and the SMs, divided by measured bytes.
std::optional<double> sm_ratio(const Row& row);
std::optional<double> sm_ratio(const Step& step);
/// Returns "flash2, bf16, batch 4, 8 heads, N 4096, d 64, causal". Identifies a row in messages and
/// when a comparison resumes.
std::string key_of(const Row& row);

}  // namespace flashlab::compare
