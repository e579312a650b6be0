#include "attention_cuda/ranks/processes/rendezvous.hpp"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {
namespace {

/// Ranks other than 0 wait longer, so that rank 0 can tell them who is missing.
constexpr std::chrono::seconds kGrace{3};

std::string listening_place(const RankProcess& process) {
  return process.address + ":" + process.port;
}

/// Rank 0's side.
class Host {
 public:
  Host(const RankProcess& process, const Hello& own, std::chrono::milliseconds timeout)
      : process_(process), timeout_(timeout), end_(SocketClock::now() + timeout) {
    hellos_.resize(static_cast<std::size_t>(process.num_ranks));
    hellos_.front() = own;
    connections_.resize(hellos_.size());
  }

  Meeting meet() {
    try {
      listener_ = listen_at(process_.address, process_.port);
    } catch (const std::runtime_error& error) {
      throw RankFailure(0, "it cannot listen at " + listening_place(process_) + ": " +
                               error.what() + "; FLASHLAB_PORT sets another port");
    }
    while (const std::optional<int> missing = first_missing()) {
      if (SocketClock::now() >= end_) {
        if (failures_.empty()) fail(*missing, missing_text());
        break;
      }
      wait();
      admit_strangers();
      watch_ranks();
    }
    // Once all others have come, so that all are told.
    if (!failures_.empty()) fail(failures_.begin()->first, failures_.begin()->second);
    const bool is_one_computer = std::ranges::all_of(hellos_, [&](const auto& hello) {
      return std::strncmp(hello->computer, hellos_.front()->computer, sizeof hello->computer) == 0;
    });
    tell_all({Frame::Kind::kWelcome, 0, Frame::kAll, 0, 0, std::string(1, is_one_computer)});
    return {std::move(connections_), is_one_computer};
  }

 private:
  /// More than these are not heard at the same time.
  static constexpr std::size_t kMostStrangers = 64;

  std::optional<int> first_missing() const {
    for (int rank = 0; rank < process_.num_ranks; ++rank) {
      if (!hellos_[static_cast<std::size_t>(rank)] && !failures_.contains(rank)) return rank;
    }
    return std::nullopt;
  }
  std::string missing_text() const {
    std::string text =
        "it did not come to " + listening_place(process_) + " within " + time_text(timeout_);
    if (num_refused_ > 0) {
      text += " (" + std::to_string(num_refused_) + " who came did not speak as a rank does)";
    }
    return text;
  }

  void wait() {
    std::vector<pollfd> all = {{*listener_, POLLIN, 0}};
    for (const Connection& each : strangers_) all.push_back({each.descriptor(), POLLIN, 0});
    for (const Connection& each : connections_) {
      if (each.is_open()) all.push_back({each.descriptor(), POLLIN, 0});
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end_ - SocketClock::now()).count();
    poll(all.data(), all.size(), static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
  }

  void admit_strangers() {
    for (Socket come = accept_at(listener_); come; come = accept_at(listener_)) {
      if (strangers_.size() == kMostStrangers) {  // the one that has been silent for longest
        strangers_.pop_front();
        ++num_refused_;
      }
      strangers_.emplace_back(std::move(come));
    }
    for (auto stranger = strangers_.begin(); stranger != strangers_.end();) {
      const bool is_open = stranger->advance();
      std::optional<Frame> said;
      bool is_refused = !is_open;
      try {
        said = decode(stranger->input());
      } catch (const std::runtime_error&) {
        is_refused = true;
      }
      if (!said && !is_refused && stranger->input().size() <= sizeof(Hello) * 2) {
        ++stranger;
        continue;
      }
      const bool has_failed = said && said->kind == Frame::Kind::kFailed && said->topic > 0 &&
                              said->topic < process_.num_ranks;
      const std::optional<Hello> hello = said ? hello_in(said->data) : std::nullopt;
      if (hello && said->kind == Frame::Kind::kHello) {
        admit(*hello, std::move(*stranger));
      } else if (has_failed) {
        failures_.emplace(said->topic, said->data);
      } else {
        ++num_refused_;
      }
      stranger = strangers_.erase(stranger);
    }
  }

  void admit(const Hello& hello, Connection connection) {
    const int rank = hello.rank;
    // In any case it is told why it is refused.
    Connection& place = connections_.emplace_back(std::move(connection));
    if (hello.protocol != Hello::kProtocol) fail(rank, "it has another version of flashlab");
    if (hello.num_ranks != process_.num_ranks) {
      fail(rank, "it is one of " + std::to_string(hello.num_ranks) + " ranks: expected " +
                     std::to_string(process_.num_ranks) + ", as on rank 0");
    }
    if (rank < 0 || rank >= process_.num_ranks) {
      fail(rank, "its number is not below " + std::to_string(process_.num_ranks));
    }
    const auto k = static_cast<std::size_t>(rank);
    if (hellos_[k]) fail(rank, "two processes have this number");
    for (std::size_t other = 0; other < hellos_.size(); ++other) {
      if (!hellos_[other] || !has_same_gpu(*hellos_[other], hello)) continue;
      fail(rank,
           "its GPU is that of rank " + std::to_string(other) + ": expected a GPU for each rank");
    }
    hellos_[k] = hello;
    connections_[k] = std::move(place);
    connections_.pop_back();
  }

  static bool has_same_gpu(const Hello& a, const Hello& b) {
    return std::strncmp(a.computer, b.computer, sizeof a.computer) == 0 &&
           std::memcmp(a.gpu, b.gpu, sizeof a.gpu) == 0;
  }

  void watch_ranks() {
    for (std::size_t rank = 1; rank < connections_.size(); ++rank) {
      if (!connections_[rank].is_open() || connections_[rank].advance()) continue;
      connections_[rank].close();
      fail(static_cast<int>(rank), "it ended before all ranks had come");
    }
  }

  void tell_all(const Frame& frame) {
    for (Connection& each : connections_) {
      if (each.is_open()) each.write(encoded(frame));
    }
  }

  [[noreturn]] void fail(int rank, const std::string& reason) {
    const Frame farewell = {Frame::Kind::kFailed, 0, Frame::kAll, rank, 0, reason};
    tell_all(farewell);
    const auto end = SocketClock::now() + kGrace;
    while (SocketClock::now() < end) {
      // Who comes late is told as well.
      for (Socket come = accept_at(listener_); come; come = accept_at(listener_)) {
        strangers_.clear();
        connections_.emplace_back(std::move(come)).write(encoded(farewell));
      }
      std::ptrdiff_t num_told = 0;
      for (Connection& each : connections_)
        num_told += each.is_open() && each.advance() && !each.has_output();
      if (num_told + 1 + std::ssize(failures_) >= process_.num_ranks) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw RankFailure(rank, reason);
  }

  const RankProcess& process_;
  const std::chrono::milliseconds timeout_;
  const SocketClock::time_point end_;
  Socket listener_;
  std::deque<Connection> strangers_;
  int num_refused_ = 0;
  std::vector<std::optional<Hello>> hellos_;  // by rank
  std::map<int, std::string> failures_;       // of ranks that cannot take part
  std::vector<Connection> connections_;
};

Meeting come(const RankProcess& process, const Hello& own, std::chrono::milliseconds timeout) {
  const auto end = SocketClock::now() + timeout;
  const std::string place = listening_place(process);
  std::optional<Connection> host;
  try {
    host.emplace(connect_to(process.address, process.port, end));
  } catch (const std::runtime_error& error) {
    throw RankFailure(0, "it cannot be reached at " + place + " within " + time_text(timeout) +
                             ": " + error.what());
  }
  host->write(encoded({Frame::Kind::kHello, own.rank, 0, 0, 0, data_of(own)}));
  while (SocketClock::now() < end + kGrace) {
    const bool is_open = host->advance();
    std::optional<Frame> frame;
    try {
      frame = decode(host->input());
    } catch (const std::runtime_error& error) {
      throw RankFailure(0, "who listens at " + place + " is not rank 0: " + error.what());
    }
    if (frame && frame->kind == Frame::Kind::kFailed) throw RankFailure(frame->topic, frame->data);
    if (frame && frame->kind == Frame::Kind::kWelcome) {
      Meeting meeting;
      meeting.is_one_computer = frame->data == std::string(1, '\1');
      meeting.connections.push_back(std::move(*host));
      return meeting;
    }
    if (!is_open) {
      throw RankFailure(0, "who listens at " + place + " ended before all ranks had come");
    }
    wait_for(*host, end + kGrace);
  }
  throw RankFailure(0, "who listens at " + place + " did not answer within " + time_text(timeout));
}

}  // namespace

Meeting meet(const RankProcess& process, const Hello& own, std::chrono::milliseconds timeout) {
  return process.rank == 0 ? Host(process, own, timeout).meet() : come(process, own, timeout);
}

void tell_failure(const RankProcess& process, const std::string& reason,
                  std::chrono::milliseconds timeout) noexcept {
  if (process.rank == 0) return;
  static constexpr std::chrono::milliseconds kPatience{10000};  // rank 0 may not listen yet
  try {
    const auto end = SocketClock::now() + std::min(timeout, kPatience);
    Connection host(connect_to(process.address, process.port, end));
    host.write(encoded({Frame::Kind::kFailed, process.rank, Frame::kAll, process.rank, 0, reason}));
    while (host.advance() && host.has_output() && SocketClock::now() < end) wait_for(host, end);
  } catch (const std::exception&) {  // the others wait until the timeout
  }
}

std::string time_text(std::chrono::milliseconds time) {
  const auto ms = time.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace flashlab::cuda
