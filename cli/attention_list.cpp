#include "cli/attention_list.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/attention_cuda.hpp"
#include "cli/attention_report.hpp"
#include "cli/failure.hpp"
#include "cli/text_table.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::ordered_json;
using Kernels = std::optional<std::vector<ListedKernel>>;

ordered_json kernels_json(const std::vector<ListedKernel>& kernels, std::string_view variant) {
  ordered_json result = ordered_json::array();
  for (const ListedKernel& kernel : kernels) {
    if (kernel.variant != variant) continue;
    ordered_json arithmetic = ordered_json::array();
    for (const auto& [dtype, products] : kernel.arithmetic) {
      arithmetic.push_back({{"dtype", dtype}, {"products", products}});
    }
    result.push_back({{"kernel", kernel.stem},
                      {"compute_capability", kernel.compute_capability},
                      {"arithmetic", std::move(arithmetic)},
                      {"source", kernel.source}});
  }
  return result;
}

void print_json(const Kernels& kernels) {
  ordered_json rows = ordered_json::array();
  for (const VariantInfo& variant : variants()) {
    ordered_json row = {{"variant", variant.name},
                        {"pass", to_string(variant.pass)},
                        {"summary", variant.summary},
                        {"source", variant.source}};
    if (kernels) row["gpu_kernels"] = kernels_json(*kernels, variant.name);
    rows.push_back(std::move(row));
  }
  const ordered_json document = {{"format", "flashlab-attention-variants"},
                                 {"version", kAttentionJsonVersion},
                                 {"built_with_cuda", kernels.has_value()},
                                 {"variants", std::move(rows)}};
  std::cout << document.dump(2) << "\n";
}

/// "float, float tf32, bf16": native products go without saying.
std::string arithmetic_text(const ListedKernel& kernel) {
  std::string text;
  for (const auto& [dtype, products] : kernel.arithmetic) {
    text += (text.empty() ? "" : ", ") + dtype + (products == "native" ? "" : " " + products);
  }
  return text;
}

void print_text(const Kernels& kernels, const Terminal& terminal) {
  TextTable variant_table({{"variant"}, {"pass"}, {"what it does"}, {"source"}});
  for (const VariantInfo& variant : variants()) {
    variant_table.row({std::string(variant.name), std::string(to_string(variant.pass)),
                       std::string(variant.summary), std::string(variant.source)});
  }
  std::cout << variant_table.to_string(terminal) << "\n"
            << in_lines("On the CPU each runs in float, double, bf16 and fp16.", terminal);
  if (!kernels) {
    std::cout << in_lines("GPU: flashlab was built without CUDA.", terminal);
    return;
  }
  TextTable kernel_table({{"GPU kernel"}, {"variant"}, {"from"}, {"numbers"}});
  for (const ListedKernel& kernel : *kernels) {
    kernel_table.row(
        {kernel.stem, kernel.variant, kernel.compute_capability, arithmetic_text(kernel)});
  }
  std::cout << "\n"
            << kernel_table.to_string(terminal) << "\n"
            << in_lines(
                   "from: the least compute capability; tf32, tf32x3: --products; of several "
                   "that can, a variant takes the last.",
                   terminal);
}

}  // namespace

int list_attention(const AttentionFlags& flags) {
  const Kernels kernels = gpu_kernels();
  if (flags.json) {
    print_json(kernels);
  } else {
    print_text(kernels, flags.terminal.terminal());
  }
  return kExitGood;
}

}  // namespace flashlab::cli
