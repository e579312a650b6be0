// From a call to its row: the kernel that would run it, its steps, what each must do by the
// counters of the toy program, and how long that takes by a machine's rates.
#pragma once

#include <optional>
#include <string>

#include "attention/problem.hpp"
#include "attention_cuda/attention.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// Queries and keys of a block's tile.
struct Tile {
  std::int64_t block_q = 0, block_kv = 0;
  bool operator==(const Tile&) const = default;
};
/// "128x64".
std::string to_string(const Tile& tile);

struct Call {
  std::string variant;
  AttentionProblem problem;
  cuda::Products products = cuda::Products::kNative;
  std::optional<Tile> tile;  // instead of the kernel's
};

/// Counted and predicted for the machine, hash included; nothing measured. `data_sheet`: the same
/// GPU without a calibration, for the Pallas post's roofline.
/// Throws ProblemError: no kernel for this call on this GPU, a mask that no program has;
/// std::overflow_error: FLOPs or bytes past 2^63.
Row predict_row(const Call& call, const MachineModel& machine, const MachineModel& data_sheet);

/// The time that no call can stay below, by the data sheet: the usual FLOPs, or reading the inputs.
double floor_ms(const Row& row, const MachineModel& data_sheet);

}  // namespace flashlab::compare
