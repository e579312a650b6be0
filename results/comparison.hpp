// What is counted, predicted and measured of attention on a GPU: one row per call, one step per
// kernel.
//
// Traffic  is what crosses a boundary. Two are told apart:
//            DRAM  between DRAM and L2: at least every input once and every output once
//            SM    between L2 and the multiprocessors: what the toy machine counts as loads and
//                  stores, with the tiles that the kernel has
// Bytes    an atomic addition counts as bytes written, once: it is carried out in L2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "attention/variants.hpp"

namespace flashlab::compare {

struct Traffic {
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::int64_t bytes() const { return bytes_read + bytes_written; }
  bool operator==(const Traffic&) const = default;
};

/// What a kernel must do, from the counters of its toy program.
struct Work {
  Traffic dram;                    // each array once: what must be moved whatever the caches hold
  std::optional<Traffic> sm;       // nothing: the tiles of a library's product are not known
  std::int64_t product_flops = 0;  // of matrix products, 2 a multiply-add
  std::int64_t elementwise_flops = 0;  // maxima, sums, factors
  std::int64_t divisions = 0;          // part of elementwise_flops
  std::int64_t exps = 0;               // exponentials and logarithms
};

/// A unit of the machine, and what a step needs of it.
enum class Bound : std::uint8_t { kDram, kSm, kProducts, kElementwise, kExp, kLaunch };
/// "DRAM", "L2 to SM", "products", "elementwise", "exp", "launches".
std::string_view to_string(Bound bound);

/// Milliseconds.
struct Prediction {
  double dram_ms = 0, sm_ms = 0, products_ms = 0, elementwise_ms = 0, exp_ms = 0, launch_ms = 0;
  double fill = 1;  // share of the multiprocessors that have work, over the time
  /// Every unit at its rate, all at once: the slowest decides.
  double roofline_ms = 0;
  /// Loads and stores run beside computing, but products, elementwise work and exponentials wait
  /// for one another, as they do within a tile; whatever is longer, over `fill`, and the launches.
  double overlap_ms = 0;
  Bound bound = Bound::kDram;  // of the roofline
};

/// How a row's time was predicted: the one that is held against the measured time.
inline double predicted_ms(const Prediction& prediction) { return prediction.overlap_ms; }

/// Of one kernel, or all of a call. What could not be measured is left out, and `why_no_counters`
/// says why.
struct Measurement {
  std::optional<double> median_ms, least_ms, most_ms;
  int num_samples = 0;
  std::optional<Traffic> dram, sm;  // by hardware counters
  // Share of the elapsed cycles, in per cent: the tensor cores and the special functions (exp2) at
  // work, issue slots taken, shared memory read or written.
  std::optional<double> tensor_percent, exp_percent, issue_percent, shared_percent;
  std::string why_no_counters;  // empty: there are counters
};

/// Kernels of one name in a call: "bwd_twopass_dQ".
struct Step {
  std::string name;
  std::int64_t num_launches = 1;
  std::int64_t num_blocks = 0;                     // of one launch; 0: not known (a library's)
  int block_q = 0, block_kv = 0, num_threads = 0;  // tile and threads of a block; 0: none
  std::int64_t shared_bytes = 0;                   // of a block
  Work work;
  Prediction predicted;
  std::optional<Measurement> measured;
};

/// Bytes by the formulas of the Pallas post, for the passes and variants that it has one for.
struct PallasBytes {
  std::int64_t formula = 0;  // as the Pallas post's code has it
  std::int64_t prose = 0;    // as the Pallas post's text counts its own six steps
};

/// One call: a variant on a problem, by one kernel file.
struct Row {
  // The problem
  std::string variant, kernel;  // "flash2", "flash2_mma_sm80"
  Pass pass = Pass::kForward;
  std::string dtype, products, mask;  // "bf16"; "native", "tf32", "tf32x3"; "none", "causal"
  std::int64_t batch = 0, num_heads = 0, num_kv_heads = 0, seqlen_q = 0, seqlen_k = 0, head_dim = 0;
  std::string tile;  // "128x64", asked for instead of the kernel's: such a row is predicted only

  // Counted and predicted
  Work toy;   // the toy program on one worker, with the kernel's tiles
  Work work;  // the kernel's blocks: all steps together
  Prediction predicted;
  std::optional<PallasBytes> pallas_bytes;
  std::optional<double>
      pallas_ms;  // the Pallas post's roofline: its FLOPs and bytes at the peak rates
  std::int64_t usual_flops = 0;   // forward 4, backward 10 x visible pairs x head_dim: for TFLOP/s
  std::int64_t tensor_bytes = 0;  // the arguments'
  std::int64_t workspace_bytes = 0;
  std::string prediction_sha256;  // of everything above, before anything was measured
  std::vector<Step> steps;

  // Measured
  std::optional<Measurement> measured;
  std::string failure;   // why there is none: no memory, no kernel, an error
  std::string sentence;  // what the gap is due to (explain.hpp)
};

/// Predicted over measured: time.
std::optional<double> time_ratio(const Row& row);
std::optional<double> time_ratio(const Step& step);
/// Predicted over measured: bytes over the boundary of the SMs.
std::optional<double> sm_ratio(const Row& row);
std::optional<double> sm_ratio(const Step& step);
/// "flash2, bf16, batch 4, 8 heads, N 4096, d 64, causal": what tells rows apart, for messages and
/// for resuming.
std::string key_of(const Row& row);

}  // namespace flashlab::compare
