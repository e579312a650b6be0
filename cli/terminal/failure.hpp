// Errors with which a command ends.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::cli {

enum ExitCode : int {
  kExitGood = 0,
  kExitProgramWrong = 1,
  kExitRequestWrong = 2,
  kExitLimit = 3,
  kExitInterrupted = 130,  // 128 and the signal's number; by Ctrl-C
};

/// Thrown by a command and caught in main, which prints `message` unchanged to standard error.
class Failure : public std::exception {
 public:
  Failure(ExitCode code, std::string message, std::vector<toy::Diagnostic> diagnostics = {})
      : code_(code), message_(std::move(message)), diagnostics_(std::move(diagnostics)) {}
  ExitCode code() const { return code_; }
  /// The parts of the message; empty for a message without parts.
  const std::vector<toy::Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ExitCode code_;
  std::string message_;
  std::vector<toy::Diagnostic> diagnostics_;
};

/// Quotes a part of the request for a message.
std::string in_quotes(const std::string& text);

/// Returns a failure of the request itself: `flashlab: error: what`, then what was expected and
/// a similar name.
Failure request_failure(const std::string& what, const std::string& expected = {},
                        const std::string& suggestion = {});

/// Returns the messages about a program, and an exit code by their faults: a wrong program has
/// priority over a wrong request, and a wrong request over a limit.
Failure program_failure(const std::vector<toy::Diagnostic>& diagnostics,
                        const toy::SourceText& source);

/// Prints warnings that accompany a value.
void print_warnings(const std::vector<toy::Diagnostic>& diagnostics, const toy::SourceText& source);
/// Prints one line about the request.
void print_note(const std::string& what);

/// While it exists, print_warnings() and print_note() of this thread keep what they would print.
class KeptWarnings {
 public:
  KeptWarnings();
  ~KeptWarnings();
  KeptWarnings(const KeptWarnings&) = delete;
  KeptWarnings& operator=(const KeptWarnings&) = delete;

  const std::vector<toy::Diagnostic>& all() const { return all_; }

 private:
  friend void print_warnings(const std::vector<toy::Diagnostic>& diagnostics,
                             const toy::SourceText& source);
  std::vector<toy::Diagnostic> all_;
  KeptWarnings* outer_;
};

/// Returns the value of a result about `source`, or throws its diagnostics.
template <class Value>
Value value_or_fail(toy::Result<Value> result, const toy::SourceText& source) {
  if (!result) throw program_failure(result.diagnostics, source);
  print_warnings(result.diagnostics, source);
  return std::move(*result);
}

/// Does the same for a result about the request, such as a flag's value.
template <class Value>
Value value_or_fail(toy::Result<Value> result) {
  return value_or_fail(std::move(result), toy::SourceText("flashlab", ""));
}

}  // namespace flashlab::cli
