// The time of a submission's kernels on a GPU, predicted or measured, as a part of its verdict.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::cli {

/// Keys of the times in Verdict::costs.
inline constexpr const char* kPredictedTime = "predicted_ns";
inline constexpr const char* kMeasuredTime = "measured_ns";

/// Returns the predicted time of a program as kernels at the exercise's size, in nanoseconds. Throws
/// Failure if it does not become kernels there.
toy::Count predicted_time(const exercises::Exercise& exercise,
                          const std::shared_ptr<const toy::Program>& program);

/// Gives the verdict on a text of an exercise with Speed the points for its predicted time, beside that
/// of the given program, and nothing to other verdicts. A right program that cannot become kernels at
/// the exercise's size is rejected. Throws Failure if the given program cannot, either.
void add_predicted_time(const exercises::Exercise& exercise, const std::string& text,
                        exercises::Verdict& verdict);

struct SpeedRequest {
  std::uint64_t seed = 1;  // of the inputs
  int repeat = 5;
  double time_limit = 60;  // seconds of each process that uses the GPU
};

/// Measures submissions of one exercise on this computer's GPU, beside the given program.
class SpeedMeter {
 public:
  /// Measures the given program and the solution. Throws Failure: no GPU, or these two go wrong.
  SpeedMeter(const exercises::Exercise& exercise, const SpeedRequest& request);

  /// Replaces the predicted time in the verdict on a right program by its measured time. Wrong results on
  /// the GPU, a time limit and a crash become the verdict.
  void measure(const std::string& text, exercises::Verdict& verdict) const;

  const std::string& gpu() const { return gpu_; }

 private:
  const exercises::Exercise& exercise_;
  SpeedRequest request_;
  std::string gpu_;  // its name
  double given_ms_ = 0, solution_ms_ = 0;
};

}  // namespace flashlab::cli
