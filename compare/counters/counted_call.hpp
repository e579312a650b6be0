// Assigns counters that another program read to the row of their call.
#pragma once

#include <span>
#include <stdexcept>

#include "compare/counters/counter_metrics.hpp"

namespace flashlab::compare {

/// The launches do not match the row's call: which kernel, how many, how many were expected.
class OtherCallError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Sets traffic, percentages and, if all launches have one, the time of each step and of the row.
/// The launches may be of one call or of several, which are averaged. Kernels that are not steps of
/// the row are ignored. Throws OtherCallError: none of the row's kernels, only a part of a call.
void take_counted_launches(Row& row, std::span<const CountedLaunch> launches);

}  // namespace flashlab::compare
