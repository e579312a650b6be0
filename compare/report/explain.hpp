// One sentence that says what a row's figures show. It is made from the figures alone, so that the
// same figures always get the same sentence, and each clause stands on a number that it names.
#pragma once

#include <string>

#include "results/comparison.hpp"

namespace flashlab::compare {

/// From which figure on a clause is said.
struct ExplainLimits {
  double close = 0.25;           // a time this near to the prediction is "as predicted"
  double launch_share = 0.4;     // of the measured (or predicted) time
  double fill = 0.75;            // below: too few tiles
  double extra_bytes = 0.05;     // over the SM boundary, beyond what was counted
  double absorbed = 0.5;         // of the re-loads, by L2
  double exp_to_products = 0.5;  // exponentials beside the products
  double busy_percent = 65;      // a unit that explains slowness
};

/// `num_sms`: of the GPU, for "32 blocks on 132 SMs".
std::string explain(const Row& row, std::int64_t num_sms, const ExplainLimits& limits = {});

/// The row's longest step by prediction. Throws std::out_of_range: no steps.
const Step& longest_step(const Row& row);

}  // namespace flashlab::compare
