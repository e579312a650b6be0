// What a rank needs from the others: transfers that run while it computes, and an end if one of them
// fails. A rank is one GPU with a thread or a process of the host.
//
// Order    the messages from one rank to another arrive in the order in which they are started; those
//          of different pairs in any order
// Errors   RankFailure on every rank if one ends early or does not answer in time
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// What a rank did not do that is missing in an exchange, for RankFailure.
inline std::string exchange_text(int exchange) {
  return "take part in exchange " + std::to_string(exchange);
}

/// A rank ended or did not answer. what(): "rank 2: it did not take part in exchange 3 within 30 s".
class RankFailure : public std::runtime_error {
 public:
  RankFailure(int failed_rank, const std::string& reason)
      : std::runtime_error("rank " + std::to_string(failed_rank) + ": " + reason),
        rank(failed_rank) {}
  const int rank;
};

/// One side of a transfer.
struct Message {
  int peer = 0;
  bool is_sent = false;
  void* memory = nullptr;  // of the device
  std::size_t bytes = 0;   // the same on both sides
};

class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;
  virtual int num_ranks() const = 0;

  /// Starts the messages of an exchange. They run after the work that is on the stream now, beside all
  /// later work. Until wait(), received memory must not be used, and sent memory must not be written.
  /// Each message has its other side in the exchange of the same number. May block the host until the
  /// other side is started.
  virtual void start(int exchange, std::span<const Message> messages, Stream stream) = 0;
  /// Later work on the stream waits for an exchange.
  virtual void wait(int exchange, Stream stream) = 0;
  /// Blocks until the stream's work and all exchanges have ended.
  virtual void finish(Stream stream) = 0;
  /// Collective: finish(), after which memory that was sent may be freed.
  virtual void release_memory(Stream stream) { finish(stream); }
  /// Returns the texts of all ranks, in their order. Blocks.
  virtual std::vector<std::string> gather(const std::string& own) = 0;
  /// For ExecutionOptions::stop_flag: raised once a rank has failed, so that kernels which are enqueued end
  /// soon. Then finish() throws RankFailure, and results are not valid. Throws CudaError.
  virtual const int* stop_flag() = 0;
  /// Ends all calls of all ranks that wait for this one: they throw RankFailure with this reason.
  virtual void abort(const std::string& reason) noexcept = 0;
};

}  // namespace flashlab::cuda
