#include "cli/gpu/run_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/compare/text.hpp"
#include "cli/machine/counter_report.hpp"
#include "cli/terminal/text_table.hpp"
#include "compare/report/explain.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using compare::Step;

std::string moved_text(const std::optional<compare::Traffic>& traffic) {
  return traffic ? with_prefix(static_cast<double>(traffic->bytes()), "B") : "";
}

std::string milliseconds_text(const std::optional<double>& ms) {
  return ms ? three_digits(*ms) : "";
}

std::string quotient_text(const std::optional<double>& ratio) {
  return ratio ? fixed_text(*ratio, 2) : "";
}

double all_flops(const compare::Work& work) {
  return static_cast<double>(work.product_flops) + static_cast<double>(work.elementwise_flops);
}

/// Counted, predicted and measured numbers of the row or of a launch.
template <class Timed>
std::vector<std::string> cells_of(const Timed& timed, const GpuRunReport& report) {
  const auto& measured = timed.measured;
  std::vector<std::string> cells = {moved_text(timed.work.sm)};
  if (report.row.measured && report.row.measured->sm) {
    cells.push_back(measured ? moved_text(measured->sm) : "");
    cells.push_back(quotient_text(compare::sm_ratio(timed)));
  }
  cells.push_back(with_prefix(all_flops(timed.work), "FLOP"));
  if (report.machine) cells.push_back(three_digits(compare::predicted_ms(timed.predicted)));
  if (!report.times) return cells;
  cells.push_back(measured ? milliseconds_text(measured->median_ms) : "");
  if (report.machine) cells.push_back(quotient_text(compare::time_ratio(timed)));
  const bool has_time = measured && measured->median_ms && *measured->median_ms > 0;
  cells.push_back(
      has_time ? with_prefix(1e3 * all_flops(timed.work) / *measured->median_ms, "FLOP/s") : "");
  return cells;
}

std::string paragraph(const std::string& text, const Terminal& terminal) {
  std::string lines;
  for (const std::string& line : wrap(text, terminal.width)) lines += line + "\n";
  return lines;
}

std::string problems_text(const GpuRunReport& report) {
  std::string text = generate::to_string(report.program.type);
  if (!report.program.kept.empty()) {
    text += " (" +
            joined(report.program.kept, "; ",
                   [](const generate::KeptType& kept) {
                     return printable(kept.array) + " in float: " + kept.reason;
                   }) +
            ")";
  }
  return text + ", batch " + std::to_string(report.batch) + ", " + counted(report.heads, "head") +
         ", level " + std::to_string(report.program.plan.level());
}

std::string gpu_text(const GpuRunReport& report) {
  std::string text = report.gpu
                         ? printable(report.gpu->name)
                         : "predicted for " + report.machine->gpu.name + ", nothing measured";
  if (!report.machine)
    return text + "; gpu/sheets/gpus.json has no rates of it, so nothing is predicted";
  const bool is_measured = report.machine->dram_copy && report.machine->dram_copy->is_measured;
  return text + (is_measured ? "; rates measured with small kernels" : "; rates of the data sheet");
}

std::string kernels_text(const generate::GpuTimes& times) {
  std::string text = "NVRTC " + times.nvrtc_version + " compiled for " + times.architecture +
                     " in " + fixed_text(times.compile_seconds, 2) + " s; registers per thread: " +
                     joined(times.kernels, ", ", [](const generate::KernelResources& kernel) {
                       return std::to_string(kernel.registers);
                     });
  for (const generate::KernelResources& kernel : times.kernels) {
    if (kernel.local_bytes == 0) continue;
    text += "; " + printable(kernel.kernel) + " keeps " + std::to_string(kernel.local_bytes) +
            " bytes of each thread in local memory";
  }
  return text;
}

std::string times_text(const GpuRunReport& report) {
  const compare::Measurement& measured = *report.row.measured;
  return std::to_string(measured.num_samples) +
         " calls on new inputs, L2 flushed: " + three_digits(*measured.least_ms) + " to " +
         three_digits(*measured.most_ms) + " ms, median " + three_digits(*measured.median_ms);
}

/// The first column is text, the others are numbers.
std::string report_table_text(const ReportTable& cells, const Terminal& terminal) {
  std::vector<Column> columns;
  for (const std::string& title : cells.titles) {
    columns.push_back({title, columns.empty() ? Align::kLeft : Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const std::vector<std::string>& row : cells.rows) table.row(row);
  return table.to_string(terminal);
}

nlohmann::ordered_json traffic_json(const std::optional<compare::Traffic>& traffic) {
  if (!traffic) return nullptr;
  return {{"bytes_read", traffic->bytes_read}, {"bytes_written", traffic->bytes_written}};
}

nlohmann::ordered_json optional_json(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

template <class Timed>
nlohmann::ordered_json timed_json(const Timed& timed, const GpuRunReport& report) {
  nlohmann::ordered_json json{{"sm_traffic", traffic_json(timed.work.sm)},
                              {"dram_traffic", traffic_json(timed.work.dram)},
                              {"product_flops", timed.work.product_flops},
                              {"elementwise_flops", timed.work.elementwise_flops},
                              {"exps", timed.work.exps}};
  json["predicted_ms"] = nullptr;
  if (report.machine) json["predicted_ms"] = compare::predicted_ms(timed.predicted);
  if (!timed.measured) return json;
  json["measured"] = {{"median_ms", optional_json(timed.measured->median_ms)},
                      {"least_ms", optional_json(timed.measured->least_ms)},
                      {"most_ms", optional_json(timed.measured->most_ms)},
                      {"sm_traffic", traffic_json(timed.measured->sm)},
                      {"dram_traffic", traffic_json(timed.measured->dram)}};
  if (!timed.measured->why_no_counters.empty()) {
    json["measured"]["why_no_counters"] = printable(timed.measured->why_no_counters);
  }
  return json;
}

nlohmann::ordered_json launches_json(const GpuRunReport& report) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.row.steps.size(); ++i) {
    const Step& step = report.row.steps[i];
    nlohmann::ordered_json json{{"blocks", step.num_blocks},
                                {"threads", step.num_threads},
                                {"shared_bytes", step.shared_bytes}};
    json.update(timed_json(step, report));
    if (report.times) {
      const generate::KernelResources& kernel = report.times->kernels[i];
      json["kernel"] = printable(kernel.kernel);
      json["registers"] = kernel.registers;
      json["local_bytes"] = kernel.local_bytes;
    }
    all.push_back(std::move(json));
  }
  return all;
}

nlohmann::ordered_json gpu_of(const GpuRunReport& report) {
  if (!report.gpu) return nullptr;
  return {{"name", printable(report.gpu->name)},
          {"compute_capability", report.gpu->compute_capability},
          {"multiprocessors", report.gpu->num_multiprocessors},
          {"driver", report.gpu->driver_version},
          {"nvrtc", report.times->nvrtc_version},
          {"architecture", report.times->architecture},
          {"compile_seconds", report.times->compile_seconds}};
}

nlohmann::ordered_json checks_json(const GpuRunReport& report) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CheckedOutput& output : report.checked) {
    all.push_back({{"array", printable(output.array)},
                   {"problem", output.problem + 1},
                   {"largest_value", output.largest_value},
                   {"largest_error", output.largest_error},
                   {"float_error", output.float_error},
                   {"allowed_error", output.allowed_error}});
  }
  return all;
}

}  // namespace

ReportTable launches_table(const GpuRunReport& report) {
  ReportTable table{{"", "blocks", "to SMs counted"}, {}};
  const auto add = [&](const char* title) { table.titles.emplace_back(title); };
  if (report.row.measured && report.row.measured->sm) {
    add("measured");
    add("ratio");
  }
  add("computed");
  if (report.machine) add("ms predicted");
  if (report.times) add(report.machine ? "measured" : "ms");
  if (report.times && report.machine) add("ratio");
  if (report.times) add("rate");
  const auto add_row = [&](const std::string& name, const std::string& blocks,
                           const std::vector<std::string>& cells) {
    std::vector<std::string> all = {name, blocks};
    all.insert(all.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(all));
  };
  for (const Step& step : report.row.steps) {
    add_row(step.name, std::to_string(step.num_blocks), cells_of(step, report));
  }
  if (report.row.steps.size() > 1) add_row("together", "", cells_of(report.row, report));
  return table;
}

ReportTable checks_table(const GpuRunReport& report) {
  ReportTable table{
      {"output", "problem", "largest value", "largest error", "machine in float", "allowed"}, {}};
  for (const CheckedOutput& output : report.checked) {
    table.rows.push_back(
        {printable(output.array),
         std::to_string(output.problem + 1) + " of " + std::to_string(report.problems()),
         short_text(output.largest_value, 3), short_text(output.largest_error, 2),
         short_text(output.float_error, 2), short_text(output.allowed_error, 2)});
  }
  return table;
}

ReportSentences report_sentences(const GpuRunReport& report) {
  ReportSentences said;
  said.before = {problems_text(report), gpu_text(report)};
  if (!report.row.sentence.empty()) said.explanation = report.row.sentence;
  if (!report.times) return said;
  said.times = {times_text(report), kernels_text(*report.times)};
  if (!report.row.measured->why_no_counters.empty()) {
    said.times.push_back("no bytes measured: " + printable(report.row.measured->why_no_counters));
  }
  return said;
}

std::string run_text(const GpuRunReport& report, const Terminal& terminal) {
  const ReportSentences said = report_sentences(report);
  std::string text;
  for (const std::string& sentence : said.before) text += paragraph(sentence, terminal);
  text += "\n" + report_table_text(launches_table(report), terminal);
  if (!said.explanation.empty()) text += "\n" + paragraph(said.explanation, terminal);
  if (!report.times) return text;
  text += "\n";
  for (const std::string& sentence : said.times) text += paragraph(sentence, terminal);
  return text + "\n" + report_table_text(checks_table(report), terminal) + "\n" +
         paragraph(kAboutErrors, terminal);
}

nlohmann::ordered_json run_json(const GpuRunReport& report) {
  nlohmann::ordered_json json{{"format", "flashlab-gpu"},
                              {"version", 1},
                              {"program", printable(report.program.name)},
                              {"params", params_json(report.program.bound)},
                              {"dtype", generate::to_string(report.program.type)},
                              {"batch", report.batch},
                              {"heads", report.heads},
                              {"level", report.program.plan.level()}};
  json["predicted_for"] = nullptr;
  if (report.machine) json["predicted_for"] = report.machine->gpu.name;
  json["gpu"] = gpu_of(report);
  json.update(timed_json(report.row, report));
  if (report.times) json["call_ms"] = report.times->call_ms;
  json["launches"] = launches_json(report);
  json["checked"] = checks_json(report);
  json["sentence"] = report.row.sentence;
  return json;
}

}  // namespace flashlab::cli
