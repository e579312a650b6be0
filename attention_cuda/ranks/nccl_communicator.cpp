#include "attention_cuda/ranks/nccl_communicator.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/ranks/cuda_event.hpp"
#include "attention_cuda/ranks/stop_flag.hpp"

namespace flashlab::cuda {
namespace {

using Clock = std::chrono::steady_clock;

std::string seconds_text(std::chrono::milliseconds time) {
  const auto ms = time.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(NcclComm comm, bool is_owned, std::chrono::milliseconds timeout,
                   std::function<void()> watch)
      : comm_(comm), is_owned_(is_owned), timeout_(timeout), watch_(std::move(watch)) {
    check_cuda(cudaStreamCreateWithFlags(&transfers_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  ~NcclCommunicator() override {
    // Nothing is under way after finish(). Without it, the others must not wait for this rank.
    if (is_owned_ && comm_ != nullptr) nccl().abort(comm_);
    cudaStreamDestroy(transfers_);
  }

  /// Waits until the communicator can be used.
  void connect() {
    settle(nccl().kInProgress, "ncclCommInitRankConfig", -1);
    check(nccl().count(comm_, &num_ranks_), "ncclCommCount", -1);
    check(nccl().user_rank(comm_, &rank_), "ncclCommUserRank", -1);
  }

  int rank() const override { return rank_; }
  int num_ranks() const override { return num_ranks_; }

  void start(int exchange, std::span<const Message> messages, Stream stream) override {
    if (messages.empty()) return;
    const SharedEvent here = recorded_event(stream);
    wait_on_stream(transfers_, here);
    const int peer = messages.front().peer;
    check(nccl().group_start(), "ncclGroupStart", peer);
    for (const Message& message : messages) {
      const int result = message.is_sent
                             ? nccl().send(message.memory, message.bytes, NcclLibrary::kUint8,
                                           message.peer, alive(), transfers_)
                             : nccl().receive(message.memory, message.bytes, NcclLibrary::kUint8,
                                              message.peer, alive(), transfers_);
      if (result != NcclLibrary::kInProgress) {
        check(result, message.is_sent ? "ncclSend" : "ncclRecv", message.peer);
      }
    }
    settle(nccl().group_end(), "ncclGroupEnd", peer);
    Exchange started = {exchange, here, recorded_event(transfers_), {}};
    for (const Message& message : messages) started.peers.push_back(message.peer);
    under_way_.push_back(std::move(started));
  }

  void wait(int exchange, Stream stream) override {
    const auto found = std::ranges::find(under_way_, exchange, &Exchange::number);
    if (found != under_way_.end()) wait_on_stream(stream, found->done);
    // Those that have ended need not be watched.
    while (!under_way_.empty() && has_happened(under_way_.front().done)) under_way_.pop_front();
  }

  void finish(Stream stream) override {
    watch(stream);
    watch(transfers_);
    under_way_.clear();
  }

  std::vector<std::string> gather(const std::string& own) override {
    const std::vector<std::uint64_t> lengths = gathered<std::uint64_t>({own.size()}, 1);
    const std::uint64_t longest = *std::ranges::max_element(lengths);
    std::vector<char> padded(own.begin(), own.end());
    padded.resize(longest);
    const std::vector<char> all = gathered<char>(padded, longest);
    std::vector<std::string> result;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      result.emplace_back(all.data() + rank * longest, lengths[rank]);
    }
    return result;
  }

  const int* stop_flag() override {
    if (!stop_flag_) stop_flag_.emplace();
    return stop_flag_->on_device();
  }
  void abort(const std::string&) noexcept override {
    if (stop_flag_) stop_flag_->raise();
    // NCCL takes no reason along: ranks that wait for this one give up after their timeout.
    if (comm_ != nullptr) nccl().abort(std::exchange(comm_, nullptr));
  }

 private:
  struct Exchange {
    int number;
    SharedEvent ready, done;  // this rank's memory is; the transfers are
    std::vector<int> peers;
  };

  NcclComm alive() const {
    if (comm_ == nullptr) throw CudaError("ncclCommAbort", "the communicator was aborted");
    return comm_;
  }

  /// All ranks' values, in their order; each has as many.
  template <class Value>
  std::vector<Value> gathered(const std::vector<Value>& own, std::size_t count) {
    const auto ranks = static_cast<std::size_t>(num_ranks_);
    std::vector<Value> all(count * ranks);
    if (count == 0) return all;
    const std::size_t bytes = count * sizeof(Value);
    const DeviceMemory sent("what a rank computes", bytes),
        received("what all compute", bytes * ranks);
    copy_to_gpu(sent.data(), own.data(), bytes);
    settle(nccl().all_gather(sent.data(), received.data(), bytes, NcclLibrary::kUint8, alive(),
                             transfers_),
           "ncclAllGather", -1);
    const SharedEvent now = recorded_event(transfers_);
    under_way_.push_back({-1, now, now, {}});
    under_way_.back().ready = nullptr;  // from now on
    watch(transfers_);
    under_way_.clear();
    copy_from_gpu(all.data(), received.data(), bytes * ranks);
    return all;
  }

  void check(int result, std::string_view call, int peer) {
    if (result == NcclLibrary::kSuccess) return;
    abort("");
    if (peer >= 0) {
      throw RankFailure(peer, std::string("the transfer failed: ") + std::string(call) + ": " +
                                  nccl().error_string(result));
    }
    throw CudaError(call, nccl().error_string(result));
  }

  /// Waits on the host while a call is in progress. peer: for whom it waits; -1: for all.
  void settle(int result, std::string_view call, int peer) {
    const auto end = Clock::now() + timeout_;
    while (result == NcclLibrary::kInProgress) {
      call_watch();
      if (Clock::now() >= end) give_up(peer, std::string(call));
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      const int asked = nccl().get_async_error(alive(), &result);
      if (asked != NcclLibrary::kSuccess) result = asked;
    }
    check(result, call, peer);
  }

  void call_watch() {
    if (!watch_) return;
    try {
      watch_();
    } catch (...) {
      abort("");
      throw;
    }
  }

  [[noreturn]] void give_up(int peer, const std::string& what) {
    abort("");
    if (peer < 0) {
      throw CudaError(what, "not all ranks have come within " + seconds_text(timeout_));
    }
    throw RankFailure(peer, "rank " + std::to_string(rank_) + " waited " + seconds_text(timeout_) +
                                " for it in " + what);
  }

  /// Waits on the host for a stream. The time of an exchange counts from when this rank's memory was
  /// ready for it: computing may take as long as it likes.
  void watch(Stream stream) {
    const Exchange* watched = nullptr;
    auto since = Clock::now();
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
      call_watch();
      int error = NcclLibrary::kSuccess;
      nccl().get_async_error(alive(), &error);
      if (error != NcclLibrary::kInProgress) {
        check(error, "ncclCommGetAsyncError", oldest_peer());
      }
      while (!under_way_.empty() && has_happened(under_way_.front().done)) under_way_.pop_front();
      const Exchange* const oldest = under_way_.empty() ? nullptr : &under_way_.front();
      const bool waits = oldest != nullptr && (!oldest->ready || has_happened(oldest->ready));
      if (oldest != watched || !waits) {
        watched = oldest;
        since = Clock::now();
      }
      if (waits && Clock::now() - since > timeout_) {
        give_up(oldest_peer(), "exchange " + std::to_string(oldest->number));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  int oldest_peer() const {
    return under_way_.empty() || under_way_.front().peers.empty() ? -1
                                                                  : under_way_.front().peers.back();
  }

  NcclComm comm_;
  const bool is_owned_;
  const std::chrono::milliseconds timeout_;
  const std::function<void()> watch_;
  int rank_ = 0, num_ranks_ = 0;
  Stream transfers_ = nullptr;
  std::deque<Exchange> under_way_;
  std::optional<StopFlag> stop_flag_;  // nothing: no kernel reads one
};

}  // namespace

NcclId make_nccl_id() {
  NcclId id;
  const int result = nccl().get_unique_id(&id);
  if (result != NcclLibrary::kSuccess) {
    throw CudaError("ncclGetUniqueId", nccl().error_string(result));
  }
  return id;
}

std::unique_ptr<Communicator> join_nccl(const NcclId& id, int num_ranks, int rank,
                                        std::chrono::milliseconds timeout,
                                        std::function<void()> watch) {
  NcclComm comm = nullptr;
  NcclConfig config;
  const int result = nccl().init_rank(&comm, num_ranks, id, rank, &config);
  if (result != NcclLibrary::kSuccess && result != NcclLibrary::kInProgress) {
    throw CudaError("ncclCommInitRankConfig", nccl().error_string(result));
  }
  auto communicator = std::make_unique<NcclCommunicator>(comm, true, timeout, std::move(watch));
  communicator->connect();
  return communicator;
}

std::unique_ptr<Communicator> use_nccl(NcclComm comm, std::chrono::milliseconds timeout) {
  auto communicator =
      std::make_unique<NcclCommunicator>(comm, false, timeout, std::function<void()>());
  communicator->connect();
  return communicator;
}

}  // namespace flashlab::cuda
