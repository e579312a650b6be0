// Counters that another program read, put to the row of the call that they are of.
#pragma once

#include <span>
#include <stdexcept>

#include "compare/counters/counter_metrics.hpp"

namespace flashlab::compare {

/// The launches are not those of the row's call: which kernel, how many, how many were expected.
class OtherCallError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Traffic, percentages and, where all launches have one, the time of each step and of the row. The
/// launches may be of one call or of several, which are averaged; kernels that are no step of the
/// row are passed over. Throws OtherCallError: none of the row's kernels, part of a call.
void take_counted_launches(Row& row, std::span<const CountedLaunch> launches);

}  // namespace flashlab::compare
