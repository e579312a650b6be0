#include "attention_cuda/ranks/processes/process_communicator.hpp"

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/nccl_communicator.hpp"
#include "attention_cuda/ranks/processes/cuda_ipc.hpp"

namespace flashlab::cuda {
namespace {

/// The host's name, and a number that Linux draws when it starts.
std::string computer_name() {
  std::array<char, 20> name = {};
  gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return std::string(name.data()) + "/" + boot;
}

/// Data by NCCL, the rest by the network: failures are known at once, and with the rank's number.
class NcclOfProcesses : public Communicator {
 public:
  NcclOfProcesses(RankNetwork& network, std::unique_ptr<Communicator> data)
      : network_(network), data_(std::move(data)) {}

  int rank() const override { return network_.rank(); }
  int num_ranks() const override { return network_.num_ranks(); }
  void start(int exchange, std::span<const Message> messages, Stream stream) override {
    network_.check();
    data_->start(exchange, messages, stream);
  }
  void wait(int exchange, Stream stream) override { data_->wait(exchange, stream); }
  void finish(Stream stream) override {
    data_->finish(stream);
    if (may_stop_) network_.check();  // kernels may have left out their work
  }
  std::vector<std::string> gather(const std::string& own) override { return network_.gather(own); }
  const int* stop_flag() override {
    may_stop_ = true;
    return network_.stop_flag();
  }
  void abort(const std::string& reason) noexcept override {
    network_.abort(rank(), reason);
    data_->abort(reason);
  }

 private:
  RankNetwork& network_;
  bool may_stop_ = false;
  std::unique_ptr<Communicator> data_;
};

/// Rank 0's id, or the reason why there is none.
NcclId shared_nccl_id(RankNetwork& network) {
  const std::string why_not = why_no_nccl();
  std::string own = why_not.empty() ? "" : "-" + why_not;
  if (own.empty() && network.rank() == 0) {
    const NcclId id = make_nccl_id();
    own = "+" + std::string(id.bytes.begin(), id.bytes.end());
  }
  const std::vector<std::string> all = network.gather(own);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].starts_with('-')) {
      throw RankFailure(static_cast<int>(rank), all[rank].substr(1));
    }
  }
  NcclId id;
  if (all.front().size() != id.bytes.size() + 1) throw RankFailure(0, "it sent no NCCL id");
  std::copy(all.front().begin() + 1, all.front().end(), id.bytes.begin());
  return id;
}

/// Returns a GPU of another rank that this process does not see, or whose memory its GPU cannot read; ""
/// if there is none. A launcher may show each process only its own.
std::string unreachable_gpu(const std::vector<std::string>& uuids) {
  int own = 0, count = 0;
  check_cuda(cudaGetDevice(&own), "cudaGetDevice");
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::map<std::string, int> devices;
  for (int device = 0; device < count; ++device) {
    const std::array<char, 16> uuid = uuid_of(device);
    devices[std::string(uuid.begin(), uuid.end())] = device;
  }
  for (std::size_t rank = 0; rank < uuids.size(); ++rank) {
    const auto found = devices.find(uuids[rank]);
    const std::string name = "the GPU of rank " + std::to_string(rank);
    if (found == devices.end()) return " does not see " + name;
    if (found->second == own) continue;
    int can_access = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can_access, own, found->second), "cudaDeviceCanAccessPeer");
    if (can_access == 0) return " cannot read memory of " + name;
  }
  return "";
}

/// Returns why copy engines cannot pull from all other GPUs, the same on all ranks; "" if they can.
/// Collective.
std::string why_no_copy_engines(RankNetwork& network) {
  if (!network.is_one_computer()) return "the GPUs are in several computers";
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  const std::array<char, 16> uuid = uuid_of(device);
  const std::vector<std::string> uuids = network.gather(std::string(uuid.begin(), uuid.end()));
  const std::vector<std::string> reasons = network.gather(unreachable_gpu(uuids));
  for (std::size_t rank = 0; rank < reasons.size(); ++rank) {
    if (!reasons[rank].empty()) return "rank " + std::to_string(rank) + reasons[rank];
  }
  return "";
}

}  // namespace

void use_gpu_of(const RankProcess& process) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  const int device = count == 1 ? 0 : process.local_rank;
  if (device >= count) {
    throw ProblemError("LOCAL_RANK", std::to_string(process.local_rank),
                       "0 … " + std::to_string(count - 1) + ", the GPUs of this computer");
  }
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
}

Hello hello_of(const RankProcess& process) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  Hello hello;
  hello.rank = process.rank;
  hello.num_ranks = process.num_ranks;
  const std::string computer = computer_name();
  std::copy_n(computer.begin(), std::min(computer.size(), sizeof hello.computer - 1),
              hello.computer);
  const std::array<char, 16> uuid = uuid_of(device);
  std::copy(uuid.begin(), uuid.end(), hello.gpu);
  return hello;
}

std::unique_ptr<Communicator> join_nccl_of_processes(RankNetwork& network) {
  const NcclId id = shared_nccl_id(network);
  return std::make_unique<NcclOfProcesses>(
      network, join_nccl(id, network.num_ranks(), network.rank(), network.timeout(),
                         [&network] { network.check(); }));
}

std::unique_ptr<Communicator> join_processes(RankNetwork& network, Transfers transfers) {
  if (transfers == Transfers::kNccl) return join_nccl_of_processes(network);
  const std::string why_not = why_no_copy_engines(network);
  if (why_not.empty()) return join_copy_engines(network);
  if (transfers == Transfers::kUsual) return join_nccl_of_processes(network);
  throw ProblemError("transfers", "copy-engines", "nccl: " + why_not);
}

}  // namespace flashlab::cuda
