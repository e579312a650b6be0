// How long each unit of a multiprocessor works during a kernel, predicted and measured, and which
// of them binds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/comparison.hpp"

namespace flashlab::compare {

struct UnitShare {
  Bound unit = Bound::kDram;
  std::string_view name;                   // "shared memory"
  double ms = 0;                           // if it did nothing else
  double share = 0;                        // of the predicted time
  std::optional<double> measured_percent;  // of the measured one, by the GPU's counters
};

/// Returns the units of a step that its prediction mentions, the busiest first.
std::vector<UnitShare> unit_shares(const Step& step);

/// Returns which unit binds (model/binding_unit.hpp) and what would have to change for the next one
/// to bind: "shared memory binds, busy 62 % of the predicted time; with 23 % less of it, products
/// would bind, and it would take 88 % of the time". The time of a step is above that of its slowest
/// unit, because few warps share the units: the sentence says how many.
std::string binding_sentence(const Step& step);

/// Returns the same of a call's kernels together, "all kernels: DRAM binds; without it, they would
/// take 24 % of the time". Empty: there are no two of them.
std::string binding_sentence(const Row& row);

}  // namespace flashlab::compare
