// The frames of the Language Server Protocol and the Debug Adapter Protocol: headers, of which
// Content-Length counts, an empty line, and that many bytes of JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab::cli {

/// A message, or the reason why there is none.
struct Frame {
  nlohmann::json body;
  std::string error;  // "the header 'Content-Length: x' has no length"; empty: `body` is valid
};

/// Cuts a stream of bytes into frames. After a bad frame it looks for the next header, so that a
/// client's mistake costs one frame.
class FrameReader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMostHeaderBytes = 4096;

  void push(std::string_view bytes) { waiting_ += bytes; }
  /// Returns the next frame; nothing until more bytes arrive.
  std::optional<Frame> next();

 private:
  std::optional<Frame> skip(std::size_t bytes, std::string error);

  std::string waiting_;
  std::size_t to_skip_ = 0;  // bytes of a frame that was refused
};

/// Returns a message as text without line ends; bytes that are no UTF-8 are replaced.
std::string message_text(const nlohmann::json& message);
/// Returns a message's text with its header.
std::string framed(const std::string& text);

/// The client on standard input and output.
class ProtocolStream {
 public:
  /// Returns the next frame; nothing at the end of the input. Waits for it.
  std::optional<Frame> read();
  /// Returns a frame that arrived already, without waiting.
  std::optional<Frame> read_arrived();
  void write(const nlohmann::json& message) { write_text(message_text(message)); }
  void write_text(const std::string& text);
  /// Puts a frame back: the next read() returns it.
  void put_back(Frame frame) { returned_.push_back(std::move(frame)); }

 private:
  bool fill();

  FrameReader reader_;
  std::vector<Frame> returned_;
  bool has_ended_ = false;
};

}  // namespace flashlab::cli
