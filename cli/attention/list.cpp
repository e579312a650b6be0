#include "cli/attention/list.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "attention_cuda/door/door.hpp"
#include "attention_cuda/kernel_listing.hpp"
#include "cli/attention/report.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

nlohmann::ordered_json kernels_json(std::string_view variant) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) {
    if (kernel.variant != variant) continue;
    nlohmann::ordered_json arithmetic = nlohmann::ordered_json::array();
    for (const auto& [dtype, products] : kernel.arithmetic) {
      arithmetic.push_back({{"dtype", to_string(dtype)}, {"products", to_string(products)}});
    }
    result.push_back(
        {{"kernel", kernel.stem},
         {"compute_capability", cuda::compute_capability_text(kernel.min_compute_capability)},
         {"arithmetic", std::move(arithmetic)},
         {"windows", kernel.takes_windows},
         {"packed_sequences", kernel.takes_packed},
         {"state", kernel.takes_state},
         {"source", kernel.source}});
    if (kernel.max_compute_capability != 0) {
      result.back()["max_compute_capability"] =
          cuda::compute_capability_text(kernel.max_compute_capability);
    }
  }
  return result;
}

void print_list_json() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const VariantInfo& variant : variants()) {
    nlohmann::ordered_json row = {{"variant", variant.name},
                                  {"pass", to_string(variant.pass)},
                                  {"summary", variant.summary},
                                  {"source", variant.source},
                                  {"gpu_kernels", kernels_json(variant.name)}};
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json document = {
      {"format", "flashlab-attention-variants"},
      {"version", kAttentionJsonVersion},
      {"has_gpu_library", cuda::door::why_no_library().empty()},
      {"variants", std::move(rows)}};
  std::cout << document.dump(2) << "\n";
}

/// "float, float tf32, bf16": native products are not mentioned.
std::string arithmetic_text(const cuda::KernelListing& kernel) {
  std::string text;
  for (const auto& [dtype, products] : kernel.arithmetic) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(dtype));
    if (products != cuda::Products::kNative) text += " " + std::string(to_string(products));
  }
  return text;
}

/// "8.0", or "9.0 only".
std::string generations_text(const cuda::KernelListing& kernel) {
  const std::string first = cuda::compute_capability_text(kernel.min_compute_capability);
  if (kernel.max_compute_capability == 0) return first;
  const std::string last = cuda::compute_capability_text(kernel.max_compute_capability);
  return first == last ? first + " only" : first + " to " + last;
}

void print_list_text(const Terminal& terminal) {
  TextTable variant_table({{"variant"}, {"pass"}, {"what it does"}, {"source"}});
  for (const VariantInfo& variant : variants()) {
    variant_table.row({std::string(variant.name), std::string(to_string(variant.pass)),
                       std::string(variant.summary), std::string(variant.source)});
  }
  std::cout << variant_table.to_string(terminal) << "\n"
            << in_lines("On the CPU each runs in float, double, bf16 and fp16.", terminal);
  TextTable kernel_table(
      {{"GPU kernel"}, {"variant"}, {"from"}, {"windows"}, {"packed"}, {"numbers"}});
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) {
    kernel_table.row({std::string(kernel.stem), std::string(kernel.variant),
                      generations_text(kernel), kernel.takes_windows ? "yes" : "no",
                      kernel.takes_packed ? "yes" : "no", arithmetic_text(kernel)});
  }
  std::cout
      << "\n"
      << kernel_table.to_string(terminal) << "\n"
      << in_lines(
             "from: the least compute capability; windows: takes --window; packed: takes packed "
             "sequences (cu_seqlens); tf32, tf32x3, fp16x3: values of --products. A "
             "variant runs the last kernel that supports the call, unless --kernel names one.",
             terminal);
  const std::string why_not = cuda::door::why_no_library();
  if (!why_not.empty()) std::cout << in_lines("Not available here: " + why_not + ".", terminal);
}

}  // namespace

int list_attention(const AttentionFlags& flags) {
  if (flags.json) {
    print_list_json();
  } else {
    print_list_text(flags.terminal.terminal());
  }
  return kExitGood;
}

}  // namespace flashlab::cli
