// The table of docs/counts_beside_counters.md names the units that bind the kernels of the fresh
// sweep.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compare/model/binding_unit.hpp"
#include "compare/report/unit_shares.hpp"
#include "results/result_file.hpp"
#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"
#include "text/lists.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

/// The rows of the sweep that a line of the table is about.
struct TableLine {
  const char* label;
  std::vector<std::string> kernels;  // as the beginnings of their names
  std::string dtype, products;
  std::vector<std::int64_t> head_dims = {64, 128, 256};
};

const std::vector<std::string> kKernelsInFp32 = {"flash2_fp32", "bwd_onepass_fp32",
                                                 "bwd_twopass_fp32"},
                               kKernelsInTf32 = {"flash2_mma_tf32", "bwd_onepass_mma_tf32",
                                                 "bwd_twopass_mma_tf32"},
                               kBackwardInTf32 = {"bwd_onepass_mma_tf32", "bwd_twopass_mma_tf32"};

const std::vector<TableLine>& table_lines() {
  static const std::vector<TableLine> lines = {
      {"naive, bf16", {"naive"}, "bf16", "native"},
      {"naive, fp32", {"naive"}, "float", "native"},
      {"bwd-naive, fp32", {"bwd_naive"}, "float", "native"},
      {"fused-softmax", {"fused_softmax"}, "bf16", "native"},
      {"flash1", {"flash1"}, "float", "native"},
      {"online, three-pass", {"online", "three_pass"}, "float", "native"},
      {"split-kv, fp32", {"split_kv"}, "float", "native"},
      {"split-kv, bf16", {"split_kv_mma"}, "bf16", "native"},
      {"flash2 and the backward pass, fp32", kKernelsInFp32, "float", "native"},
      {"flash2, `mma.sync`, d 64, 128", {"flash2_mma_sm80"}, "bf16", "native", {64, 128}},
      {"flash2, `mma.sync`, d 256", {"flash2_mma_sm80"}, "bf16", "native", {256}},
      {"flash2 and the backward pass, tf32", kKernelsInTf32, "float", "tf32"},
      {"flash2, tf32x3", {"flash2_mma_tf32"}, "float", "tf32x3"},
      {"the backward pass, tf32x3", kBackwardInTf32, "float", "tf32x3"},
      {"bwd-onepass, bwd-twopass, `mma.sync`",
       {"bwd_onepass_mma_sm80", "bwd_twopass_mma_sm80"},
       "bf16",
       "native"},
      {"flash2, `wgmma`", {"flash2_wgmma"}, "bf16", "native"},
      {"bwd-onepass, `wgmma`", {"bwd_onepass_wgmma"}, "bf16", "native"},
      {"bwd-twopass, `wgmma`", {"bwd_twopass_wgmma"}, "bf16", "native"},
      {"bwd-onepass, `wgmma`, d 256", {"bwd_onepass_pair"}, "bf16", "native", {256}},
      {"flash2, fp16x3", {"flash2_fp16x3"}, "float", "fp16x3"},
      {"bwd-onepass, fp16x3", {"bwd_onepass_fp16x3"}, "float", "fp16x3"}};
  return lines;
}

/// Without a mask, the longest of each kernel and head_dim; in the order of the kernels, then
/// head_dims.
std::vector<const Row*> rows_of_line(const TableLine& line, const std::vector<Row>& rows) {
  std::vector<const Row*> found;
  for (const std::string& kernel : line.kernels) {
    for (const std::int64_t head_dim : line.head_dims) {
      const Row* longest = nullptr;
      for (const Row& row : rows) {
        if (!row.kernel.starts_with(kernel) || row.dtype != line.dtype || row.mask != "none" ||
            row.products != line.products || row.head_dim != head_dim) {
          continue;
        }
        if (longest == nullptr || row.seqlen_q > longest->seqlen_q) longest = &row;
      }
      if (longest != nullptr) found.push_back(longest);
    }
  }
  return found;
}

std::string whole_percent(double percent) { return std::to_string(std::lround(percent)); }

/// "| label | units | busy |".
std::string expected_line(const TableLine& line, const std::vector<Row>& rows) {
  std::vector<std::string> units;
  std::vector<double> busy;
  for (const Row* const row : rows_of_line(line, rows)) {
    const auto binding = binding_unit(*row);
    REQUIRE(binding);
    const std::string name(unit_name(binding->unit));
    if (std::ranges::find(units, name) == units.end()) units.push_back(name);
    REQUIRE(binding->kernel != nullptr);
    if (binding->kernel->predicted.warps <= 0) continue;  // a library's product
    for (const UnitShare& unit : unit_shares(*binding->kernel)) {
      if (unit.unit == binding->unit && unit.measured_percent)
        busy.push_back(*unit.measured_percent);
    }
  }
  constexpr std::size_t kMostInTurn = 3;
  std::string text = joined(busy, ", ", whole_percent);
  if (busy.size() > kMostInTurn) {
    text = whole_percent(*std::ranges::min_element(busy)) + " to " +
           whole_percent(*std::ranges::max_element(busy));
  }
  return "| " + std::string(line.label) + " | " + joined(units) + " |" +
         (text.empty() ? " " : " " + text + " ") + "| ";
}

}  // namespace

TEST_CASE("the page's table has the unit that binds each kernel, and how busy it was",
          "[compare]") {
  const std::vector<Row> rows = parse_comparison(committed_result("h200_fresh").value()).rows;
  const std::string page =
      read_source(std::string(FLASHLAB_SOURCE_DIR) + "/docs/counts_beside_counters.md");
  for (const TableLine& line : table_lines()) {
    const std::string expected = expected_line(line, rows);
    INFO(expected);
    CHECK(page.find("\n" + expected) != std::string::npos);
  }
  const std::size_t begin = page.find("\n|---|---|---|---|\n"), end = page.find("\n\n", begin);
  REQUIRE(begin < end);
  const std::string table = page.substr(begin, end - begin);
  CHECK(std::ranges::count(table, '\n') == 1 + static_cast<std::ptrdiff_t>(table_lines().size()));
}

TEST_CASE("the lines of the page's table are about all kernels of the sweep in these types",
          "[compare]") {
  const std::vector<Row> rows = parse_comparison(committed_result("h200_fresh").value()).rows;
  std::set<std::string> told, all;
  for (const TableLine& line : table_lines()) {
    for (const Row* const row : rows_of_line(line, rows)) told.insert(row->kernel + row->products);
  }
  for (const Row& row : rows) all.insert(row.kernel + row.products);
  CHECK(told == all);
}

}  // namespace flashlab::test
