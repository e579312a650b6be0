#include "compare/picture/roofs.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "attention_cuda/kernel_listing.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

/// The instruction that multiplies in the row's kernel, as in KernelListing.
std::string_view product_instruction(const Row& row) {
  const auto listings = cuda::kernel_listings();
  const auto found = std::ranges::find(listings, row.kernel, &cuda::KernelListing::stem);
  return found == listings.end() ? std::string_view() : found->product_instruction;
}

/// Returns nothing if the machine has no rate for this type.
std::optional<Roof> product_roof(const Row& row, const MachineModel& machine) {
  try {
    const std::string_view instruction = product_instruction(row);
    const Rate rate = machine.product_rate(row.dtype, row.products, instruction);
    if (!is_drawable(rate.per_s)) return std::nullopt;
    const std::string suffix = instruction.empty() ? "" : " " + std::string(instruction);
    return Roof{dtype_text(row) + suffix, rate.per_s, rate.is_measured};
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

std::string Roof::text(std::string_view unit) const {
  return name + " " + si_text(per_s, unit) + (is_measured ? ", measured" : ", data sheet");
}

Roofs roofs_of(const Panel& panel, const MachineModel& machine) {
  Roofs roofs;
  for (const Series& series : panel.series) {
    const auto roof = product_roof(*series.rows[0], machine);
    const auto has_name = [&](const Roof& other) { return other.name == roof->name; };
    if (roof && std::none_of(roofs.products.begin(), roofs.products.end(), has_name)) {
      roofs.products.push_back(*roof);
    }
  }
  std::sort(roofs.products.begin(), roofs.products.end(),
            [](const Roof& a, const Roof& b) { return a.per_s > b.per_s; });
  const auto add = [&](std::string name, const std::optional<Rate>& rate) {
    if (rate && is_drawable(rate->per_s)) {
      roofs.memories.push_back({std::move(name), rate->per_s, rate->is_measured});
    }
  };
  add("DRAM", machine.dram_copy);
  add("L2 to SM", machine.sm);
  std::sort(roofs.memories.begin(), roofs.memories.end(),
            [](const Roof& a, const Roof& b) { return a.per_s < b.per_s; });
  return roofs;
}

}  // namespace flashlab::compare
