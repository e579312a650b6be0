#include "attention_cuda/emulation/delayed_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attention_cuda/emulation/run_queue.hpp"
#include "attention_cuda/ranks/rank_board.hpp"

namespace flashlab::cuda::emulation {
namespace {

struct Sent {
  int exchange;
  const std::byte* memory;
  std::size_t bytes;
  std::vector<std::byte> left;  // what has left the sender
  bool has_left = false;
};
using SharedSent = std::shared_ptr<Sent>;

void leave(Sent& sent) {
  if (sent.has_left) return;
  sent.left.assign(sent.memory, sent.memory + sent.bytes);
  sent.has_left = true;
}

}  // namespace

struct DelayedGroup::Shared {
  Shared(int num_ranks, std::chrono::milliseconds timeout) : board(num_ranks, timeout) {}
  RankBoard board;
  std::map<std::pair<int, int>, std::deque<SharedSent>> sent;  // by sender and receiver
};

namespace {

class DelayedCommunicator : public Communicator {
 public:
  DelayedCommunicator(std::shared_ptr<DelayedGroup::Shared> shared, int rank, std::uint64_t seed)
      : shared_(std::move(shared)), rank_(rank), random_(seed + static_cast<std::uint64_t>(rank)) {}
  ~DelayedCommunicator() override { shared_->board.leave(rank_); }

  int rank() const override { return rank_; }
  int num_ranks() const override { return shared_->board.num_ranks(); }

  void start(int exchange, std::span<const Message> messages, Stream) override {
    Exchange& started = exchanges_[exchange];
    for (const Message& message : messages) {
      if (!message.is_sent) {
        std::memset(message.memory, 0xFF, message.bytes);
        posted_[message.peer].emplace_back(exchange, message);
        continue;
      }
      const auto sent = std::make_shared<Sent>(
          Sent{exchange, static_cast<const std::byte*>(message.memory), message.bytes, {}});
      if (random_.below(2) == 0) leave(*sent);
      started.sent.push_back(sent);
      shared_->board.change([&] { shared_->sent[{rank_, message.peer}].push_back(sent); });
    }
  }

  void wait(int exchange, Stream) override {
    const auto found = exchanges_.find(exchange);
    if (found == exchanges_.end()) return;
    shared_->board.change([&] {
      for (const SharedSent& sent : found->second.sent) leave(*sent);
    });
    // Peers in any order, the messages of each in order.
    std::vector<std::uint16_t> peers;
    for (const auto& [peer, posted] : posted_) {
      if (is_posted(peer, exchange)) peers.push_back(static_cast<std::uint16_t>(peer));
    }
    random_.shuffle(peers);
    for (const int peer : peers) {
      while (is_posted(peer, exchange)) {
        receive(posted_[peer].front().first, posted_[peer].front().second);
        posted_[peer].pop_front();
      }
    }
    exchanges_.erase(found);
  }

  void finish(Stream stream) override {
    while (!exchanges_.empty()) wait(exchanges_.begin()->first, stream);
    for (int peer = 0; peer < num_ranks(); ++peer) {
      shared_->board.wait(rank_, peer, "receive what was sent to it", [&] {
        return shared_->sent[{rank_, peer}].empty();
      });
    }
    if (may_stop_) shared_->board.check();
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
    std::vector<SharedSent> sent;
  };

  bool is_posted(int peer, int exchange) const {
    return std::ranges::any_of(posted_.at(peer),
                               [&](const auto& each) { return each.first == exchange; });
  }

  void receive(int exchange, const Message& message) {
    constexpr std::uint32_t kMostMicroseconds = 300;
    std::this_thread::sleep_for(std::chrono::microseconds(random_.below(kMostMicroseconds)));
    shared_->board.wait(rank_, message.peer, exchange_text(exchange), [&] {
      std::deque<SharedSent>& waiting = shared_->sent[{message.peer, rank_}];
      if (waiting.empty() || !waiting.front()->has_left) return false;
      const Sent& sent = *waiting.front();
      if (sent.exchange != exchange || sent.bytes != message.bytes) {
        throw RankFailure(message.peer, "its message is not the one that is received");
      }
      std::memcpy(message.memory, sent.left.data(), message.bytes);
      waiting.pop_front();
      return true;
    });
  }

  const std::shared_ptr<DelayedGroup::Shared> shared_;
  const int rank_;
  bool may_stop_ = false;
  Random random_;
  std::map<int, Exchange> exchanges_;                          // started and not waited for
  std::map<int, std::deque<std::pair<int, Message>>> posted_;  // by peer, with their exchanges
};

}  // namespace

DelayedGroup::DelayedGroup(int num_ranks, std::uint64_t seed, std::chrono::milliseconds timeout)
    : shared_(std::make_shared<Shared>(num_ranks, timeout)), seed_(seed) {}

DelayedGroup::~DelayedGroup() = default;

std::unique_ptr<Communicator> DelayedGroup::join(int rank) {
  return std::make_unique<DelayedCommunicator>(shared_, rank, seed_);
}

}  // namespace flashlab::cuda::emulation
