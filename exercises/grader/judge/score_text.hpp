// Describes in words what is proved about an exercise and what a program's own order allows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// Returns at most two sentences: one for the largest searched size, one for the size at which
/// costs are counted. They say that the proven best is reached, or how many cycles are due to the
/// placement of loads, to copies and unused results, and to the order of operations itself. A score
/// below a proof's bounds is always reported. No sentence reveals a program.
std::vector<std::string> score_sentences(const Verdict& verdict);

/// Returns "25", or "19 to 22" if only bounds are proved; empty if nothing was searched.
std::string proven_text(const SizeScore& score);

/// The distance of a score from the proven best: at least `least`, at most `most`. They are equal
/// if the best is known.
struct Distance {
  toy::Count least, most;
  std::string text() const;  // "0", "3", "1 to 4"
};
/// Returns nothing for sizes that were not searched and for scores below the proof's bounds.
std::optional<Distance> distance_of(const SizeScore& score);

/// Returns "10 compulsory (the first of each value), 4 forced (by the order of
/// operations), 2 avoidable".
std::string loads_text(const Verdict& verdict);
toy::Count avoidable_loads(const Verdict& verdict);

}  // namespace flashlab::exercises
