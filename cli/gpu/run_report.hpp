// What a program did on a GPU, or should do there, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/gpu/checked_results.hpp"
#include "cli/gpu/planned_program.hpp"
#include "cli/terminal/terminal.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::cli {

struct GpuRunReport {
  PlannedProgram program;
  std::int64_t batch = 1, heads = 1;
  std::optional<compare::MachineModel> machine;  // nothing: no rates of this GPU are known
  compare::Row row;                              // counted, predicted, measured; a step per launch
  std::optional<generate::GpuInfo> gpu;          // nothing: only predicted
  std::optional<generate::GpuTimes> times;
  std::vector<CheckedOutput> checked;

  std::int64_t problems() const { return batch * heads; }
};

/// Returns the table of launches, how results compare, and the sentence that explains the times.
std::string run_text(const GpuRunReport& report, const Terminal& terminal);

nlohmann::ordered_json run_json(const GpuRunReport& report);

}  // namespace flashlab::cli
