// Files that the command reads and writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::cli {

/// A program that travels inside the binary: its name without folder and ending, and its text.
struct BundledProgram {
  std::string_view name;
  std::string_view text;
  /// The first comment line, without the comment sign.
  std::string_view title() const;
};
/// Sorted by name.
const std::vector<BundledProgram>& bundled_programs();
const BundledProgram* find_bundled_program(std::string_view name);

/// The program text behind the name that the user gave: a regular file, `-` for standard input, or
/// (when there is no such file and no slash in the name) a bundled program, with or without `.toy`.
/// Throws Failure: no such file (with a near miss), not a regular file, unreadable; kExitLimit when
/// it is longer than `most_bytes`, which is found out before it is read.
std::shared_ptr<const toy::SourceText> read_program(const std::string& name,
                                                    std::int64_t most_bytes);

/// Writes a file whole or not at all: `write` fills a temporary file beside it, which then takes
/// its name. `-` is standard output; devices and pipes are written to directly. Throws Failure.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Ctrl-C removes a half-written temporary file and ends with 130; a reader of our output who has
/// seen enough (`| head`) ends us quietly.
void handle_signals();

}  // namespace flashlab::cli
