// A process that this one starts and waits for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace flashlab::system {

/// A program to execute. Its standard input is a descriptor of the caller; what it prints is lost.
struct ProgramCall {
  std::string path;
  std::vector<std::string> words;        // with its own name
  std::vector<std::string> environment;  // "NAME=value"
  int input = -1;
  bool prints_errors = false;  // to the caller's standard error
};

/// Kills the process at the end of the scope, if it still runs.
class ChildProcess {
 public:
  ChildProcess() = default;
  /// Runs `work` in a copy of this process, which then ends with its result and without the
  /// destructors of the caller's objects. It also ends with the caller. Throws std::system_error.
  explicit ChildProcess(const std::function<int()>& work);
  /// Executes a program, in a process group of its own: Ctrl-C is for the caller only. Throws
  /// std::system_error.
  explicit ChildProcess(const ProgramCall& call);
  ~ChildProcess() {
    if (is_running()) kill();
  }
  ChildProcess(ChildProcess&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  /// Whether it was started, and nobody has waited for its end.
  bool is_running() const { return number_ > 0; }
  /// Waits for its end. Returns its status, as waitpid does.
  int wait();
  /// The same; kills it if it has not ended after `patience`.
  int wait(std::chrono::milliseconds patience);
  /// Kills it and returns its status.
  int kill();
  /// Returns the processor time that it has used, in nanoseconds; 0 if it does not run.
  std::int64_t processor_time() const;

 private:
  pid_t number_ = -1;
};

}  // namespace flashlab::system
