// Judges the cost of one submission at all sizes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/cost_score.hpp"

namespace flashlab::exercises {

class CostJudge {
 public:
  explicit CostJudge(const ProgramTask& task) : task_(task) {}

  /// Adds the cost of an attempt. The costs of the first attempt are shown; at each further size the
  /// share of a counter can only fall.
  void add(const Attempt& attempt);

  const CostScore& score() const { return score_; }
  /// Returns "28 cycles at n = 4, full marks 25", for the size with the smallest share.
  std::string excess_text(const CostLine& line) const;
  /// Returns where the program first cost more than full marks allow, or than is accepted; null: nowhere.
  const SizedCases* too_costly() const { return too_costly_; }
  /// Returns what is to be said about costs that are too high at other sizes only than `size`, where
  /// they were counted first.
  std::vector<Finding> excesses_elsewhere(const Size& size) const;
  /// Returns the costs that are not accepted: one sentence for each counter, at the first such size.
  const std::vector<std::string>& excesses() const { return excesses_; }

 private:
  const ProgramTask& task_;
  bool is_first_ = true;
  CostScore score_;
  const SizedCases* too_costly_ = nullptr;
  std::map<std::string, std::string> excess_texts_;  // by counter
  std::vector<std::string> excesses_;
  std::set<std::string> exceeded_;  // counters
};

}  // namespace flashlab::exercises
