// Writes one sentence that explains a row's figures. It depends only on the figures, and each
// clause names the number that it follows from. The unit that binds is that of the predicted time
// (model/binding_unit.hpp), as in all tables; why a call was slower, the GPU's counters say.
#pragma once

#include <string>

#include "results/comparison.hpp"

namespace flashlab::compare {

/// Thresholds for the clauses.
struct ExplainLimits {
  double close = 0.25;           // a time this near to the prediction is "as predicted"
  double whole = 0.9;            // of a call: its longest kernel is not named
  double fill = 0.75;            // below: too few tiles
  double extra_bytes = 0.05;     // at the SM boundary, beyond the counted bytes
  double absorbed = 0.5;         // of repeated loads, by L2
  double exp_to_products = 0.5;  // time of exponentials relative to products
  double busy_percent = 65;      // of a unit that can explain slowness
};

/// Returns the sentence. `num_sms`: of the GPU, for "32 blocks on 132 SMs".
std::string explain(const Row& row, std::int64_t num_sms, const ExplainLimits& limits = {});

/// Returns the row's longest step by prediction. Throws std::out_of_range: no steps.
const Step& longest_step(const Row& row);

}  // namespace flashlab::compare
