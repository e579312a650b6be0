// How long each unit of a multiprocessor works during a kernel, predicted and measured, and which of
// them binds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/comparison.hpp"

namespace flashlab::compare {

struct UnitShare {
  std::string_view name;                   // "shared memory"
  double ms = 0;                           // if it did nothing else
  double share = 0;                        // of the predicted time
  std::optional<double> measured_percent;  // of the measured one, by the GPU's counters
};

/// Returns the units of a step that its prediction mentions, the busiest first.
std::vector<UnitShare> unit_shares(const Step& step);

/// Returns the time that the warps of a multiprocessor need if its units take this long (the members of
/// `units` but the first two: products_ms, …): the formula of model/unit_cycles.hpp. Waves that are
/// not full, loads and launches come on top.
double shared_ms_of(const Prediction& units);

/// Returns which unit binds and what would have to change for the next one to bind: "shared memory
/// binds, busy 62 % of the predicted time; with 23 % less of it, products would bind, and it would take
/// 88 % of the time". The time of a step is above that of its slowest unit, because few warps share the
/// units: the sentence says how many.
std::string binding_sentence(const Step& step);

}  // namespace flashlab::compare
