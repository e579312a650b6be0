#include "cli/protocol/frames.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <limits>
#include <utility>

#include "cli/terminal/descriptor_io.hpp"
#include "cli/terminal/failure.hpp"
#include "text/encoding.hpp"
#include "text/lists.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr int kLookAtClientMs = 1000;
constexpr std::string_view kLength = "content-length:";
constexpr std::size_t kShownRest = 40;  // of what is left at the end of the input

/// Where headers end, and where what follows their empty line begins.
struct EndOfHeaders {
  std::size_t end = 0, next = 0;
};

std::optional<EndOfHeaders> end_of_headers(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos; ++at) {
    const std::string_view rest = text.substr(at + 1);
    const std::size_t empty = rest.starts_with("\r\n") ? 2 : rest.starts_with('\n') ? 1 : 0;
    if (empty == 0) continue;
    return EndOfHeaders{at - (at > 0 && text[at - 1] == '\r' ? 1 : 0), at + 1 + empty};
  }
  return std::nullopt;
}

bool is_of_length(char expected, char c) {
  return expected == std::tolower(static_cast<unsigned char>(c));
}

bool begins_with_length(std::string_view line) {
  return line.size() >= kLength.size() &&
         std::equal(kLength.begin(), kLength.end(), line.begin(), is_of_length);
}

/// Returns the number of bytes before the last header that counts the content: what is left of a
/// frame that stated a wrong length. 0: there are none, or no such header.
std::size_t bytes_before_length(std::string_view headers) {
  const auto found = std::find_end(headers.begin(), headers.end(), kLength.begin(), kLength.end(),
                                   [](char c, char expected) { return is_of_length(expected, c); });
  return found == headers.end() ? 0 : static_cast<std::size_t>(found - headers.begin());
}

/// Returns the length that the headers state, or why they state none.
std::pair<std::optional<std::size_t>, std::string> length_in(std::string_view headers) {
  std::optional<std::size_t> length;
  while (!headers.empty()) {
    const auto end = std::min(headers.find('\n'), headers.size());
    const std::string_view line = trimmed(headers.substr(0, end));
    headers.remove_prefix(std::min(end + 1, headers.size()));
    if (!begins_with_length(line)) continue;
    const std::string_view number = trimmed(line.substr(kLength.size()));
    std::size_t value = 0;
    if (!read_whole(number, value)) {
      return {std::nullopt, "the header '" + printable(line) + "' has no length"};
    }
    length = value;
  }
  if (!length) return {std::nullopt, "a frame has no Content-Length"};
  return {length, {}};
}

/// Whether objects and lists are nested too deeply for recursive code.
bool is_nested_deeply(std::string_view text) {
  constexpr int kMostLevels = 200;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostLevels) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::optional<Frame> FrameReader::skip(std::size_t bytes, std::string error) {
  to_skip_ += bytes;
  return Frame{{}, std::move(error)};
}

std::optional<Frame> FrameReader::next() {
  const std::size_t skipped = std::min(to_skip_, waiting_.size());
  waiting_.erase(0, skipped);
  to_skip_ -= skipped;
  if (to_skip_ > 0) return std::nullopt;
  const auto end = end_of_headers(waiting_);
  if (!end) {
    if (waiting_.size() <= kMostHeaderBytes) return std::nullopt;
    waiting_.clear();
    return Frame{{}, "a header is longer than " + std::to_string(kMostHeaderBytes) + " bytes"};
  }
  const std::string_view headers = std::string_view(waiting_).substr(0, end->end);
  const std::size_t first = end->next;
  auto [length, error] = length_in(headers);
  if (!length) {
    const std::size_t rest = bytes_before_length(headers);
    if (rest == 0) return skip(first, std::move(error));
    return skip(rest, "there are " + std::to_string(rest) + " bytes between two frames");
  }
  if (*length > kMostBytes) {
    return skip(first + std::min(*length, SIZE_MAX - first),
                "a frame has " + std::to_string(*length) + " bytes; at most " +
                    std::to_string(kMostBytes) + " are read");
  }
  if (waiting_.size() - first < *length) return std::nullopt;
  Frame frame;
  const std::string_view text = std::string_view(waiting_).substr(first, *length);
  if (is_nested_deeply(text)) {
    frame.error = "the content of a frame is nested too deeply";
  } else {
    frame.body = nlohmann::json::parse(without_half_characters(std::string(text)), nullptr, false);
    if (frame.body.is_discarded()) {
      frame.error = "the content of a frame is no JSON";
    } else if (!frame.body.is_object()) {
      frame.error = "the content of a frame is no JSON object";
      frame.is_json = true;
    }
    if (!frame.error.empty()) frame.body = nullptr;
  }
  waiting_.erase(0, first + *length);
  return frame;
}

std::string FrameReader::why_unfinished() const {
  const std::string_view rest = trimmed(waiting_);
  if (to_skip_ > 0) {
    return "the input ends inside a message: " + std::to_string(to_skip_) +
           " of its bytes are missing";
  }
  if (rest.empty()) return {};
  if (const auto end = end_of_headers(waiting_)) {
    const auto length = length_in(std::string_view(waiting_).substr(0, end->end)).first.value_or(0);
    return "the input ends inside a message: its header says " + std::to_string(length) +
           " bytes, and " + std::to_string(waiting_.size() - end->next) + " follow";
  }
  return "the input ends without a whole message: '" + printable(rest.substr(0, kShownRest)) +
         (rest.size() > kShownRest ? " ..." : "") +
         "' is left; expected Content-Length: and a number, an empty line, and that many bytes";
}

std::string message_text(const nlohmann::json& message) {
  return message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string framed(const std::string& text) {
  return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

ProtocolStream::ProtocolStream() : ProtocolStream(STDIN_FILENO, STDOUT_FILENO) {}

bool ProtocolStream::fill() {
  std::array<char, 65536> bytes{};
  ssize_t n = 0;
  pollfd waiting{input_, POLLIN, 0};
  while (client_ != 0 && poll(&waiting, 1, kLookAtClientMs) == 0) {
    if (!client_has_ended()) continue;
    has_ended_ = true;
    return false;
  }
  do {
    n = read_some(input_, bytes.data(), bytes.size());
  } while (n < 0 && errno == EINTR);
  if (n <= 0) {
    has_ended_ = true;
    return false;
  }
  reader_.push({bytes.data(), static_cast<std::size_t>(n)});
  return true;
}

std::optional<Frame> ProtocolStream::read() {
  if (!returned_.empty()) {
    Frame frame = std::move(returned_.front());
    returned_.erase(returned_.begin());
    return frame;
  }
  for (;;) {
    if (auto frame = reader_.next()) return frame;
    if (has_ended_ || !fill()) return std::nullopt;
  }
}

std::optional<Frame> ProtocolStream::read_arrived() {
  pollfd waiting{input_, POLLIN, 0};
  for (;;) {
    if (auto frame = reader_.next()) return frame;
    if (has_ended_ || poll(&waiting, 1, 0) != 1 || !fill()) return std::nullopt;
  }
}

void ProtocolStream::end_with(std::int64_t process) {
  if (process <= 0 || process > std::numeric_limits<pid_t>::max()) return;
  client_ = process;
  if (client_has_ended()) client_ = 0;
}

bool ProtocolStream::client_has_ended() const {
  return client_ != 0 && kill(static_cast<pid_t>(client_), 0) != 0 && errno == ESRCH;
}

bool ProtocolStream::is_abandoned() {
  pollfd output{output_, 0, 0};
  if (poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0) return true;
  return client_has_ended() || (has_ended_ && returned_.empty());
}

int ProtocolStream::exit_code_at_end() const {
  const std::string why = reader_.why_unfinished();
  if (why.empty()) return kExitGood;
  std::cerr << "flashlab: error: " << why << "\n";
  return kExitRequestWrong;
}

void ProtocolStream::write_text(const std::string& text) { write_all(output_, framed(text)); }

}  // namespace flashlab::cli
