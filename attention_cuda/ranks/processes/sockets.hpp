// TCP connections that never block.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "system/descriptor.hpp"

namespace flashlab::cuda {

using SocketClock = std::chrono::steady_clock;

using Socket = system::Descriptor;

/// A connection, and the bytes that are on their way.
class Connection {
 public:
  Connection() = default;
  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return *socket_; }
  bool is_open() const { return static_cast<bool>(socket_); }
  void close() { socket_ = Socket(); }
  bool has_output() const { return !output_.empty(); }
  void write(const std::string& bytes) { output_ += bytes; }
  /// The bytes that have arrived. Its user takes them off.
  std::string& input() { return input_; }

  /// Sends and receives what is possible now. Returns whether the connection is still open: without an
  /// error, and not closed by the other side.
  bool advance();

 private:
  bool send_some();

  Socket socket_;
  std::string input_, output_;
};

/// Waits until something can be received, or sent if there is output, at most until `end`.
void wait_for(Connection& connection, SocketClock::time_point end);

/// Listens at an address of this computer. Throws std::runtime_error: "Address already in use".
Socket listen_at(const std::string& address, const std::string& port);

/// Connects, again and again until `end`. Throws std::runtime_error: "Connection refused".
Socket connect_to(const std::string& address, const std::string& port, SocketClock::time_point end);

/// Returns a connection that waits at a listening socket, or none.
Socket accept_at(const Socket& listener);

}  // namespace flashlab::cuda
