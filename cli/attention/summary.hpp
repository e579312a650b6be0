// One run of each variant, with a summary of its outputs.
#pragma once

#include <string>
#include <vector>

#include "cli/attention/run.hpp"

namespace flashlab::cli {

struct AttentionSummary {
  struct Output {
    std::string name;
    double norm = 0, sum = 0;  // over the finite elements
    std::int64_t num_infinite = 0, num_nan = 0;
    std::string sha256;  // of its bytes: whether two runs gave the same bits
  };
  std::string variant;
  AttentionRun run;
  std::vector<Output> outputs;
};

/// Runs the request's variants on the same inputs. Throws Failure.
std::vector<AttentionSummary> run_once(const AttentionRequest& request, const RunVariant& run);

}  // namespace flashlab::cli
