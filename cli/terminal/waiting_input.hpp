// A stream's input from a descriptor that may be non-blocking.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <streambuf>
#include <string_view>
#include <system_error>

#include "cli/terminal/descriptor_io.hpp"

namespace flashlab::cli {

/// Reads from a descriptor, which it does not close, and waits where that would not.
class WaitingInput : public std::streambuf {
 public:
  static constexpr std::size_t kMostAtOnce = 1 << 16;
  /// Called before a stream waits, and when a signal was handled meanwhile; null: nothing.
  static inline void (*after_signal)() = nullptr;

  /// `first`: what was read already, at most kMostAtOnce bytes.
  explicit WaitingInput(int descriptor, std::string_view first = {}) : descriptor_(descriptor) {
    std::copy(first.begin(), first.end(), bytes_.begin());
    setg(bytes_.data(), bytes_.data(), bytes_.data() + first.size());
  }

 protected:
  /// Throws after an error, by which the stream becomes bad.
  int_type underflow() override {
    ssize_t n = 0;
    do {
      if (after_signal != nullptr) after_signal();
      n = read_some(descriptor_, bytes_.data(), bytes_.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) throw std::system_error(errno, std::generic_category());
    if (n == 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + n);
    return traits_type::to_int_type(*gptr());
  }

 private:
  int descriptor_;
  std::array<char, kMostAtOnce> bytes_{};
};

}  // namespace flashlab::cli
