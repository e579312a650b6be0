#include "compare/picture/roofs.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

/// Returns nothing if the machine has no rate for this type.
std::optional<Roof> product_roof(const Row& row, const MachineModel& machine) {
  try {
    const Rate rate = machine.product_rate(row.dtype, row.products);
    if (!is_drawable(rate.per_s)) return std::nullopt;
    return Roof{dtype_text(row), rate.per_s, rate.is_measured};
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
