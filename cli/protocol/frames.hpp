// The frames of the Language Server Protocol and the Debug Adapter Protocol: headers, of which
// Content-Length counts, an empty line, and that many bytes of JSON. Lines end with CR LF, or with LF alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace flashlab::cli {

/// A message, or the reason why there is none.
struct Frame {
  nlohmann::json body;
  std::string error;     // "the header 'Content-Length: x' has no length"; empty: `body` is valid
  bool is_json = false;  // of a bad frame: its content is JSON
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
  /// Returns, at the end of the input, why what is left is no frame; empty: nothing is left.
  std::string why_unfinished() const;

 private:
  std::optional<Frame> skip(std::size_t bytes, std::string error);

  std::string waiting_;
  std::size_t to_skip_ = 0;  // bytes of a frame that was refused
};

/// Returns a message as text without line ends; bytes that are no UTF-8 are replaced.
std::string message_text(const nlohmann::json& message);
/// Returns a message's text with its header.
std::string framed(const std::string& text);

/// The client, on standard input and output unless others are given.
class ProtocolStream {
 public:
  ProtocolStream();
  ProtocolStream(int input, int output) : input_(input), output_(output) {}

  /// Returns the next frame; nothing at the end of the input. Waits for it.
  std::optional<Frame> read();
  /// Returns a frame that arrived already, without waiting.
  std::optional<Frame> read_arrived();
  void write(const nlohmann::json& message) { write_text(message_text(message)); }
  void write_text(const std::string& text);
  /// Puts a frame back: the next read() returns it.
  void put_back(Frame frame) { returned_.push_back(std::move(frame)); }
  bool has_returned() const { return !returned_.empty(); }
  /// Returns the frames that were put back, in their order.
  std::vector<Frame> take_returned() { return std::exchange(returned_, {}); }

  /// Ends the input when this process ends: a client that crashes may leave its pipes to others. A
  /// process that is not there now is not watched: the client counts its processes elsewhere.
  void end_with(std::int64_t process);
  /// Whether nobody waits for answers: the output is closed, the client's process has ended, or the
  /// input has ended and all its requests were taken.
  bool is_abandoned();
  /// Returns the exit code for an input that has ended. If it ended inside a frame, standard error says so.
  int exit_code_at_end() const;

 private:
  bool fill();
  bool client_has_ended() const;

  int input_, output_;
  FrameReader reader_;
  std::vector<Frame> returned_;
  bool has_ended_ = false;
  std::int64_t client_ = 0;  // its process; 0: not known
};

}  // namespace flashlab::cli
