// A grading worker, from the caller's side: a separate process that grades texts, so that a text
// can harm only its own worker.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "exercises/isolation/wire.hpp"
#include "system/child_process.hpp"
#include "system/descriptor.hpp"

namespace flashlab::exercises {

/// The program to execute. It must call serve_grading(0).
struct WorkerProgram {
  std::string path;
  std::vector<std::string> arguments;  // after the program's name
};

/// No worker could be started.
class WorkerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The worker started but cannot grade this exercise.
class BrokenExercise : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a worker ended without an answer.
struct WorkerEnd {
  enum class Kind : std::uint8_t {
    kTime,      // processor time above the limit
    kMemory,    // out of memory
    kSilent,    // neither answers nor computes
    kSignal,    // signal `number`
    kExit,      // exit code `number`
    kNonsense,  // its answer is not a verdict
  };
  Kind kind = Kind::kExit;
  int number = 0;
};

/// Returns "SIGSEGV", "it exited with code 5".
std::string to_string(const WorkerEnd& end);

class WorkerProcess {
 public:
  /// Starts the worker and waits until it is ready. Each text gets `milliseconds` of processor time
  /// and 10 % more. Throws WorkerError, and BrokenExercise if the worker cannot create its grader.
  WorkerProcess(const WorkerProgram& program, const WorkOrder& order, std::int64_t milliseconds);
  /// Ends the process.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const Sandbox& sandbox() const { return hello_.sandbox; }

  /// Returns the verdict, or how the worker ended. After that the worker cannot be used.
  std::variant<Verdict, WorkerEnd> grade(const GradingRequest& request);

 private:
  enum class Wait : std::uint8_t { kReadable, kTime, kSilent };

  void start(const WorkerProgram& program);
  /// Waits until data is readable, the processor time since `begun` exceeds `most` (nanoseconds),
  /// or the worker is idle for too long.
  Wait wait(std::int64_t begun, std::int64_t most) const;
  /// Closes the channel and waits for the process, which is killed after a while.
  WorkerEnd end();

  system::Descriptor channel_;
  system::ChildProcess process_;
  std::int64_t most_nanoseconds_ = 0;
  WorkerHello hello_;
};

}  // namespace flashlab::exercises
