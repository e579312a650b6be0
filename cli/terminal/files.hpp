// Reads and writes the command's files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::cli {

/// A program inside the binary: its name without folder and ending, and its text.
struct BundledProgram {
  std::string_view name;
  std::string_view text;
  /// Returns the first comment line, without the comment sign.
  std::string_view title() const;
};
/// Returns the programs sorted by name.
const std::vector<BundledProgram>& bundled_programs();
const BundledProgram* find_bundled_program(std::string_view name);
/// Returns the functions of the scores that are inside the binary, sorted by name.
const std::vector<BundledProgram>& bundled_scores();

/// While it exists, this thread opens no file. The functions below find these texts, by name, and
/// bundled programs alone.
class GivenFiles {
 public:
  explicit GivenFiles(std::map<std::string, std::string> texts);
  ~GivenFiles();
  GivenFiles(const GivenFiles&) = delete;
  GivenFiles& operator=(const GivenFiles&) = delete;

  /// The one of this thread, or null.
  static const GivenFiles* current();
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::string> texts_;
};

/// Returns the program for the user's name: a regular file or a pipe, `-` for standard input, or
/// (if there is no such file and no slash in the name) a bundled program, with or without `.toy`.
/// Throws Failure: no such file (with a similar name), a device, a directory, unreadable;
/// kExitLimit if it is longer than `most_bytes`, which is checked before reading.
std::shared_ptr<const toy::SourceText> read_program(const std::string& name,
                                                    std::int64_t most_bytes);

/// Whether read_program has a program for the name: a file, or a bundled program.
bool is_known_program(const std::string& name);

/// Returns a function of the scores: a file's, a bundled one's by its name, or the lines themselves, with ;
/// between them. Throws Failure as above.
std::shared_ptr<const toy::SourceText> read_score(const std::string& name_or_lines,
                                                  std::int64_t most_bytes);

/// Returns the text of a regular file, of a pipe, or of standard input for `-`. Throws Failure as
/// above; the message says that `expected` was expected: "a file that `flashlab grade --json`
/// wrote".
std::string read_text_file(const std::string& name, std::int64_t most_bytes,
                           const std::string& expected);

/// Writes a file as write_whole_file() does: completely or not at all, and it stays what it was. `-` is
/// standard output. Throws Failure.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Opens those of the descriptors 0 to 2 that were closed at the start (`flashlab grade 8 - <&-`) so
/// that reading and writing them is an error. Otherwise the next file that is opened would become
/// standard input or output. Call it first.
void open_standard_descriptors();

/// Returns the exit code of a command that a signal ends: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP; 0
/// if the reader of its output stopped.
int exit_code_of_signal(int signal);

/// Installs signal handlers. A signal removes an incomplete temporary file and ends the command. If the
/// reader of our output stops (`| head`), the command ends without a message.
void handle_signals();

}  // namespace flashlab::cli
