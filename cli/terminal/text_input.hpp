// The texts that a command reads: files, pipes, standard input.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {

/// `name`: in quotes.
Failure too_long_failure(const std::string& name, std::int64_t most_bytes);

/// A text as it comes: of a regular file, of a pipe, or of standard input for `-`. A pipe into
/// which nobody writes is an error, after a short wait: opening it would wait for ever.
class TextInput {
 public:
  /// Throws Failure: nothing of that name, which should be `expected`; a device or a directory;
  /// unreadable; kExitLimit if a file is longer than `most_bytes`.
  TextInput(const std::string& name, std::int64_t most_bytes, const std::string& expected);
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  /// Returns what is left of it. Throws Failure: longer than `most_bytes`, unreadable, in another
  /// encoding than UTF-8.
  std::string rest();
  /// Returns the next line as soon as it is there; nothing at the end. Throws as rest() does.
  std::optional<std::string> line();

 private:
  void open_pipe(const std::string& name);
  std::string checked(std::string bytes) const;

  std::string name_;  // as messages have it
  std::int64_t most_bytes_;
  int pipe_ = -1;
  std::unique_ptr<std::streambuf> buffer_;
  std::unique_ptr<std::istream> stream_;
};

/// From now on, reading standard input is refused: it has `what`, "an editor's messages".
void take_standard_input(const std::string& what);

/// Whether standard input was a text that the command reads, so that it has no keys.
bool standard_input_was_read();

}  // namespace flashlab::cli
