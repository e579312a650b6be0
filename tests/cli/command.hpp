// Runs the built command as a user would, from a shell, in an empty folder of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// An empty folder that goes away with the object; commands run in it.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;

  /// A line of shell in which `flashlab` is the command under test. The locale is C unless the line
  /// sets another, so that output is ASCII.
  Outcome shell(const std::string& line) const;

  /// The code with which the command itself ends when Ctrl-C reaches it while it works. `line`
  /// replaces the shell by it: "exec flashlab run x". -1: it has no handler for Ctrl-C, or does not
  /// end. A command that the signal kills has no code, though a shell would say 130.
  int code_after_interrupt(const std::string& line) const;

 private:
  std::filesystem::path folder_;
};

Outcome flashlab(const std::string& arguments);

/// What it printed, as JSON; requires that it ended well.
nlohmann::json json_of(const Outcome& outcome);

/// In characters.
std::size_t widest_line(const std::string& text);

}  // namespace flashlab::test
