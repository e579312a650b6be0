#include "attention_cuda/ranks/processes/sockets.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

namespace flashlab::cuda {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses addresses_of(const char* address, const std::string& port) {
  addrinfo wish = {};
  wish.ai_family = AF_UNSPEC;
  wish.ai_socktype = SOCK_STREAM;
  if (address == nullptr) wish.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address, port.c_str(), &wish, &found);
  if (error != 0) throw std::runtime_error(gai_strerror(error));
  return {found, &freeaddrinfo};
}

Socket socket_for(const addrinfo& address) {
  return Socket(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void set_option(const Socket& socket, int level, int option) {
  const int on = 1;
  setsockopt(*socket, level, option, &on, sizeof on);
}

int milliseconds_until(SocketClock::time_point end) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - SocketClock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

/// Returns errno's value; 0: connected.
int try_to_connect(const Socket& socket, const addrinfo& address, SocketClock::time_point end) {
  if (!socket) return errno;
  if (connect(*socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waits = {*socket, POLLOUT, 0};
  if (poll(&waits, 1, milliseconds_until(end)) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(*socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// A connection to a free port of this computer may get that port for its own end.
bool is_to_itself(const Socket& socket) {
  sockaddr_storage own = {}, other = {};
  socklen_t own_size = sizeof own, other_size = sizeof other;
  getsockname(*socket, reinterpret_cast<sockaddr*>(&own), &own_size);
  getpeername(*socket, reinterpret_cast<sockaddr*>(&other), &other_size);
  return own_size == other_size && std::memcmp(&own, &other, own_size) == 0;
}

/// Listens at the first address that is possible; not open: none is, for the reason in errno.
Socket listen_at_one_of(const addrinfo* address) {
  int error = EADDRNOTAVAIL;
  for (; address != nullptr; address = address->ai_next) {
    Socket socket = socket_for(*address);
    if (!socket) continue;
    set_option(socket, SOL_SOCKET, SO_REUSEADDR);
    if (bind(*socket, address->ai_addr, address->ai_addrlen) == 0 &&
        listen(*socket, SOMAXCONN) == 0) {
      return socket;
    }
    error = errno;
  }
  errno = error;
  return Socket();
}

}  // namespace

bool Connection::send_some() {
  while (!output_.empty()) {
    const ssize_t sent = send(descriptor(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    output_.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

bool Connection::advance() {
  if (!is_open()) return false;
  const bool can_send = send_some();
  std::array<char, 1 << 16> arrived;
  while (true) {
    const ssize_t count = recv(descriptor(), arrived.data(), arrived.size(), 0);
    if (count == 0) return false;
    if (count < 0) return can_send && (errno == EAGAIN || errno == EINTR);
    input_.append(arrived.data(), static_cast<std::size_t>(count));
    if (count < static_cast<ssize_t>(arrived.size())) return can_send;
  }
}

void wait_for(Connection& connection, SocketClock::time_point end) {
  pollfd waits = {connection.descriptor(),
                  static_cast<short>(POLLIN | (connection.has_output() ? POLLOUT : 0)), 0};
  poll(&waits, 1, milliseconds_until(end));
}

Socket listen_at(const std::string& address, const std::string& port) {
  Socket socket = listen_at_one_of(addresses_of(address.c_str(), port).get());
  // Behind a gateway, the address by which others reach this computer is none of its own.
  if (!socket && errno == EADDRNOTAVAIL) {
    socket = listen_at_one_of(addresses_of(nullptr, port).get());
  }
  if (!socket) throw std::runtime_error(std::strerror(errno));
  return socket;
}

Socket connect_to(const std::string& address, const std::string& port,
                  SocketClock::time_point end) {
  constexpr std::chrono::milliseconds kPause{50};
  const Addresses addresses = addresses_of(address.c_str(), port);
  int error = ETIMEDOUT;
  while (SocketClock::now() < end) {
    for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
      Socket socket = socket_for(*each);
      error = try_to_connect(socket, *each, end);
      if (error != 0) continue;
      if (is_to_itself(socket)) {
        error = ECONNREFUSED;
        continue;
      }
      set_option(socket, IPPROTO_TCP, TCP_NODELAY);
      set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
      return socket;
    }
    std::this_thread::sleep_for(kPause);
  }
  throw std::runtime_error(std::strerror(error));
}

Socket accept_at(const Socket& listener) {
  Socket socket(accept4(*listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
  }
  return socket;
}

}  // namespace flashlab::cuda
