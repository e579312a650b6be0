// Messages over a descriptor: their length in eight bytes, then their bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab::exercises {

/// A message is no longer than this, whoever sends it.
inline constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

/// A descriptor that is closed again.
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

/// False when the other side has gone. No signal is raised.
bool send_message(int descriptor, std::string_view message);

/// Waits for a message. Nothing: the other side has gone, or sends what is no message, or `wait`,
/// which is called before each read and returns when there is something to read, returned false.
std::optional<std::string> receive_message(int descriptor, const std::function<bool()>& wait = {});

}  // namespace flashlab::exercises
