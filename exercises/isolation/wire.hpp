// Converts values to bytes and back without loss, for workers and journals. The bytes are valid
// only for the same build on the same kind of computer. A caller that stores them must check this.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/isolation/sandbox.hpp"

namespace flashlab::exercises {

/// Invalid bytes: the writer crashed, or was compromised.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string encode(const Verdict& verdict);
/// Throws WireError. For any input, memory use is at most a few times its size.
Verdict decode_verdict(std::string_view bytes);

/// The first message to a worker: the files of the exercise, and how to grade.
struct WorkOrder {
  std::string id, folder;
  Files files;
  std::uint64_t seed = 0;
  bool explain = true;
  std::int64_t milliseconds = 0, bytes = 0;  // as in GraderOptions
  bool sandboxed = true;
};
std::string encode(const WorkOrder& order);
WorkOrder decode_work_order(std::string_view bytes);

/// The worker's answer to the order.
struct WorkerHello {
  std::string broken;  // why the exercise cannot be graded; empty: no problem
  Sandbox sandbox;
};
std::string encode(const WorkerHello& hello);
WorkerHello decode_hello(std::string_view bytes);

/// One submission; the answer is its verdict.
struct GradingRequest {
  std::string name, text;
  /// True: grades like grade_text, with the exercise's work file as the file name (not `name`), and
  /// the verdict is safe to show to others. False: grades like Grader::grade.
  bool for_report = true;
};
std::string encode(const GradingRequest& request);
GradingRequest decode_request(std::string_view bytes);

}  // namespace flashlab::exercises
