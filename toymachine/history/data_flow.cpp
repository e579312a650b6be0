#include "toymachine/history/data_flow.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace flashlab::toy {
namespace {

/// Whether values of `from` reach `to` by these flows.
bool reaches(const std::vector<ArrayFlow>& flows, std::uint32_t from, std::uint32_t to) {
  return from == to || std::any_of(flows.begin(), flows.end(), [&](const ArrayFlow& flow) {
           return flow.from == from && !flow.goes_back && reaches(flows, flow.to, to);
         });
}

}  // namespace

std::vector<ArrayFlow> array_flows(const RecordedRun& run) {
  std::map<std::int64_t, std::set<std::uint32_t>> origins;  // of the value in each register
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  std::vector<ArrayFlow> flows;
  for (const RecordedStep& step : run.steps) {
    std::set<std::uint32_t> from;
    for (const std::int64_t number : step.register_reads) from.merge(std::set(origins[number]));
    if (step.read) from.insert(step.read->array);
    if (step.stored) {
      for (const std::uint32_t array : from) {
        const std::uint32_t to = step.stored->array;
        if (array == to || !known.insert({array, to}).second) continue;
        flows.push_back({array, to, reaches(flows, to, array)});
      }
    }
    if (step.register_written >= 0) origins[step.register_written] = std::move(from);
  }
  return flows;
}

std::vector<int> flow_depths(const std::vector<ArrayFlow>& flows, std::size_t num_arrays) {
  std::vector<int> depths(num_arrays, 0);
  for (std::size_t round = 0; round < num_arrays; ++round) {  // the longest way has fewer steps
    for (const ArrayFlow& flow : flows) {
      if (!flow.goes_back) depths[flow.to] = std::max(depths[flow.to], depths[flow.from] + 1);
    }
  }
  return depths;
}

}  // namespace flashlab::toy
