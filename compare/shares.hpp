// How often a prediction holds: what a report says first, and what is asked of the model.
#pragma once

#include <cstdint>
#include <optional>

#include "compare/result_file.hpp"

namespace flashlab::compare {

struct Share {
  std::int64_t within = 0, all = 0;
  double share() const {
    return all == 0 ? 0 : static_cast<double>(within) / static_cast<double>(all);
  }
};

/// A predicted time holds within this share of the measured one, a measured number of bytes within
/// this share of the counted one.
inline constexpr double kTimeTolerance = 0.25, kByteTolerance = 0.05;
/// What is asked from this N on: this share of the times, and every number of bytes.
inline constexpr std::int64_t kAskedLength = 4096;
inline constexpr double kAskedTimeShare = 0.8;

struct Shares {
  Share time;         // rows with a measured time
  Share asked_time;   // of those from kAskedLength on: flash2 on tensor cores, and naive's steps
                      // that memory bounds
  Share bytes;        // rows with measured bytes across the SM boundary
  Share asked_bytes;  // of those from kAskedLength on: flash1, flash2, bwd-twopass
};

Shares shares_of(const Comparison& comparison);

/// predicted / measured; nothing: not measured, or no time at all.
std::optional<double> predicted_over_measured(const Prediction& predicted,
                                              const std::optional<Measurement>& measured);
bool holds_time(double predicted_over_measured);
bool holds_bytes(double measured_over_counted);

}  // namespace flashlab::compare
