// Values as bytes, and back, without a loss: between grade and its workers, and in a journal. The
// bytes mean something to the same build on the same kind of computer only, which whoever keeps
// them checks.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/isolation/sandbox.hpp"

namespace flashlab::exercises {

/// Bytes that are no value of the kind that was asked for: a writer that died, or was taken over.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string encode(const Verdict& verdict);
/// Throws WireError. Whatever the bytes, it takes no more than some times their number of memory.
Verdict decode_verdict(std::string_view bytes);

/// What a worker is told first: the exercise as its files, and how to grade.
struct WorkOrder {
  std::string id, folder;
  Files files;
  std::uint64_t seed = 0;
  bool explain = true;
  std::int64_t milliseconds = 0, bytes = 0;  // as GraderOptions
  bool sandboxed = true;
};
std::string encode(const WorkOrder& order);
WorkOrder decode_work_order(std::string_view bytes);

/// What a worker answers to that.
struct WorkerHello {
  std::string broken;  // why the exercise cannot be graded; empty: it can
  Sandbox sandbox;
};
std::string encode(const WorkerHello& hello);
WorkerHello decode_hello(std::string_view bytes);

/// One submission; the answer is its verdict.
struct GradingRequest {
  std::string name, text;
  /// As grade_text: the file is called by the exercise's work file, whatever `name` is, and the
  /// verdict is fit to be shown to others. Otherwise as Grader::grade.
  bool for_report = true;
};
std::string encode(const GradingRequest& request);
GradingRequest decode_request(std::string_view bytes);

}  // namespace flashlab::exercises
