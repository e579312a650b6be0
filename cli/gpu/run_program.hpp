// Runs a planned program on the GPU: compiled, verified against the machine, and timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/gpu/checked_results.hpp"
#include "cli/gpu/run_report.hpp"

namespace flashlab::cli {

/// "l=1..8": the inputs of an array are drawn from 1 to 8.
struct InputRange {
  std::string array;
  double low = -1, high = 1;
};
/// Throws Failure.
InputRange parse_input_range(const std::string& text);

struct GpuRunRequest {
  std::int64_t batch = 1, heads = 1;
  int repeat = 5;
  std::uint64_t seed = 1;
  std::int64_t num_checked = 1;    // problems that are compared with the machine
  bool counters = true;            // the hardware's
  std::vector<InputRange> ranges;  // of inputs; the others are drawn from -1 to 1
  double time_limit = 60;          // seconds of the process that uses the GPU
  ExpectedResults expected;        // nothing: the machine's run of the program
  std::string architecture;        // "compute_75": PTX, translated by the driver; "": the GPU's own
};

/// Predicts without a GPU. `gpu`: a name in gpus.json. Throws Failure.
GpuRunReport predicted_run(PlannedProgram program, const GpuRunRequest& request,
                           const std::string& gpu);

/// Throws Failure: no GPU or no NVRTC, too little memory, wrong results, a time limit.
GpuRunReport run_on_gpu(PlannedProgram program, const GpuRunRequest& request);

}  // namespace flashlab::cli
