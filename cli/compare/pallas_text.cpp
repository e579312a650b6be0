// The tables of `flashlab compare` that recompute those of the Pallas post (docs/sources.md).
#include "cli/compare/pallas_text.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "cli/compare/names.hpp"
#include "cli/compare/text.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/text_table.hpp"
#include "compare/rows/sweep.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr double kKib = 1024;
std::string kib(std::int64_t bytes) { return fixed_text(static_cast<double>(bytes) / kKib, 1); }

/// The post's list of what its kernel keeps in shared memory, entry by entry.
std::string budget_table(const Terminal& terminal) {
  using compare::PallasSharedMemory;
  const PallasSharedMemory narrow = compare::pallas_shared_memory(64),
                           wide = compare::pallas_shared_memory(128);
  TextTable table({{"Pallas, tile of 64 x 64"},
                   {"KiB at d 64", Align::kRight},
                   {"KiB at d 128", Align::kRight}});
  const auto row = [&](const char* name, std::int64_t at_64, std::int64_t at_128) {
    table.row({name, fixed_text(static_cast<double>(at_64) / kKib, 2),
               fixed_text(static_cast<double>(at_128) / kKib, 2)});
  };
  row("Q, 16 bits", narrow.Q, wide.Q);
  row("K, 16 bits", narrow.K, wide.K);
  row("V, 16 bits", narrow.V, wide.V);
  row("O, float", narrow.O, wide.O);
  row("S, float", narrow.S, wide.S);
  row("five statistics of each row", narrow.statistics, wide.statistics);
  row("K and V once more: two stages", narrow.second_stage, wide.second_stage);
  row("all", narrow.all(), wide.all());
  return table.to_string(terminal);
}

/// The shared memory of the Pallas post's kernel, beside the limit of the post's GPU and of this one.
std::string pallas_shared_text(std::int64_t limit) {
  const auto of_post = gpu::find_gpu("rtx4000ada");
  const std::int64_t its_limit = of_post ? of_post->shared_memory_per_block_bytes : 0;
  std::string text = "the post's tile of 64 x 64 with two stages takes";
  for (const std::int64_t head_dim : {64, 128}) {
    const compare::PallasSharedMemory memory = compare::pallas_shared_memory(head_dim);
    const std::int64_t sum = memory.all();
    text += (head_dim == 64 ? " " : ", and ") + kib(memory.tile()) + " + " +
            kib(memory.second_stage) + " = " + kib(sum) + " KiB at d " + std::to_string(head_dim) +
            (sum <= its_limit ? " (fits" : " (does not fit") + " into the " + kib(its_limit) +
            " of its GPU" +
            (limit == its_limit ? ""
             : sum <= limit     ? ", fits here"
                                : ", nor here") +
            ")";
  }
  return text;
}

/// The sizes of a T x T matrix of 16 bits, up to the first that does not fit.
std::string square_matrix_table(std::int64_t limit, const Terminal& terminal) {
  TextTable table({{"T x T in 16 bits", Align::kRight},
                   {"KiB", Align::kRight},
                   {"of " + kib(limit), Align::kRight},
                   {"fits"}});
  for (std::int64_t side = 64;; side *= 2) {
    const std::int64_t bytes = 2 * side * side;
    const double share = static_cast<double>(bytes) / static_cast<double>(limit);
    table.row({std::to_string(side), kib(bytes), fixed_text(100 * share, 0) + " %",
               bytes <= limit ? "yes" : "no"});
    if (bytes > limit) return table.to_string(terminal);
  }
}

/// "48 multiprocessors, 99.0 KiB of shared memory per block, 48.0 MiB of L2, 20.0 GB of DRAM at 360
/// GB/s": of the data sheet.
std::string sheet_text(const gpu::GpuSpec& gpu) {
  constexpr double kMib = 1024 * kKib;
  std::string text = std::to_string(gpu.num_sms) + " multiprocessors, " +
                     kib(gpu.shared_memory_per_block_bytes) + " KiB of shared memory per block";
  if (gpu.l2_bytes) {
    text += ", " + fixed_text(static_cast<double>(*gpu.l2_bytes) / kMib, 1) + " MiB of L2";
  }
  if (gpu.memory_bytes > 0) {
    text += ", " + with_prefix(static_cast<double>(gpu.memory_bytes), "B") + " of DRAM";
  }
  if (gpu.dram_bytes_per_s > 0) text += " at " + with_prefix(gpu.dram_bytes_per_s, "B") + "/s";
  return text;
}

/// Bytes as the post counts them. (The prose of --show bytes takes the kernel's own tile.)
std::string post_bytes_table(const compare::Comparison& comparison, const Terminal& terminal) {
  const RowNames names(comparison.rows);
  TextTable table(names.columns({{"formula", Align::kRight}, {"prose", Align::kRight}}));
  for (const compare::Row& row : comparison.rows) {
    std::vector<std::string> cells(2);
    if (row.pallas_bytes) {
      const auto bytes =
          compare::pallas_bytes(row.variant, pallas_shape(row), compare::kPallasBlock);
      cells = {with_prefix(static_cast<double>(bytes.formula), "B"),
               with_prefix(static_cast<double>(bytes.prose), "B")};
    }
    table.row(names.cells(row, cells));
  }
  return "Bytes by the Pallas post, with its tile of " + std::to_string(compare::kPallasBlock) +
         " queries\n" + table.to_string(terminal);
}

/// "65.0": FLOPs per byte; empty if there are no bytes.
std::string per_byte(std::int64_t flops, std::int64_t bytes) {
  if (bytes <= 0) return "";
  return three_digits(static_cast<double>(flops) / static_cast<double>(bytes));
}

}  // namespace

compare::PallasShape pallas_shape(const compare::Row& row) {
  return {row.batch, row.num_heads, row.seqlen_q, row.head_dim,
          size_in_bytes(compare::call_of(row).problem.dtype)};
}

std::string intensity_table(const compare::Comparison& comparison,
                            const compare::MachineModel& machine, const Terminal& terminal) {
  const RowNames names(comparison.rows);
  std::vector<Column> columns = {{"Pallas", Align::kRight}, {"each array once", Align::kRight}};
  const bool is_measured =
      std::any_of(comparison.rows.begin(), comparison.rows.end(),
                  [](const compare::Row& row) { return row.measured && row.measured->dram; });
  if (is_measured) columns.push_back({"measured bytes", Align::kRight});
  if (machine.dram_copy) columns.push_back({"ridge", Align::kRight});
  TextTable table(names.columns(columns));
  for (const compare::Row& row : comparison.rows) {
    const std::int64_t flops = row.work.product_flops + row.work.elementwise_flops + row.work.exps;
    std::vector<std::string> cells = {
        row.pallas_bytes ? per_byte(compare::pallas_flops(row.variant, pallas_shape(row)),
                                    row.pallas_bytes->formula)
                         : "",
        per_byte(flops, row.work.dram.bytes())};
    if (is_measured) {
      cells.push_back(
          row.measured && row.measured->dram ? per_byte(flops, row.measured->dram->bytes()) : "");
    }
    if (machine.dram_copy) {
      cells.push_back(three_digits(machine.product_rate(row.dtype, row.products).per_s /
                                   machine.dram_copy->per_s));
    }
    table.row(names.cells(row, cells));
  }
  return "FLOPs per byte of DRAM\n" + table.to_string(terminal) + "\n" +
         post_bytes_table(comparison, terminal) + "\n" +
         note("sheet", sheet_text(machine.gpu), terminal);
}

std::string shared_memory_table(const compare::Comparison& comparison,
                                const compare::MachineModel& machine, const Terminal& terminal) {
  const std::int64_t limit = machine.gpu.shared_memory_per_block_bytes;
  TextTable table({{"kernel"},
                   {"d", Align::kRight},
                   {"tile", Align::kRight},
                   {"threads", Align::kRight},
                   {"KiB per block", Align::kRight},
                   {"of " + kib(limit), Align::kRight}});
  std::set<std::string> shown;
  for (const compare::Row& row : comparison.rows) {
    for (const compare::Step& step : row.steps) {
      if (step.shared_bytes == 0 || step.block_q <= 1) continue;  // it has no tiles
      const std::string name = printable(step.name + ", " + row.dtype);
      if (!shown.insert(name + std::to_string(row.head_dim)).second) continue;
      const double share = static_cast<double>(step.shared_bytes) / static_cast<double>(limit);
      table.row({name, std::to_string(row.head_dim),
                 std::to_string(step.block_q) + " x " + std::to_string(step.block_kv),
                 std::to_string(step.num_threads), kib(step.shared_bytes),
                 fixed_text(100 * share, 0) + " %"});
    }
  }
  return table.to_string(terminal) + "\n" + note("Pallas", pallas_shared_text(limit), terminal) +
         "\n" + budget_table(terminal) + "\n" + square_matrix_table(limit, terminal);
}

}  // namespace flashlab::cli
