#include "compare/counters/counter_metrics.hpp"

#include <algorithm>
#include <cmath>

namespace flashlab::compare {
namespace {

using Value = std::optional<double>;
using Launches = std::vector<const CountedLaunch*>;

Value value_of(const CountedLaunch& launch, Counter counter) {
  return launch.values[static_cast<std::size_t>(counter)];
}

Value sum(const Launches& launches, Counter counter) {
  double result = 0;
  for (const CountedLaunch* launch : launches) {
    const Value value = value_of(*launch, counter);
    if (!value) return std::nullopt;
    result += *value;
  }
  return result;
}

/// A single launch needs no weights.
Value mean_over_time(const Launches& launches, Counter counter) {
  if (launches.size() == 1) return value_of(*launches.front(), counter);
  double weighted = 0, time = 0;
  for (const CountedLaunch* launch : launches) {
    const Value value = value_of(*launch, counter);
    const Value duration = value_of(*launch, Counter::kTime);
    if (!value || !duration) return std::nullopt;
    weighted += *value * *duration;
    time += *duration;
  }
  return time > 0 ? Value(weighted / time) : std::nullopt;
}

/// Returns both directions or nothing, because half of the traffic would look like all of it.
std::optional<Traffic> traffic(const Launches& launches, Counter read, Counter written) {
  const Value bytes_read = sum(launches, read);
  const Value bytes_written = sum(launches, written);
  if (!bytes_read || !bytes_written) return std::nullopt;
  return Traffic{std::llround(*bytes_read), std::llround(*bytes_written)};
}

Measurement counters_of(const Launches& launches) {
  Measurement result;
  result.dram = traffic(launches, Counter::kDramRead, Counter::kDramWritten);
  result.sm = traffic(launches, Counter::kSmRead, Counter::kSmWritten);
  result.tensor_percent = mean_over_time(launches, Counter::kTensor);
  result.exp_percent = mean_over_time(launches, Counter::kExp);
  result.issue_percent = mean_over_time(launches, Counter::kIssue);
  result.shared_percent = mean_over_time(launches, Counter::kShared);
  if (!result.dram && !result.sm && !result.tensor_percent && !result.exp_percent &&
      !result.issue_percent && !result.shared_percent) {
    result.why_no_counters = "none of the requested metrics was counted";
  }
  return result;
}

}  // namespace

const std::array<CounterMetric, kNumCounters>& counter_metrics() {
  static constexpr std::array<CounterMetric, kNumCounters> kMetrics = {{
      {Counter::kDramRead, {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
      {Counter::kDramWritten, {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
      {Counter::kSmRead, {"l1tex__m_xbar2l1tex_read_bytes.sum", ""}},
      {Counter::kSmWritten, {"l1tex__m_l1tex2xbar_write_bytes.sum", ""}},
      {Counter::kTensor,
       {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
      {Counter::kExp, {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", ""}},
      {Counter::kIssue,
       {"sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
        "sm__inst_issued.avg.pct_of_peak_sustained_elapsed"}},
      {Counter::kShared,
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", ""}},
      {Counter::kTime, {"gpu__time_duration.sum", ""}},
  }};
  return kMetrics;
}

std::string metric_list() {
  std::string list;
  for (const CounterMetric& metric : counter_metrics()) {
    if (!list.empty()) list += ',';
    list += metric.names.front();
  }
  return list;
}

std::vector<CountedRange> together(std::span<const CountedLaunch> launches) {
  std::vector<Launches> groups;
  for (const CountedLaunch& launch : launches) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Launches& candidate) {
      return candidate.front()->name == launch.name;
    });
    if (group == groups.end()) group = groups.insert(group, Launches{});
    group->push_back(&launch);
  }
  std::vector<CountedRange> result;
  for (const Launches& group : groups) {
    result.push_back({group.front()->name, counters_of(group)});
  }
  return result;
}

}  // namespace flashlab::compare
