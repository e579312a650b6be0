// The links between all machines of a run. A link leads from one machine to one other and holds one
// message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "toymachine/execute/exchange.hpp"

namespace flashlab::toy::detail {

/// What a machine waits for: room in its link to another machine, or a message of that machine.
struct LinkWait {
  std::int64_t other = 0;
  bool sends = false;
};

template <class Cell>
class Network {
 public:
  explicit Network(std::size_t machines) : waits_(machines), is_ready_(machines, true) {
    for (std::size_t rank = 0; rank < machines; ++rank) {
      ready_.push_back(rank);
      ports_.push_back({*this, static_cast<std::int64_t>(rank)});
    }
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Links<Cell>& links_of(std::size_t rank) { return ports_[rank]; }

  /// Returns a machine that may go on; nothing if all have ended or wait.
  std::optional<std::size_t> next_ready() {
    if (ready_.empty()) return std::nullopt;
    const std::size_t rank = ready_.front();
    ready_.pop_front();
    is_ready_[rank] = false;
    waits_[rank].reset();
    return rank;
  }
  const std::optional<LinkWait>& wait_of(std::size_t rank) const { return waits_[rank]; }

  /// A message that nobody took out of its link.
  struct Left {
    std::int64_t from = 0, to = 0;
    std::uint32_t site = 0;  // the instruction that sent it
  };
  std::optional<Left> left_message() const {
    for (const auto& [ends, slot] : slots_) {
      if (slot.message) return Left{ends.first, ends.second, slot.site};
    }
    return std::nullopt;
  }

 private:
  struct Slot {
    std::optional<Message<Cell>> message;
    std::uint32_t site = 0;
  };

  class Port : public Links<Cell> {
   public:
    Port(Network& network, std::int64_t rank) : network_(network), rank_(rank) {}
    bool can_send(std::int64_t to, const Step&) override {
      if (!network_.slots_[{rank_, to}].message) return true;
      network_.waits_[static_cast<std::size_t>(rank_)] = LinkWait{to, true};
      return false;
    }
    void send(std::int64_t to, const Step& step, Message<Cell> message) override {
      network_.slots_[{rank_, to}] = {std::move(message), step.instruction->site};
      network_.wake(to, rank_, false);
    }
    const Message<Cell>* waiting_from(std::int64_t from, const Step&) override {
      const Slot& slot = network_.slots_[{from, rank_}];
      if (slot.message) return &*slot.message;
      network_.waits_[static_cast<std::size_t>(rank_)] = LinkWait{from, false};
      return nullptr;
    }
    void received(std::int64_t from, const Step&) override {
      network_.slots_[{from, rank_}].message.reset();
      network_.wake(from, rank_, true);
    }

   private:
    Network& network_;
    std::int64_t rank_;
  };

  /// Makes the machine ready if this is what it waits for.
  void wake(std::int64_t machine, std::int64_t other, bool sends) {
    const auto rank = static_cast<std::size_t>(machine);
    const auto& wait = waits_[rank];
    if (is_ready_[rank] || !wait || wait->other != other || wait->sends != sends) return;
    is_ready_[rank] = true;
    ready_.push_back(rank);
  }

  std::map<std::pair<std::int64_t, std::int64_t>, Slot> slots_;  // by sender and receiver
  std::vector<std::optional<LinkWait>> waits_;                   // by machine
  std::vector<char> is_ready_;                                   // by machine
  std::deque<std::size_t> ready_;
  std::vector<Port> ports_;
};

}  // namespace flashlab::toy::detail
