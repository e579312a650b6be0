// A process that torchrun, mpirun or srun has started as one rank of a group.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace flashlab {

struct RankProcess {
  int rank = 0, num_ranks = 1;
  int local_rank = 0;         // among the ranks of this computer
  std::string address, port;  // where rank 0 listens
};

/// Returns the value of an environment variable; null: not set.
using Environment = std::function<const char*(const char* name)>;

/// Returns what the launcher says; nothing for a process that is alone. These are read, the first that
/// is there of each line:
///
///   rank        RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK
///   num_ranks   WORLD_SIZE, OMPI_COMM_WORLD_SIZE, SLURM_STEP_NUM_TASKS, PMI_SIZE
///   local_rank  LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID, MPI_LOCALRANKID; else the rank
///   address     MASTER_ADDR; else this computer, which suits launchers that started all ranks here
///   port        FLASHLAB_PORT; else MASTER_PORT + 1, because torchrun itself listens on MASTER_PORT;
///               else 29501
///
/// Throws ProblemError: a number that is none; a rank that is not below num_ranks; a rank without
/// num_ranks.
std::optional<RankProcess> rank_process(const Environment& environment);

/// How keys, values and sums get from rank to rank.
enum class Transfers : std::uint8_t {
  kUsual,        // copy engines if every process sees all GPUs, NCCL otherwise
  kCopyEngines,  // of one computer
  kNccl
};

/// How the ranks of a command find each other.
struct RankOptions {
  Transfers transfers = Transfers::kUsual;
  std::chrono::milliseconds timeout = std::chrono::minutes(5);  // for another rank
  std::optional<RankProcess> process;  // nothing: all ranks are threads of this process
  /// If a rank fails, kernels that the others have enqueued leave out what has not begun. Kernels that cannot
  /// are refused.
  bool stops_kernels = false;
};

}  // namespace flashlab
