// Runs all machines of a program, for any value type and observer.
//
// One machine runs until it ends or waits for another; then the next one that may go on runs. What a
// machine computes does not depend on this order, because a receiver names its sender and each link
// keeps its messages in order. So the order is fixed, and no threads are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "toymachine/execute/interpret.hpp"
#include "toymachine/links/link_errors.hpp"
#include "toymachine/links/network.hpp"

namespace flashlab::toy::detail {

template <class Value, class Observer>
class MachinesRun {
 public:
  using Cell = typename ValueTraits<Value>::Cell;

  /// DRAMs and observers by machine.
  MachinesRun(std::span<const BoundProgram> programs, const std::vector<std::span<Cell>>& drams,
              std::span<Observer> observers)
      : programs_(programs), network_(programs.size()) {
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
      machines_.push_back(std::make_unique<Interpreter<Value, Observer>>(
          programs[rank], drams[rank], observers[rank], &network_.links_of(rank)));
    }
  }

  /// Returns the sum of all machines.
  Result<Execution> run() {
    std::uint64_t steps = 0;
    while (const auto rank = network_.next_ready()) {
      Interpreter<Value, Observer>& machine = *machines_[*rank];
      const std::uint64_t before = machine.steps();
      machine.run_to(UINT64_MAX);
      if (machine.error()) return *machine.error();
      steps += machine.steps() - before;
      const Limits& limits = programs_[*rank].limits;
      if (steps > static_cast<std::uint64_t>(limits.max_steps)) {
        return steps_error(limits, "the machines take more than " +
                                       std::to_string(limits.max_steps) + " steps together");
      }
      if (machine.stopped()) return sum(true);
    }
    if (auto error = deadlock()) return std::move(*error);
    if (const auto left = network_.left_message()) {
      return message_left_error(programs_[static_cast<std::size_t>(left->from)], left->to,
                                left->site);
    }
    return sum(false);
  }

 private:
  std::optional<Diagnostic> deadlock() const {
    std::vector<WaitingMachine> waiting;
    for (std::size_t rank = 0; rank < machines_.size(); ++rank) {
      if (machines_[rank]->finished()) continue;
      const LinkWait& wait = *network_.wait_of(rank);
      waiting.push_back({static_cast<std::int64_t>(rank), wait.other, wait.sends,
                         machines_[static_cast<std::size_t>(wait.other)]->finished(),
                         programs_[rank].instructions[machines_[rank]->next_site()].span});
    }
    if (waiting.empty()) return std::nullopt;
    return deadlock_error(waiting);
  }

  Execution sum(bool stopped) const {
    Execution all = machines_.front()->result();
    for (std::size_t rank = 1; rank < machines_.size(); ++rank) {
      const Execution one = machines_[rank]->result();
      all.steps += one.steps;
      add_executions(all.executions, one.executions);
    }
    all.stopped = stopped;
    return all;
  }

  std::span<const BoundProgram> programs_;
  Network<Cell> network_;
  std::vector<std::unique_ptr<Interpreter<Value, Observer>>> machines_;
};

}  // namespace flashlab::toy::detail
