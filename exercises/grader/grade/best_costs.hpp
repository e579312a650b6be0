// The lowest costs ever submitted. A small JSON file keeps them between gradings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "exercises/grader/grade/classroom.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Costs by counter. Different counters may have their minimum in different programs.
using Costs = std::map<std::string, toy::Count>;

/// Returns the minimum of each cost among the right results.
Costs best_of(const std::vector<StudentResult>& students);

/// The file's content: by exercise, and by the size at which costs are counted ("n = 16").
struct BestCosts {
  std::map<std::string, std::map<std::string, Costs>> by_exercise;

  /// Merges `costs` by taking minima. Returns the merged costs.
  const Costs& merge(const std::string& exercise, const Size& size, const Costs& costs);
};

/// Parses the file. Errors: not JSON, another format or version, an invalid count.
toy::Result<BestCosts> parse_best_costs(const std::string& text);
std::string to_json(const BestCosts& best);

}  // namespace flashlab::exercises
