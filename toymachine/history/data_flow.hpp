// Which arrays a run computes from which others: its computational graph.
#pragma once

#include <cstdint>
#include <vector>

#include "toymachine/history/recorded_run.hpp"

namespace flashlab::toy {

/// Values of `from` that were loaded reached, through registers alone, a value stored to `to`.
/// `goes_back`: values of `to` had already reached `from`, as where a program normalizes P by the
/// sum of its rows.
struct ArrayFlow {
  std::uint32_t from = 0, to = 0;
  bool goes_back = false;

  friend auto operator<=>(const ArrayFlow&, const ArrayFlow&) = default;
};

/// Returns the flows between different arrays, each once, in the order in which they happened.
std::vector<ArrayFlow> array_flows(const RecordedRun& run);

/// Returns for each array the longest way of flows that leads to it, without those that go back: 0
/// if nothing flows there.
std::vector<int> flow_depths(const std::vector<ArrayFlow>& flows, std::size_t num_arrays);

}  // namespace flashlab::toy
