// The roofs of a roofline: one rate per type of product, one rate per memory level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/picture/series.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

struct Roof {
  std::string name;  // "bf16", "bf16 wgmma", "DRAM"
  double per_s = 0;
  bool is_measured = false;
  /// Returns "bf16 640 TFLOP/s, measured".
  std::string text(std::string_view unit) const;
};

struct Roofs {
  std::vector<Roof> products, memories;  // the highest product and the slowest memory first
};

/// Returns the roofs for the types of the panel's rows. Omits rates that the machine lacks.
Roofs roofs_of(const Panel& panel, const MachineModel& machine);

}  // namespace flashlab::compare
