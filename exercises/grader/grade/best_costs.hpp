// The best costs ever submitted, kept in a small JSON file from one grading to the next.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "exercises/grader/grade/classroom.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// By counter. Each counter's best may be another program's.
using Costs = std::map<std::string, toy::Count>;

/// The least costs of the right results.
Costs best_of(const std::vector<StudentResult>& students);

/// What the file holds: by exercise, and the size that costs are counted at ("n = 16").
struct BestCosts {
  std::map<std::string, std::map<std::string, Costs>> by_exercise;

  /// Lowers what is there to `costs`, adds what is not; returns what is best then.
  const Costs& merge(const std::string& exercise, const Size& size, const Costs& costs);
};

/// Errors: not JSON, another format or version, a count that is none.
toy::Result<BestCosts> parse_best_costs(const std::string& text);
std::string to_json(const BestCosts& best);

}  // namespace flashlab::exercises
