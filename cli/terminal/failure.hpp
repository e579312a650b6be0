// How a command ends when it cannot do what was asked.
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
  kExitInterrupted = 130,
};

/// Thrown by a command, caught in main: `message` goes to standard error as it is.
class Failure : public std::exception {
 public:
  Failure(ExitCode code, std::string message) : code_(code), message_(std::move(message)) {}
  ExitCode code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ExitCode code_;
  std::string message_;
};

/// What a request said, as a message shows it.
std::string in_quotes(const std::string& text);

/// A failure of the request itself: `flashlab: error: what`, then what was expected and a near
/// miss.
Failure request_failure(const std::string& what, const std::string& expected = {},
                        const std::string& suggestion = {});

/// The messages about a program, and the exit code that their faults ask for: a wrong program comes
/// before a wrong request, a wrong request before a limit.
Failure program_failure(const std::vector<toy::Diagnostic>& diagnostics,
                        const toy::SourceText& source);

/// Prints warnings that stand beside a value.
void print_warnings(const std::vector<toy::Diagnostic>& diagnostics, const toy::SourceText& source);

/// The value of a result about `source`; throws its diagnostics when there is none.
template <class Value>
Value value_or_fail(toy::Result<Value> result, const toy::SourceText& source) {
  if (!result) throw program_failure(result.diagnostics, source);
  print_warnings(result.diagnostics, source);
  return std::move(*result);
}

/// The same for results about the request: a flag's value.
template <class Value>
Value value_or_fail(toy::Result<Value> result) {
  return value_or_fail(std::move(result), toy::SourceText("flashlab", ""));
}

}  // namespace flashlab::cli
