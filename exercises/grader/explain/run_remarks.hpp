// What the formulas of a failed run show about a wrong output: where its value went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/explain/failed_run.hpp"

namespace flashlab::exercises {

struct RunRemark {
  std::string kind;  // "stored elsewhere"
  std::int32_t step = kNobody;
  std::string place;  // the register that it is about; may be empty
  std::string sentence;
};

/// Returns the remark on the wrong output that says most; nothing if none holds.
std::optional<RunRemark> remark_on_output(const FailedRun& run);

/// Returns every remark that holds of the run: on each wrong output, and on each wrong step.
std::vector<RunRemark> all_remarks(FailedRun& run);

}  // namespace flashlab::exercises
