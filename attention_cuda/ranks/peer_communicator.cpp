#include "attention_cuda/ranks/peer_communicator.hpp"

#include <cuda_runtime.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/cuda_event.hpp"
#include "attention_cuda/ranks/rank_board.hpp"

namespace flashlab::cuda {
namespace {

/// A started message, until its receiver has taken it.
struct Sent {
  int exchange;
  const void* memory;
  std::size_t bytes;
  int device;
  SharedEvent ready;   // the sender's memory is
  SharedEvent copied;  // null until the receiver has enqueued its copy
};
using SharedSent = std::shared_ptr<Sent>;

}  // namespace

struct PeerGroup::Shared {
  Shared(std::vector<int> devices_of_ranks, std::chrono::milliseconds timeout)
      : devices(std::move(devices_of_ranks)), board(static_cast<int>(devices.size()), timeout) {}

  const std::vector<int> devices;
  RankBoard board;
  std::map<std::pair<int, int>, std::deque<SharedSent>> sent;  // by sender and receiver
};

namespace {

class PeerCommunicator : public Communicator {
 public:
  PeerCommunicator(std::shared_ptr<PeerGroup::Shared> shared, int rank)
      : shared_(std::move(shared)), rank_(rank), device_(device_of(rank)) {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    for (const int peer : std::set<int>(shared_->devices.begin(), shared_->devices.end())) {
      if (peer != device_) enable_access(peer);
    }
    check_cuda(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  ~PeerCommunicator() override {
    shared_->board.leave(rank_);
    cudaStreamDestroy(copies_);
  }

  int rank() const override { return rank_; }
  int num_ranks() const override { return shared_->board.num_ranks(); }

  void start(int exchange, std::span<const Message> messages, Stream stream) override {
    const SharedEvent here = recorded_event(stream);
    Exchange& started = exchanges_[exchange];
    for (const Message& message : messages) {
      if (message.is_sent) started.sent.emplace_back(message.peer, send(exchange, message, here));
    }
    wait_on_stream(copies_, here);
    std::vector<SharedSent> taken;
    for (const Message& message : messages) {
      if (!message.is_sent) taken.push_back(receive(exchange, message));
    }
    if (taken.empty()) return;
    started.received = recorded_event(copies_);
    shared_->board.change([&] {
      for (const SharedSent& each : taken) each->copied = started.received;
    });
  }

  void wait(int exchange, Stream stream) override {
    const auto found = exchanges_.find(exchange);
    if (found == exchanges_.end()) return;
    if (found->second.received) wait_on_stream(stream, found->second.received);
    for (const auto& [peer, sent] : found->second.sent) {
      shared_->board.wait(rank_, peer, exchange_text(exchange),
                          [&] { return sent->copied != nullptr; });
      wait_on_stream(stream, sent->copied);
    }
    exchanges_.erase(found);
  }

  void finish(Stream stream) override {
    while (!exchanges_.empty()) wait(exchanges_.begin()->first, stream);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (may_stop_) shared_->board.check();  // kernels may have left out their work
  }

  std::vector<std::string> gather(const std::string& own) override {
    return shared_->board.gather(rank_, own);
  }
  const int* stop_flag() override {
    may_stop_ = true;
    return shared_->board.stop_flag();
  }
  void abort(const std::string& reason) noexcept override { shared_->board.abort(rank_, reason); }

 private:
  struct Exchange {
    std::vector<std::pair<int, SharedSent>> sent;  // and to whom
    SharedEvent received;                          // null: nothing is
  };

  int device_of(int rank) const { return shared_->devices[static_cast<std::size_t>(rank)]; }

  static void enable_access(int peer) {
    int device = 0, can_access = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceCanAccessPeer(&can_access, device, peer), "cudaDeviceCanAccessPeer");
    if (can_access == 0) return;  // copies go through host memory
    if (cudaDeviceEnablePeerAccess(peer, 0) != cudaSuccess) {
      cudaGetLastError();  // another user of this process has enabled it
    }
  }

  SharedSent send(int exchange, const Message& message, const SharedEvent& here) {
    const auto sent = std::make_shared<Sent>(
        Sent{exchange, message.memory, message.bytes, device_, here, nullptr});
    shared_->board.change([&] { shared_->sent[{rank_, message.peer}].push_back(sent); });
    return sent;
  }

  SharedSent receive(int exchange, const Message& message) {
    SharedSent sent;
    shared_->board.wait(rank_, message.peer, exchange_text(exchange), [&] {
      std::deque<SharedSent>& waiting = shared_->sent[{message.peer, rank_}];
      if (waiting.empty()) return false;
      sent = waiting.front();
      waiting.pop_front();
      return true;
    });
    if (sent->exchange != exchange || sent->bytes != message.bytes) {
      throw RankFailure(message.peer, "it sent " + std::to_string(sent->bytes) +
                                          " bytes in exchange " + std::to_string(sent->exchange) +
                                          ": expected " + std::to_string(message.bytes) + " in " +
                                          std::to_string(exchange));
    }
    wait_on_stream(copies_, sent->ready);
    check_cuda(cudaMemcpyPeerAsync(message.memory, device_, sent->memory, sent->device,
                                   message.bytes, copies_),
               "cudaMemcpyPeerAsync");
    return sent;
  }

  const std::shared_ptr<PeerGroup::Shared> shared_;
  const int rank_, device_;
  bool may_stop_ = false;  // kernels read the flag
  Stream copies_ = nullptr;
  std::map<int, Exchange> exchanges_;  // started and not waited for
};

}  // namespace

PeerGroup::PeerGroup(const std::vector<int>& devices, std::chrono::milliseconds timeout) {
  if (devices.empty()) throw ProblemError("num_ranks", "0", "at least 1");
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  for (const int device : devices) {
    if (device >= 0 && device < count) continue;
    throw ProblemError("device", std::to_string(device),
                       "0 … " + std::to_string(count - 1) + ", the GPUs of this computer");
  }
  shared_ = std::make_shared<Shared>(devices, timeout);
}

PeerGroup::~PeerGroup() = default;

std::unique_ptr<Communicator> PeerGroup::join(int rank) {
  return std::make_unique<PeerCommunicator>(shared_, rank);
}

}  // namespace flashlab::cuda
