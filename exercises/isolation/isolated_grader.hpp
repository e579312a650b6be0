// A grader that works in a separate process. If a submission kills the process, a new
// one replaces it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/isolation/worker_process.hpp"

namespace flashlab::exercises {

/// A text that kills a worker is tried once more in a second worker, because the first may have
/// been at fault.
inline constexpr int kMostTries = 2;

class IsolatedGrader : public TextGrader {
 public:
  /// Starts the first worker. Throws WorkerError, BrokenExercise.
  IsolatedGrader(std::shared_ptr<const Exercise> exercise, const GraderOptions& options,
                 WorkerProgram program);

  std::shared_ptr<const Verdict> grade(const std::string& text) override;
  /// Grades like Grader::grade; the verdict is for the learner alone. Throws WorkerError if no
  /// further worker can be started.
  Verdict grade(const std::string& name, const std::string& text);

  const Sandbox& sandbox() const { return sandbox_; }

 private:
  Verdict grade(const GradingRequest& request);
  void start();

  std::shared_ptr<const Exercise> exercise_;
  WorkerProgram program_;
  WorkOrder order_;
  std::int64_t milliseconds_;
  std::unique_ptr<WorkerProcess> worker_;
  Sandbox sandbox_;
};

}  // namespace flashlab::exercises
