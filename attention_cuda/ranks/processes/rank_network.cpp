#include "attention_cuda/ranks/processes/rank_network.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace flashlab::cuda {
namespace {

/// How long a rank tries to tell the others that it ends because of a failure.
constexpr std::chrono::seconds kFarewell{5};

/// How often a rank says that it is there, and after how long a silence rank 0 has failed: before those
/// who wait for another rank through it would give up.
std::chrono::milliseconds alive_interval(std::chrono::milliseconds timeout) {
  return std::min<std::chrono::milliseconds>(timeout / 8, std::chrono::seconds(1));
}
std::chrono::milliseconds longest_silence(std::chrono::milliseconds timeout) {
  return 3 * timeout / 4;
}

}  // namespace

RankNetwork::RankNetwork(const RankProcess& process, const Hello& own,
                         std::chrono::milliseconds timeout, const OnFailure& on_failure)
    : rank_(process.rank),
      timeout_(timeout),
      board_(process.num_ranks, timeout,
             {[this](int peer) {
                post({Frame::Kind::kWaits, rank_, Frame::kAll, peer, 0, ""});
              },
              [this, on_failure](int failed, const std::string& reason) {
                if (on_failure) on_failure(failed, reason);
                post({Frame::Kind::kFailed, rank_, Frame::kAll, failed, 0, reason});
              },
              [this](int suspected) { return to_blame(suspected); }}),
      heard_(static_cast<std::size_t>(process.num_ranks)) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) {
    throw RankFailure(rank_, "it has no file descriptor left for a pipe");
  }
  wakes_ = Socket(ends[0]);
  waker_ = Socket(ends[1]);
  Meeting meeting = meet(process, own, timeout);
  is_one_computer_ = meeting.is_one_computer;
  connections_ = std::move(meeting.connections);
  has_said_bye_.resize(connections_.size());
  alive_sent_ = SocketClock::now();
  for (auto& time : heard_) time = alive_sent_;
  thread_ = std::thread([this] { run(); });
}

RankNetwork::~RankNetwork() {
  bool has_failed = false;
  try {
    board_.check();
  } catch (const RankFailure&) {
    has_failed = true;
  }
  post({Frame::Kind::kBye, rank_, Frame::kAll, 0, 0, ""});
  {
    const std::lock_guard lock(outgoing_mutex_);
    is_ending_ = true;
    end_ = SocketClock::now() + (is_host() && !has_failed ? timeout_ : kFarewell);
  }
  thread_.join();
}

void RankNetwork::post(Frame frame) {
  {
    const std::lock_guard lock(outgoing_mutex_);
    outgoing_.push_back(std::move(frame));
  }
  const char byte = 0;
  // A full pipe wakes as well.
  [[maybe_unused]] const ssize_t written = write(*waker_, &byte, 1);
}

std::vector<std::string> RankNetwork::gather(const std::string& own) {
  const int number = num_gathered_++;
  post({Frame::Kind::kText, rank_, Frame::kAll, 0, number, own});
  std::vector<std::string> result;
  for (int peer = 0; peer < num_ranks(); ++peer) {
    if (peer == rank_) {
      result.push_back(own);
      continue;
    }
    board_.wait(rank_, peer, "say what it computes", [&] {
      const auto found = texts_.find({peer, number});
      if (found == texts_.end()) return false;
      result.push_back(std::move(found->second));
      texts_.erase(found);
      return true;
    });
  }
  return result;
}

void RankNetwork::send(int peer, int topic, int number, const std::string& data) {
  post({Frame::Kind::kMessage, rank_, peer, topic, number, data});
}

std::string RankNetwork::receive(int peer, int topic, int number, const std::string& what) {
  std::string result;
  board_.wait(rank_, peer, what, [&] {
    const auto found = arrived_.find({peer, topic, number});
    if (found == arrived_.end()) return false;
    result = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) arrived_.erase(found);
    return true;
  });
  return result;
}

std::optional<std::string> RankNetwork::received(int peer, int topic, int number) {
  std::optional<std::string> result;
  board_.change([&] {
    const auto found = arrived_.find({peer, topic, number});
    if (found == arrived_.end()) return;
    result = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) arrived_.erase(found);
  });
  return result;
}

void RankNetwork::abort(int rank, const std::string& reason) noexcept {
  board_.abort(rank, reason);
}

void RankNetwork::fail(int rank, const std::string& reason) {
  abort(rank, reason);
  board_.check();
  throw RankFailure(rank, reason);
}

void RankNetwork::run() {
  while (!is_done()) {
    std::vector<pollfd> all = {{*wakes_, POLLIN, 0}};
    for (const Connection& each : connections_) {
      const auto events = static_cast<short>(POLLIN | (each.has_output() ? POLLOUT : 0));
      all.push_back({each.descriptor(), events, 0});  // poll ignores -1
    }
    poll(all.data(), all.size(), static_cast<int>(alive_interval(timeout_).count()) + 1);
    std::array<char, 256> woken;
    while (read(*wakes_, woken.data(), woken.size()) > 0) {
    }
    for (std::size_t k = 0; k < connections_.size(); ++k) {
      if (!connections_[k].is_open()) continue;
      const bool is_open = connections_[k].advance();
      take_input(k);
      if (!is_open) lose(k, "its process has ended");
    }
    stay_in_touch();
  }
}

bool RankNetwork::is_done() {
  std::vector<Frame> frames;
  bool is_ending = false;
  {
    const std::lock_guard lock(outgoing_mutex_);
    frames.swap(outgoing_);
    is_ending = is_ending_;
  }
  for (const Frame& frame : frames) route(frame);
  if (!is_ending) return false;
  if (SocketClock::now() >= end_) return true;
  for (std::size_t k = 0; k < connections_.size(); ++k) {
    if (!connections_[k].is_open()) continue;
    if (connections_[k].has_output()) connections_[k].advance();
    if (connections_[k].has_output() || (is_host() && !has_said_bye_[k])) return false;
  }
  return true;
}

/// Sends a frame of this rank, or passes on that of another.
void RankNetwork::route(const Frame& frame) {
  const std::string bytes = encoded(frame);
  for (std::size_t k = 0; k < connections_.size(); ++k) {
    const bool is_for_it = !is_host() || frame.to == Frame::kAll || frame.to == rank_of(k);
    if (!connections_[k].is_open() || !is_for_it || rank_of(k) == frame.from) continue;
    connections_[k].write(bytes);
  }
}

void RankNetwork::take_input(std::size_t k) {
  try {
    while (connections_[k].is_open()) {
      const std::optional<Frame> frame = decode(connections_[k].input());
      if (!frame) return;
      const bool is_of_it = is_host() ? frame->from == rank_of(k) : frame->from != rank_;
      if (!is_of_it || frame->from < 0 || frame->from >= num_ranks()) {
        throw std::runtime_error("it spoke for another rank");
      }
      heard_[static_cast<std::size_t>(frame->from)] = SocketClock::now();
      if (frame->kind == Frame::Kind::kBye && rank_of(k) == frame->from) has_said_bye_[k] = true;
      if (is_host() && frame->to != rank_) route(*frame);
      if (frame->to == Frame::kAll || frame->to == rank_) deliver(*frame);
    }
  } catch (const std::runtime_error& error) {
    lose(k, error.what());
  }
}

void RankNetwork::deliver(const Frame& frame) {
  const bool is_rank = frame.topic >= 0 && frame.topic < num_ranks();
  switch (frame.kind) {
    case Frame::Kind::kText:
      board_.change([&] { texts_[{frame.from, frame.number}] = frame.data; });
      break;
    case Frame::Kind::kMessage:
      board_.change([&] {
        arrived_[{frame.from, frame.topic, frame.number}].push_back(frame.data);
      });
      break;
    case Frame::Kind::kWaits:
      board_.note_waits_for(frame.from, is_rank ? frame.topic : -1);
      break;
    case Frame::Kind::kFailed:
      board_.abort(is_rank ? frame.topic : frame.from, frame.data);
      break;
    case Frame::Kind::kBye:
      board_.leave(frame.from);
      break;
    case Frame::Kind::kHello:
    case Frame::Kind::kWelcome:
    case Frame::Kind::kAlive:
      break;
  }
}

void RankNetwork::lose(std::size_t k, const std::string& why) {
  if (!connections_[k].is_open()) return;
  connections_[k].close();
  if (!has_said_bye_[k]) board_.abort(rank_of(k), why);
}

/// A process that is stopped answers nobody, and its last word of whom it waits for is old. If rank 0 is
/// stopped, no other one can be heard.
int RankNetwork::to_blame(int suspected) const {
  int silent = suspected;
  auto heard = SocketClock::now() - timeout_ / 2;
  for (int rank = 0; rank < static_cast<int>(heard_.size()); ++rank) {
    const auto last = heard_[static_cast<std::size_t>(rank)].load();
    if (rank == rank_ || last > heard) continue;
    if (rank == 0) return 0;
    heard = last;
    silent = rank;
  }
  return silent;
}

void RankNetwork::stay_in_touch() {
  const auto now = SocketClock::now();
  if (!is_host() && now - heard_.front().load() > longest_silence(timeout_)) {
    lose(0, "it was not heard for " + time_text(longest_silence(timeout_)));
  }
  if (now - alive_sent_ < alive_interval(timeout_)) return;
  alive_sent_ = now;
  route({Frame::Kind::kAlive, rank_, Frame::kAll, 0, 0, ""});
}

}  // namespace flashlab::cuda
