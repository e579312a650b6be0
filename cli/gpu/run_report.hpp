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

/// Cells as texts, for the terminal and for a page.
struct ReportTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

/// A row for each launch and, if there are several, one for all: counted, predicted, measured.
ReportTable launches_table(const GpuRunReport& report);

/// A row for each output of each problem that was compared with the machine.
ReportTable checks_table(const GpuRunReport& report);
inline constexpr const char* kAboutErrors =
    "errors: differences from a run of the machine in double; a run in float has some, too";

struct ReportSentences {
  std::vector<std::string> before;  // types and problems; the GPU and its rates
  std::string explanation;          // of the time; may be empty
  std::vector<std::string> times;   // calls, compiler, why no bytes were measured; empty: no run
};
ReportSentences report_sentences(const GpuRunReport& report);

/// Returns the table of launches, how results compare, and the sentence that explains the times.
std::string run_text(const GpuRunReport& report, const Terminal& terminal);

nlohmann::ordered_json run_json(const GpuRunReport& report);

}  // namespace flashlab::cli
