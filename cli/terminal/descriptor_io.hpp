// Reads and writes descriptors that other programs share with us. One of them may have made such a
// descriptor non-blocking (Node does, and leaves a terminal so when it is killed), and then
// "nothing now" is neither the end nor an error.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace flashlab::cli {

/// Reads as read() does, and waits whether or not the descriptor would. A signal that was handled
/// ends the waiting: -1, and errno is EINTR.
inline ssize_t read_some(int descriptor, char* to, std::size_t most) {
  for (;;) {
    const ssize_t n = read(descriptor, to, most);
    if (n >= 0 || errno != EAGAIN) return n;
    pollfd waiting{descriptor, POLLIN, 0};
    if (poll(&waiting, 1, -1) < 0) return -1;
  }
}

/// Writes all of the text, however slowly it is taken. Returns false after an error. May be called
/// by a signal handler.
inline bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(descriptor, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd waiting{descriptor, POLLOUT, 0};
      poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace flashlab::cli
