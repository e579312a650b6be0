// Messages over a descriptor: their length in eight bytes, then their content.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab::exercises {

/// Maximum length of a message, for both sides.
inline constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

/// A file descriptor. Closes it at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int operator*() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();
  void close();

 private:
  int number_;
};

/// Sends a message. Returns false if the other side is closed. Raises no signal.
bool send_message(int descriptor, std::string_view message);

/// Waits for a message. Returns nothing if the other side is closed, if the data is not a
/// message, or if `wait` returns false. `wait` is called before each read and returns when
/// data is available.
std::optional<std::string> receive_message(int descriptor, const std::function<bool()>& wait = {});

}  // namespace flashlab::exercises
