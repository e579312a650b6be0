#include "system/messages.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace flashlab::system {
namespace {

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;  // this system sets SO_NOSIGPIPE on the socket
#endif

bool send_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = send(descriptor, bytes, count, kNoSignal);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int descriptor, char* bytes, std::size_t count,
                 const std::function<bool()>& wait) {
  while (count > 0) {
    if (wait && !wait()) return false;
    const ssize_t got = read(descriptor, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::pair<Descriptor, Descriptor> connected_sockets(std::chrono::seconds patience) {
  int ends[2] = {-1, -1};
#ifdef SOCK_CLOEXEC
  const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
#else
  const int made = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
#endif
  if (made != 0) throw std::system_error(errno, std::generic_category());
#ifndef SOCK_CLOEXEC
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
#endif
  const timeval longest{patience.count(), 0};
  for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
#ifdef SO_NOSIGPIPE
  const int on = 1;
  for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool send_message(int descriptor, std::string_view message) {
  std::array<char, sizeof(std::uint64_t)> header{};
  const std::uint64_t length = message.size();
  if (length > kMostMessageBytes) return false;
  std::memcpy(header.data(), &length, sizeof length);
  return send_all(descriptor, header.data(), header.size()) &&
         send_all(descriptor, message.data(), message.size());
}

std::optional<std::string> receive_message(int descriptor, const std::function<bool()>& wait) {
  std::array<char, sizeof(std::uint64_t)> header{};
  if (!receive_all(descriptor, header.data(), header.size(), wait)) return std::nullopt;
  std::uint64_t length = 0;
  std::memcpy(&length, header.data(), sizeof length);
  if (length > kMostMessageBytes) return std::nullopt;
  std::string message(length, '\0');
  if (!receive_all(descriptor, message.data(), message.size(), wait)) return std::nullopt;
  return message;
}

}  // namespace flashlab::system
