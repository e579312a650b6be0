#include "exercises/grader/grade/cost_judge.hpp"

#include <utility>

#include "exercises/grader/exercise/count_keys.hpp"
#include "text/digits.hpp"

namespace flashlab::exercises {
namespace {

std::string at_size_text(const Size& size) { return size.empty() ? "" : " at " + to_string(size); }

/// "28 loads", or "28 loads (12 of them by ATOMIC_ADD)".
std::string count_text(const std::string& key, const toy::Count& value, const Attempt& attempt) {
  const toy::Count updates = updates_in(key, attempt.counters, *attempt.bound);
  return grouped(value.get_str()) + " " + key +
         (updates == 0 ? "" : " (" + grouped(updates.get_str()) + " of them by ATOMIC_ADD)");
}

}  // namespace

void CostJudge::add(const Attempt& attempt) {
  const Size& size = attempt.sized->size;
  CostScore here = score_cost(task_, attempt);
  if (too_costly_ == nullptr && !(here.full() && here.accepted())) too_costly_ = attempt.sized;
  for (const Excess& excess : here.excesses) {
    if (!exceeded_.insert(excess.key).second) continue;
    excesses_.push_back(count_text(excess.key, excess.value, attempt) + at_size_text(size) +
                        ", at most " + grouped(excess.most.get_str()) + " are accepted");
  }
  for (std::size_t i = 0; i < here.lines.size(); ++i) {
    const CostLine& line = here.lines[i];
    if (!is_first_ && line.share >= score_.lines[i].share) continue;
    if (!is_first_) score_.lines[i].share = line.share;
    excess_texts_[line.key] = count_text(line.key, line.value, attempt) + at_size_text(size) +
                              ", full marks " + grouped(line.full.get_str());
  }
  if (is_first_) {
    score_ = std::move(here);
  } else {
    score_.excesses.insert(score_.excesses.end(), here.excesses.begin(), here.excesses.end());
  }
  is_first_ = false;
}

std::string CostJudge::excess_text(const CostLine& line) const {
  const auto found = excess_texts_.find(line.key);
  return found == excess_texts_.end() ? "" : found->second;
}

std::vector<Finding> CostJudge::excesses_elsewhere(const Size& size) const {
  std::vector<Finding> findings;
  for (const CostLine& line : score_.lines) {
    if (!line.is_dear() || line.value > line.full) continue;
    Finding finding;
    finding.what = "it costs too much at another size: " + excess_text(line);
    finding.details = {"At " + to_string(size) + " its " + line.key +
                       " are as few as full marks allow; they grow faster with the size."};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace flashlab::exercises
