#include "exercises/grader/grade/course.hpp"

#include <algorithm>

#include "exercises/grader/judge/records.hpp"

namespace flashlab::exercises {
namespace {

ProgressState state_of(const Verdict& verdict) {
  if (verdict.outcome == Outcome::kFull) return ProgressState::kFull;
  return verdict.passed() ? ProgressState::kPassed : ProgressState::kStarted;
}

ProgressResult result_of(const std::string& id, const Verdict& verdict, const CheckedAt& checked) {
  ProgressResult result{id, checked.when, verdict.points, {}, checked.file};
  for (const CostLine& line : verdict.costs) result.costs[line.key] = line.value;
  if (verdict.registers) {
    result.costs[std::string(kRegisters)] = toy::Count(verdict.registers->value);
  }
  return result;
}

}  // namespace

std::string next_after(const std::vector<std::string>& ids, const Progress& progress,
                       const std::string& id) {
  const auto open = [&](const std::string& other) { return !progress.passed(other); };
  const auto here = std::find(ids.begin(), ids.end(), id);
  const auto after = here == ids.end() ? ids.begin() : here + 1;
  auto found = std::find_if(after, ids.end(), open);
  if (found == ids.end()) found = std::find_if(ids.begin(), ids.end(), open);
  return found == ids.end() ? "" : *found;
}

std::string next_exercise(const std::vector<std::string>& ids, const Progress& progress) {
  const std::string& current = progress.current();
  const bool known = std::find(ids.begin(), ids.end(), current) != ids.end();
  return known && !progress.passed(current) ? current : next_after(ids, progress, current);
}

double best_points(const ProgressEntry* entry, const Exercise& exercise) {
  return entry == nullptr ? 0 : std::min(entry->points, exercise.max_points());
}

void record_verdict(Progress& progress, const std::string& id, const Verdict& verdict,
                    const CheckedAt& checked) {
  ProgressEntry& entry = progress.entry(id);
  ++entry.checks;
  entry.points = std::max(entry.points, verdict.points);
  entry.state = std::max(entry.state, state_of(verdict));
  progress.set_current(id);
  if (verdict.points > 0 && !checked.when.empty()) {
    progress.add_result(result_of(id, verdict, checked));
  }
}

}  // namespace flashlab::exercises
