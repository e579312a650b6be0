#include "compare/shares.hpp"

#include <cmath>

#include "compare/picture/series.hpp"
#include "compare/picture/units.hpp"

namespace flashlab::compare {
namespace {

void add(Share& share, bool holds) {
  ++share.all;
  share.within += holds ? 1 : 0;
}

bool is_on_tensor_cores(const Row& row) {
  return row.products != "native" || row.dtype == "bf16" || row.dtype == "fp16";
}

bool is_memory_bound(const Step& step) {
  return step.predicted.bound == Bound::kDram || step.predicted.bound == Bound::kSm;
}

void add_times(Shares& shares, const Row& row) {
  const bool is_asked = length_of(row) >= kAskedLength;
  if (const auto ratio = predicted_over_measured(row.predicted, row.measured)) {
    add(shares.time, holds_time(*ratio));
    if (is_asked && row.variant == "flash2" && is_on_tensor_cores(row)) {
      add(shares.asked_time, holds_time(*ratio));
    }
  }
  if (!is_asked || row.variant != "naive") return;
  for (const Step& step : row.steps) {
    const auto ratio = predicted_over_measured(step.predicted, step.measured);
    if (ratio && is_memory_bound(step)) add(shares.asked_time, holds_time(*ratio));
  }
}

void add_bytes(Shares& shares, const Row& row) {
  const auto pair = sm_pair(row);
  if (!pair) return;
  const bool holds = holds_bytes(pair->ratio());
  add(shares.bytes, holds);
  const bool is_tiled =
      row.variant == "flash1" || row.variant == "flash2" || row.variant == "bwd-twopass";
  if (is_tiled && length_of(row) >= kAskedLength) add(shares.asked_bytes, holds);
}

}  // namespace

Shares shares_of(const Comparison& comparison) {
  Shares shares;
  for (const Row& row : comparison.rows) {
    add_times(shares, row);
    add_bytes(shares, row);
  }
  return shares;
}

std::optional<double> predicted_over_measured(const Prediction& predicted,
                                              const std::optional<Measurement>& measured) {
  if (!measured || !measured->median_ms) return std::nullopt;
  const double ms = predicted_ms(predicted);
  if (!is_drawable(*measured->median_ms) || !is_drawable(ms)) return std::nullopt;
  return ms / *measured->median_ms;
}

bool holds_time(double ratio) { return std::fabs(ratio - 1) <= kTimeTolerance; }
bool holds_bytes(double ratio) { return std::fabs(ratio - 1) <= kByteTolerance; }

}  // namespace flashlab::compare
