// The roofs of a roofline: a rate a type of product, a rate a memory level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/picture/series.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

struct Roof {
  std::string name;  // "bf16", "DRAM"
  double per_s = 0;
  bool is_measured = false;
  /// "bf16 640 TFLOP/s, measured".
  std::string text(std::string_view unit) const;
};

struct Roofs {
  std::vector<Roof> products, memories;  // the highest product and the slowest memory first
};

/// Of the types that the panel's rows have; rates that the machine does not have are left out.
Roofs roofs_of(const Panel& panel, const MachineModel& machine);

}  // namespace flashlab::compare
