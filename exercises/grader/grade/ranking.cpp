#include "exercises/grader/grade/ranking.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "exercises/grader/exercise/count_keys.hpp"

namespace flashlab::exercises {
namespace {

toy::Count dram_bytes(const Attempt& attempt) {
  return count_of("dram_bytes", attempt.counters, *attempt.bound);
}

/// Each input once and each output once.
toy::Count compulsory_bytes(const toy::BoundProgram& bound) {
  toy::Count bytes = 0;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role == toy::ArrayRole::kTemp) continue;
    bytes += toy::Count(array.size) * toy::element_bytes(array.element_type);
  }
  return bytes;
}

std::optional<RankedTraffic> traffic_of(const ProgramTask& task, const RankedProgram& one,
                                        const std::vector<Attempt>& attempts) {
  RankedTraffic traffic{one.name, {}};
  for (const Attempt& mine : attempts) {
    const Attempt theirs = count_attempt(task, one.program, *mine.sized);
    if (!theirs.refusal.empty()) return std::nullopt;
    traffic.bytes.push_back(dram_bytes(theirs));
  }
  return traffic;
}

toy::Count total_bytes(const std::vector<toy::Count>& counts) {
  return std::accumulate(counts.begin(), counts.end(), toy::Count(0));
}

}  // namespace

Ranking rank(const ProgramTask& task, const std::vector<Attempt>& attempts) {
  Ranking ranking;
  RankedTraffic mine;
  for (const Attempt& attempt : attempts) {
    ranking.sizes.push_back(attempt.sized->size);
    ranking.lower_bound.push_back(compulsory_bytes(*attempt.bound));
    mine.bytes.push_back(dram_bytes(attempt));
  }
  ranking.programs.push_back(std::move(mine));
  for (const RankedProgram& one : task.beside) {
    if (auto traffic = traffic_of(task, one, attempts)) {
      ranking.programs.push_back(std::move(*traffic));
    }
  }
  std::stable_sort(ranking.programs.begin(), ranking.programs.end(),
                   [](const RankedTraffic& a, const RankedTraffic& b) {
                     return total_bytes(a.bytes) > total_bytes(b.bytes);
                   });
  return ranking;
}

}  // namespace flashlab::exercises
