// The connection of a rank's process to all others, for what the hosts say to each other: a star of
// TCP connections around rank 0, which passes frames on. A thread sends and receives them.
//
// Errors   RankFailure on every rank if a process ends, a rank fails, or one does not answer in time
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "attention_cuda/ranks/processes/rendezvous.hpp"
#include "attention_cuda/ranks/rank_board.hpp"

namespace flashlab::cuda {

class RankNetwork {
 public:
  /// What to do when a rank has failed. Called once, in any thread; must not call the network.
  using OnFailure = std::function<void(int rank, const std::string& reason)>;

  /// Collective: blocks until all ranks have come. Throws RankFailure.
  RankNetwork(const RankProcess& process, const Hello& own, std::chrono::milliseconds timeout,
              const OnFailure& on_failure = {});
  /// Rank 0 waits until the others end, because they speak through it.
  ~RankNetwork();
  RankNetwork(const RankNetwork&) = delete;
  RankNetwork& operator=(const RankNetwork&) = delete;

  int rank() const { return rank_; }
  int num_ranks() const { return board_.num_ranks(); }
  std::chrono::milliseconds timeout() const { return timeout_; }
  bool is_one_computer() const { return is_one_computer_; }

  /// Returns the texts of all ranks, in their order. Collective.
  std::vector<std::string> gather(const std::string& own);
  /// Sends data to a rank. Those with the same topic and number arrive in order.
  void send(int peer, int topic, int number, const std::string& data);
  /// Blocks until data has come. `what`: "take part in exchange 3".
  std::string receive(int peer, int topic, int number, const std::string& what);
  /// The same, without waiting.
  std::optional<std::string> received(int peer, int topic, int number);

  /// Throws RankFailure if a rank has failed.
  void check() { board_.check(); }
  /// As RankBoard::stop_flag.
  const int* stop_flag() { return board_.stop_flag(); }
  /// A rank has failed: all ranks throw RankFailure with this reason, unless another one failed before.
  void abort(int rank, const std::string& reason) noexcept;
  /// The same, and throws it.
  [[noreturn]] void fail(int rank, const std::string& reason);

 private:
  using Key = std::tuple<int, int, int>;  // sender, topic, number

  bool is_host() const { return rank_ == 0; }
  void post(Frame frame);
  void run();
  bool is_done();
  void route(const Frame& frame);
  void deliver(const Frame& frame);
  void take_input(std::size_t k);
  void lose(std::size_t k, const std::string& why);
  int to_blame(int suspected) const;
  void stay_in_touch();
  int rank_of(std::size_t k) const { return is_host() ? static_cast<int>(k) : 0; }

  const int rank_;
  const std::chrono::milliseconds timeout_;
  RankBoard board_;
  std::vector<std::atomic<SocketClock::time_point>> heard_;  // when each rank was last
  bool is_one_computer_ = false;
  std::map<Key, std::deque<std::string>> arrived_;  // under the board's lock
  std::map<std::pair<int, int>, std::string> texts_;
  int num_gathered_ = 0;

  std::mutex outgoing_mutex_;
  std::vector<Frame> outgoing_;
  bool is_ending_ = false;
  SocketClock::time_point end_;
  Socket wakes_, waker_;  // a pipe

  // Of the thread.
  std::vector<Connection> connections_;
  std::vector<bool> has_said_bye_;
  SocketClock::time_point alive_sent_;
  std::thread thread_;
};

}  // namespace flashlab::cuda
