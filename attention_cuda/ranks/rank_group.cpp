#include "attention_cuda/ranks/rank_group.hpp"

#include <cuda_runtime.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/nccl_communicator.hpp"
#include "attention_cuda/ranks/peer_communicator.hpp"
#include "attention_cuda/ranks/processes/process_communicator.hpp"
#include "attention_cuda/ranks/processes/rendezvous.hpp"

namespace flashlab::cuda {
namespace {

std::string number_of_gpus_error(int count) {
  return "1 … " + std::to_string(count) + ", the GPUs of this computer";
}

/// Makes the communicator of a rank, on its thread.
using Join = std::function<std::unique_ptr<Communicator>(int rank)>;

void in_threads(int num_ranks, const Join& join, const std::function<void(Communicator&)>& work) {
  std::vector<std::exception_ptr> own(static_cast<std::size_t>(num_ranks)),
      of_others(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto k = static_cast<std::size_t>(rank);
      try {
        work(*join(rank));
      } catch (const RankFailure&) {
        of_others[k] = std::current_exception();
      } catch (...) {
        own[k] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto* errors : {&own, &of_others}) {
    for (const std::exception_ptr& error : *errors) {
      if (error) std::rethrow_exception(error);
    }
  }
}

void on_first_gpus(int num_ranks, const RankOptions& options,
                   const std::function<void(Communicator&)>& work) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (num_ranks < 1 || num_ranks > count) {
    throw ProblemError("gpus", std::to_string(num_ranks), number_of_gpus_error(count));
  }
  if (options.transfers == Transfers::kNccl) {
    const NcclId id = make_nccl_id();
    const auto join = [&](int rank) {
      check_cuda(cudaSetDevice(rank), "cudaSetDevice");
      return join_nccl(id, num_ranks, rank, options.timeout);
    };
    return in_threads(num_ranks, join, work);
  }
  std::vector<int> devices(static_cast<std::size_t>(num_ranks));
  std::iota(devices.begin(), devices.end(), 0);
  PeerGroup group(devices, options.timeout);
  in_threads(
      num_ranks, [&](int rank) { return group.join(rank); }, work);
}

/// After a failure, a stream may wait for an event of a process that is no more, and with it every
/// function that frees memory.
void end_soon(const std::string& reason) {
  static constexpr std::chrono::seconds kPatience{10};
  std::thread([reason] {
    std::this_thread::sleep_for(kPatience);
    const std::string text = "flashlab: error: " + reason + "\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    _exit(1);
  }).detach();
}

/// This process's rank.
class ProcessGroup {
 public:
  explicit ProcessGroup(const RankOptions& options)
      : network_(*options.process, hello_of(*options.process), options.timeout,
                 [](int rank, const std::string& reason) {
                   end_soon("rank " + std::to_string(rank) + ": " + reason);
                 }) {
    try {
      communicator_ = join_processes(network_, options.transfers);
    } catch (const std::exception& error) {
      network_.abort(network_.rank(), error.what());
      throw;
    }
  }

  void call(const std::function<void(Communicator&)>& work) {
    try {
      work(*communicator_);
    } catch (const std::exception& error) {
      network_.abort(network_.rank(), error.what());
      throw;
    }
  }

 private:
  RankNetwork network_;
  std::unique_ptr<Communicator> communicator_;
};

ProcessGroup& process_group(const RankOptions& options) {
  static ProcessGroup group(options);
  return group;
}

}  // namespace

void on_each_rank(int num_ranks, const RankOptions& options,
                  const std::function<void(Communicator&)>& work) {
  if (!options.process) return on_first_gpus(num_ranks, options, work);
  if (num_ranks != options.process->num_ranks) {
    throw ProblemError("gpus", std::to_string(num_ranks),
                       std::to_string(options.process->num_ranks) +
                           ", the number of processes that were started together");
  }
  use_gpu_of(options);
  process_group(options).call(work);
}

void use_gpu_of(const RankOptions& options) {
  if (!options.process) return;
  try {
    use_gpu_of(*options.process);
  } catch (const std::exception& error) {
    tell_failure(*options.process, error.what(), options.timeout);
    throw;
  }
}

}  // namespace flashlab::cuda
