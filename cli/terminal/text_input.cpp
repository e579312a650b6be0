#include "cli/terminal/text_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/waiting_input.hpp"
#include "text/encoding.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMs = 2000;

/// What else standard input is for; empty: nothing.
std::string& owner_of_standard_input() {
  static std::string owner;
  return owner;
}
bool was_read = false;

/// Whether this is standard input by another name, and not a file that can be opened again.
bool is_standard_input(const std::string& name, fs::file_type type) {
  constexpr std::array<std::string_view, 3> kNames{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
  return name == "-" || (std::find(kNames.begin(), kNames.end(), name) != kNames.end() &&
                         type != fs::file_type::regular && type != fs::file_type::directory);
}

std::string kind_of_file(fs::file_type type) {
  switch (type) {
    case fs::file_type::directory:
      return "a directory";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::character:
    case fs::file_type::block:
      return "a device";
    default:
      return "not a regular file";
  }
}

}  // namespace

Failure too_long_failure(const std::string& name, std::int64_t most_bytes) {
  return {kExitLimit, "flashlab: error: " + name + " is longer than " + std::to_string(most_bytes) +
                          " bytes (--max-source changes the limit)\n"};
}

TextInput::TextInput(const std::string& name, std::int64_t most_bytes, const std::string& expected)
    : name_(in_quotes(name)), most_bytes_(most_bytes) {
  std::error_code code;
  const fs::file_status status = fs::status(name, code);
  if (is_standard_input(name, status.type())) {
    if (const std::string& owner = owner_of_standard_input(); !owner.empty()) {
      throw request_failure(name_ + " is standard input, which has " + owner, "a file");
    }
    name_ = "standard input";
    was_read = true;
    stream_ = std::make_unique<std::istream>(std::cin.rdbuf());
    return;
  }
  if (!fs::exists(status)) throw request_failure("there is no file " + name_, expected);
  if (status.type() == fs::file_type::fifo) {
    open_pipe(name);
    return;
  }
  if (status.type() != fs::file_type::regular) {
    throw request_failure(name_ + " is " + kind_of_file(status.type()), expected);
  }
  const std::uintmax_t size = fs::file_size(name, code);
  if (!code && size > static_cast<std::uintmax_t>(most_bytes))
    throw too_long_failure(name_, most_bytes);
  errno = 0;
  stream_ = std::make_unique<std::ifstream>(name, std::ios::binary);
  if (!*stream_) throw request_failure(name_ + " cannot be read: " + std::strerror(errno));
  stream_ = std::make_unique<std::istringstream>(rest());
}

TextInput::~TextInput() {
  if (pipe_ >= 0) close(pipe_);
}

void TextInput::open_pipe(const std::string& name) {
  pipe_ = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe_ < 0) throw request_failure(name_ + " cannot be read: " + std::strerror(errno));
  std::string first(WaitingInput::kMostAtOnce, '\0');
  ssize_t n = read_some(pipe_, first.data(), first.size());
  pollfd waiting{pipe_, POLLIN, 0};
  if (n == 0) {  // all writers have left, or none has come yet
    if (poll(&waiting, 1, kPatienceMs) == 0) {
      close(std::exchange(pipe_, -1));
      throw request_failure(name_ + " is a pipe into which nobody writes");
    }
    n = read_some(pipe_, first.data(), first.size());
  }
  first.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  buffer_ = std::make_unique<WaitingInput>(pipe_, first);
  stream_ = std::make_unique<std::istream>(buffer_.get());
}

std::string TextInput::checked(std::string bytes) const {
  if (const std::string_view other = other_encoding(bytes); !other.empty()) {
    throw request_failure(name_ + " is text in " + std::string(other), "text in UTF-8");
  }
  return bytes;
}

std::string TextInput::rest() {
  std::string text;
  std::array<char, 1 << 16> part{};
  while (stream_->read(part.data(), part.size()) || stream_->gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(stream_->gcount()));
    if (static_cast<std::int64_t>(text.size()) > most_bytes_)
      throw too_long_failure(name_, most_bytes_);
  }
  if (stream_->bad()) throw request_failure(name_ + " cannot be read to its end");
  return checked(std::move(text));
}

std::optional<std::string> TextInput::line() {
  std::string text;
  char c = 0;
  while (stream_->get(c) && c != '\n') {
    text += c;
    if (static_cast<std::int64_t>(text.size()) > most_bytes_)
      throw too_long_failure(name_, most_bytes_);
  }
  if (stream_->bad()) throw request_failure(name_ + " cannot be read to its end");
  if (!*stream_ && text.empty()) return std::nullopt;
  return checked(std::move(text));
}

void take_standard_input(const std::string& what) { owner_of_standard_input() = what; }

bool standard_input_was_read() { return was_read; }

}  // namespace flashlab::cli
