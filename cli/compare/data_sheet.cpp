#include "cli/compare/data_sheet.hpp"

#include <optional>
#include <vector>

#include "cli/compare/text.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using compare::MachineModel;
using compare::Rate;

struct SheetLine {
  std::string name, sheet, measured;
};

std::string binary_size(std::int64_t bytes) {
  constexpr double kKiB = 1024;
  const double kib = static_cast<double>(bytes) / kKiB;
  return kib < kKiB ? short_text(kib) + " KiB" : short_text(kib / kKiB) + " MiB";
}

/// Without a value, no line.
void add_size(std::vector<SheetLine>& lines, const std::string& name, double value,
              const std::string& text) {
  if (value > 0) lines.push_back({name, text, ""});
}

std::vector<SheetLine> sheet_sizes(const gpu::GpuSpec& gpu) {
  std::vector<SheetLine> lines;
  const auto number = [&](const std::string& name, double value, const std::string& unit = "") {
    add_size(lines, name, value, short_text(value) + unit);
  };
  constexpr double kGiga = 1e9;
  lines.push_back({"compute capability", gpu.compute_capability, ""});
  number("multiprocessors (SMs)", static_cast<double>(gpu.num_sms));
  number("highest clock", gpu.boost_clock_hz / kGiga, " GHz");
  if (gpu.tensor_boost_clock_hz != gpu.boost_clock_hz) {
    number("clock of the products' rates", gpu.tensor_boost_clock_hz / kGiga, " GHz");
  }
  number("memory", static_cast<double>(gpu.memory_bytes) / kGiga, " GB");
  if (gpu.l2_bytes) lines.push_back({"L2", binary_size(*gpu.l2_bytes), ""});
  for (const auto& [name, bytes] :
       {std::pair{"shared memory of an SM", gpu.shared_memory_per_sm_bytes},
        std::pair{"shared memory of a block", gpu.shared_memory_per_block_bytes}}) {
    add_size(lines, name, static_cast<double>(bytes), binary_size(bytes));
  }
  number("per clock and SM: instructions of warps", gpu.instructions_per_clock_per_sm);
  number("per clock and SM: additions", gpu.additions_per_clock_per_sm);
  number("per clock and SM: exponentials", gpu.exps_per_clock_per_sm);
  number("per clock and SM: shared memory", gpu.shared_bytes_per_clock_per_sm, " B");
  return lines;
}

std::string rate_text(const std::optional<Rate>& rate, const std::string& unit) {
  return rate ? with_prefix(rate->per_s, unit) : "";
}

std::vector<SheetLine> sheet_rates(const MachineModel& machine) {
  const MachineModel sheet = compare::machine_model(machine.gpu);
  std::vector<SheetLine> lines;
  const auto rate = [&](const std::string& name, const std::optional<Rate>& promised,
                        const std::optional<Rate>& used, const std::string& unit) {
    const bool is_measured = used && used->is_measured;
    if (!promised && !is_measured) return;
    lines.push_back(
        {name, rate_text(promised, unit), is_measured ? rate_text(used, unit) : std::string()});
  };
  const auto product = [](const MachineModel& model, const std::string& type) {
    const auto found = model.products.find(type);
    return found == model.products.end() ? std::nullopt : std::optional(found->second);
  };
  rate("DRAM, copied", sheet.dram_copy, machine.dram_copy, "B/s");
  rate("DRAM, read", sheet.dram_read, machine.dram_read, "B/s");
  rate("L2 to SMs", sheet.sm, machine.sm, "B/s");
  rate("additions to sums in L2", sheet.additions, machine.additions, "B/s");
  rate("the same in bulk", sheet.bulk_additions, machine.bulk_additions, "B/s");
  for (const auto& [type, used] : machine.products) {
    rate("products, " + type, product(sheet, type), used, "FLOP/s");
  }
  rate("maxima and sums", sheet.elementwise, machine.elementwise, "op/s");
  rate("divisions", sheet.divisions, machine.divisions, "op/s");
  rate("exponentials", sheet.exps, machine.exps, "op/s");
  if (machine.launch_s) {
    constexpr double kMicro = 1e6;
    lines.push_back({"a launch", "", three_digits(kMicro * *machine.launch_s) + " us"});
  }
  return lines;
}

}  // namespace

std::string data_sheet_table(const MachineModel& machine, const Terminal& terminal) {
  std::vector<SheetLine> lines = sheet_sizes(machine.gpu);
  bool is_measured = false;
  for (const SheetLine& line : sheet_rates(machine)) {
    is_measured = is_measured || !line.measured.empty();
    lines.push_back(line);
  }
  std::vector<Column> columns = {{printable(machine.gpu.name)}, {"data sheet", Align::kRight}};
  if (is_measured) columns.push_back({"measured", Align::kRight});
  TextTable table(columns);
  for (const SheetLine& line : lines) {
    std::vector<std::string> cells = {printable(line.name), line.sheet};
    if (is_measured) cells.push_back(line.measured);
    table.row(cells);
  }
  std::string text = table.to_string(terminal);
  for (const std::string& source : machine.gpu.sources) {
    text += "\n" + wrapped("from " + source, terminal.width);
  }
  return text;
}

}  // namespace flashlab::cli
