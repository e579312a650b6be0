// Predicts attention over several GPUs: each call of a rank as a call of one GPU, sums of gradients as
// bytes of DRAM, and messages by the rate of the link (attention/ranks/rank_timeline.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/ranks/rank_timeline.hpp"
#include "attention/ranks/shards.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// A message takes latency + bytes / rate.
struct LinkModel {
  double latency_ms = 0, bytes_per_s = 0;
  std::string source;  // where it was measured

  double ms(double bytes) const { return latency_ms + 1e3 * bytes / bytes_per_s; }
};

/// Returns the link through the times of the two largest messages of copy engines in a result of
/// sharded_speed, which is JSON. Throws std::runtime_error: not two sizes.
LinkModel link_in(std::string_view result);
/// The same for docs/results/attention_cuda_ranks.json.
LinkModel measured_link();

struct RankRow {
  double one_gpu_ms = 0;  // predicted
  RankTimes times;

  /// T1 / (R T_R).
  double efficiency(int num_ranks) const { return one_gpu_ms / (num_ranks * times.total_ms); }
};

/// Throws ProblemError: no such variant over ranks; a mask that no toy program has, such as causal in
/// contiguous order.
RankRow predict_ranks(std::string_view variant, const ShardedProblem& problem,
                      const MachineModel& machine, const MachineModel& data_sheet,
                      const LinkModel& link);

/// Returns the milliseconds, by copy engines, of such a run in a result of sharded_speed in docs/results on the
/// GPU with this key; for one rank, those of one GPU. Nothing: none is like it.
std::optional<double> committed_ms(std::string_view variant, const ShardedProblem& problem,
                                   std::string_view gpu);

}  // namespace flashlab::compare
