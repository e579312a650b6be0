// A grading worker, from the caller's side: a process of its own that grades texts, so that
// whatever a text does to it is that text's affair.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "exercises/isolation/channel.hpp"
#include "exercises/isolation/wire.hpp"

namespace flashlab::exercises {

/// What is executed: it must call serve_grading(0).
struct WorkerProgram {
  std::string path;
  std::vector<std::string> arguments;  // after the program's name
};

/// No worker can be started.
class WorkerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A worker started, and cannot grade this exercise.
class BrokenExercise : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a worker ended before its answer.
struct WorkerEnd {
  enum class Kind : std::uint8_t {
    kTime,      // of the processor, beyond the limit
    kMemory,    // there was none left
    kSilent,    // it neither answers nor computes
    kSignal,    // `number`
    kExit,      // with code `number`
    kNonsense,  // what it answered is no verdict
  };
  Kind kind = Kind::kExit;
  int number = 0;
};

/// "SIGSEGV", "it exited with code 5".
std::string to_string(const WorkerEnd& end);

class WorkerProcess {
 public:
  /// Starts it and waits until it is ready. `milliseconds` of processor time, and a tenth more, is
  /// what each text gets. Throws WorkerError, and BrokenExercise when the grader itself cannot be
  /// made.
  WorkerProcess(const WorkerProgram& program, const WorkOrder& order, std::int64_t milliseconds);
  /// Ends it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const Sandbox& sandbox() const { return hello_.sandbox; }

  /// The verdict; or how the worker ended, which is of no use then.
  std::variant<Verdict, WorkerEnd> grade(const GradingRequest& request);

 private:
  enum class Wait : std::uint8_t { kReadable, kTime, kSilent };

  void start(const WorkerProgram& program);
  /// Until there is something to read, or the processor time since `begun` passes `most` (of
  /// nanoseconds), or nothing at all happens.
  Wait wait(std::int64_t begun, std::int64_t most) const;
  /// Nanoseconds of processor time that it has had.
  std::int64_t used() const;
  /// Waits for its end, which it is helped to.
  WorkerEnd end();

  Descriptor channel_;
  pid_t process_ = -1;
  std::int64_t most_nanoseconds_ = 0;
  WorkerHello hello_;
};

}  // namespace flashlab::exercises
