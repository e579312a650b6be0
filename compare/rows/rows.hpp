// Makes a call's row: the kernel that runs it, its steps, the work of each by the counters of the
// toy program, and the time by a machine's rates.
#pragma once

#include <optional>
#include <string>

#include "attention/problem.hpp"
#include "attention_cuda/attention.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// The queries and keys in a block's tile.
struct Tile {
  std::int64_t block_q = 0, block_kv = 0;
  bool operator==(const Tile&) const = default;
};
/// Returns "128x64".
std::string to_string(const Tile& tile);

struct Call {
  std::string variant;
  AttentionProblem problem;
  cuda::Products products = cuda::Products::kNative;
  std::optional<Tile> tile;                     // instead of the kernel's
  std::string kernel;                           // empty: the one that runs by itself
  bool continues_dQ = false, keeps_dQ = false;  // cuda::ExecutionOptions
};

/// Returns the row with counts, predictions and hash, without measurements. Its `failure` says so
/// if the call does not fit into the GPU's memory. `data_sheet`: the same GPU without a
/// calibration, for the Pallas post's roofline. Throws ProblemError: no kernel for this call on
/// this GPU, a mask that no program has; std::overflow_error: FLOPs or bytes above 2^63.
Row predict_row(const Call& call, const MachineModel& machine, const MachineModel& data_sheet);

/// Returns the minimum time of any call by the data sheet: the usual FLOPs, or reading the inputs.
double floor_ms(const Row& row, const MachineModel& data_sheet);

}  // namespace flashlab::compare
