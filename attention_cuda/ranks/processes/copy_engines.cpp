// A sender tells the receiver where its memory lies and which event says that it is ready. The receiver
// enqueues its copy, and tells which event says that it is done. The sender tells when it has enqueued
// its wait for that event, which then may be recorded again.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/cuda_event.hpp"
#include "attention_cuda/ranks/processes/peer_memory.hpp"
#include "attention_cuda/ranks/processes/process_communicator.hpp"

namespace flashlab::cuda {
namespace {

enum Topic { kReady, kCopied, kWaited };

/// kReady.
struct SentMessage {
  MemoryPlace place;
  std::size_t bytes;
  int event;
};

template <class Value>
std::string bytes_in(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class Value>
Value value_in(const std::string& bytes) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value;
  if (bytes.size() != sizeof value) throw std::runtime_error("another rank sent a wrong message");
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// This rank's events, which others know by their numbers, and those of the others.
class EventPool {
 public:
  explicit EventPool(RankNetwork& network)
      : network_(network), waiting_(static_cast<std::size_t>(kEventsOfRank * network.num_ranks())) {
    std::string handles;
    for (std::size_t k = 0; k < waiting_.size(); ++k)
      handles += bytes_in(own_.emplace_back().handle());
    for (const std::string& of_rank : network.gather(handles)) {
      std::vector<SharedHandleEvent>& events = of_others_.emplace_back();
      if (std::ssize(of_others_) - 1 == network.rank()) continue;
      for (std::size_t first = 0; first < of_rank.size(); first += sizeof(cudaIpcEventHandle_t)) {
        events.emplace_back(
            value_in<cudaIpcEventHandle_t>(of_rank.substr(first, sizeof(cudaIpcEventHandle_t))));
      }
    }
  }

  /// Records an event that these ranks will wait for. Returns its number.
  int record(Stream stream, std::vector<int> peers) {
    int event = free_event();
    check_cuda(cudaEventRecord(own_[index(event)].get(), stream), "cudaEventRecord");
    waiting_[index(event)] = std::move(peers);
    return event;
  }
  /// A rank has enqueued its wait.
  void waited(int event, int peer) { std::erase(waiting_[index(event)], peer); }
  void wait_for_own(Stream stream, int event) const { wait(stream, own_[index(event)].get()); }
  void wait_for_other(Stream stream, int rank, int event) const {
    wait(stream, of_others_.at(index(rank)).at(index(event)).get());
  }
  bool has_happened(int event) const {
    return cudaEventQuery(own_[index(event)].get()) == cudaSuccess;
  }

 private:
  /// Each exchange records two, and only a few are under way with each rank.
  static constexpr int kEventsOfRank = 16;

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  static void wait(Stream stream, cudaEvent_t event) {
    check_cuda(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
  }

  /// The events take turns. If others still have to wait for the next one, blocks until they have.
  int free_event() {
    const int event = next_;
    next_ = (next_ + 1) % static_cast<int>(waiting_.size());
    std::vector<int>& peers = waiting_[index(event)];
    while (!peers.empty()) {
      network_.receive(peers.front(), kWaited, event, "wait for a message");
      peers.erase(peers.begin());
    }
    return event;
  }

  RankNetwork& network_;
  std::vector<SharedHandleEvent> own_;
  std::vector<std::vector<SharedHandleEvent>> of_others_;  // by rank
  std::vector<std::vector<int>> waiting_;                  // ranks, by event
  int next_ = 0;
};

class CopyEngines : public Communicator {
 public:
  explicit CopyEngines(RankNetwork& network) : network_(network), events_(network) {
    check_cuda(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  ~CopyEngines() override { cudaStreamDestroy(copies_); }

  int rank() const override { return network_.rank(); }
  int num_ranks() const override { return network_.num_ranks(); }

  void start(int exchange, std::span<const Message> messages, Stream stream) override {
    network_.check();
    Exchange started = {exchange, recorded_event(stream), {}, -1, {}};
    std::vector<int> receivers, senders;
    for (const Message& message : messages) {
      (message.is_sent ? receivers : senders).push_back(message.peer);
    }
    if (!receivers.empty()) {
      started.ready = events_.record(stream, receivers);
      for (const Message& message : messages) {
        if (message.is_sent) send(exchange, message, started.ready);
      }
    }
    wait_on_stream(copies_, started.here);
    for (const Message& message : messages) {
      if (!message.is_sent) pull(exchange, message);
    }
    if (!senders.empty()) {
      started.copied = events_.record(copies_, senders);
      for (const int sender : senders) {
        network_.send(sender, kCopied, exchange, bytes_in(started.copied));
      }
    }
    started.receivers = std::move(receivers);
    started.senders = std::move(senders);
    exchanges_.push_back(std::move(started));
  }

  void wait(int exchange, Stream stream) override {
    const auto found = std::ranges::find(exchanges_, exchange, &Exchange::number);
    if (found == exchanges_.end()) return;
    if (found->copied >= 0) events_.wait_for_own(stream, found->copied);
    for (const int receiver : found->receivers) {
      const int copied =
          value_in<int>(network_.receive(receiver, kCopied, exchange, exchange_text(exchange)));
      events_.wait_for_other(stream, receiver, copied);
      network_.send(receiver, kWaited, copied, "");
      events_.waited(found->ready, receiver);
    }
    if (found->copied >= 0) under_way_.push_back(std::move(*found));
    exchanges_.erase(found);
    forget_ended();
  }

  void finish(Stream stream) override {
    while (!exchanges_.empty()) wait(exchanges_.front().number, stream);
    watch(stream);
    if (may_stop_) network_.check();  // kernels may have left out their work
    under_way_.clear();
  }

  void release_memory(Stream stream) override {
    finish(stream);
    opened_.close();
    network_.gather("");
  }

  std::vector<std::string> gather(const std::string& own) override { return network_.gather(own); }
  const int* stop_flag() override {
    may_stop_ = true;
    return network_.stop_flag();
  }
  void abort(const std::string& reason) noexcept override { network_.abort(rank(), reason); }

 private:
  struct Exchange {
    int number;
    SharedEvent here;  // this rank has come to it
    std::vector<int> receivers;
    int ready = -1;  // the event of what is sent
    std::vector<int> senders;
    int copied = -1;  // the event of what is received
  };

  void send(int exchange, const Message& message, int event) {
    network_.send(
        message.peer, kReady, exchange,
        bytes_in(SentMessage{message.bytes == 0 ? MemoryPlace{} : place_of(message.memory),
                             message.bytes, event}));
  }

  void pull(int exchange, const Message& message) {
    const auto sent = value_in<SentMessage>(
        network_.receive(message.peer, kReady, exchange, exchange_text(exchange)));
    if (sent.bytes != message.bytes) {
      network_.fail(message.peer, "it sent " + std::to_string(sent.bytes) + " bytes in exchange " +
                                      std::to_string(exchange) + ": expected " +
                                      std::to_string(message.bytes));
    }
    events_.wait_for_other(copies_, message.peer, sent.event);
    if (sent.bytes == 0) return;
    check_cuda(cudaMemcpyAsync(message.memory, opened(message.peer, sent.place), sent.bytes,
                               cudaMemcpyDefault, copies_),
               "cudaMemcpyAsync");
  }

  /// Memory of a process that has just ended cannot be opened. Then the network says so in a moment, and its
  /// end is the reason.
  const void* opened(int peer, const MemoryPlace& place) {
    try {
      return opened_.at(peer, place);
    } catch (const CudaError&) {
      constexpr std::chrono::milliseconds kUntilItIsKnown{1000}, kPause{10};
      for (auto waited = kPause; waited <= kUntilItIsKnown; waited += kPause) {
        network_.check();
        std::this_thread::sleep_for(kPause);
      }
      throw;
    }
  }

  void forget_ended() {
    while (!under_way_.empty() && events_.has_happened(under_way_.front().copied)) {
      under_way_.pop_front();
    }
  }

  /// Waits on the host for a stream, which may wait for a rank that has failed. The time of an exchange
  /// counts from when this rank has come to it: computing may take as long as it likes.
  void watch(Stream stream) {
    int watched = -1;
    auto since = SocketClock::now();
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
      network_.check();
      forget_ended();
      const bool waits = !under_way_.empty() && has_happened(under_way_.front().here);
      const int oldest = waits ? under_way_.front().copied : -1;
      if (oldest != watched || !waits) since = SocketClock::now();
      watched = oldest;
      if (waits && SocketClock::now() - since > network_.timeout()) {
        network_.fail(under_way_.front().senders.back(),
                      "it did not " + exchange_text(under_way_.front().number) + " within " +
                          time_text(network_.timeout()));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  RankNetwork& network_;
  bool may_stop_ = false;  // kernels read the flag
  EventPool events_;
  OpenedMemory opened_;
  Stream copies_ = nullptr;
  std::deque<Exchange> exchanges_;  // started and not waited for
  std::deque<Exchange> under_way_;  // waited for on the stream, and not yet known to have ended
};

}  // namespace

std::unique_ptr<Communicator> join_copy_engines(RankNetwork& network) {
  return std::make_unique<CopyEngines>(network);
}

}  // namespace flashlab::cuda
