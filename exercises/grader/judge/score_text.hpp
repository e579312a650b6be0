// What is proved about an exercise and what a program's own order allows, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// A sentence for the largest size that was searched and one for the size that costs are counted
/// at, where there is something to say: that the proven best is reached, or how many cycles lie in
/// when things are loaded, in copies and unused results, and in the order of operations itself. A
/// score below a proof's bounds is always told of. Nothing here gives a program away.
std::vector<std::string> score_sentences(const Verdict& verdict);

/// "25", or "19 to 22" where only bounds are proved; empty when nothing was searched.
std::string proven_text(const SizeScore& score);

/// How far a score is above the proven best: no less than `least`, no more than `most`; equal where
/// the best is known.
struct Distance {
  toy::Count least, most;
  std::string text() const;  // "0", "3", "1 to 4"
};
/// Nothing for sizes that were not searched, and below the proof's bounds.
std::optional<Distance> distance_of(const SizeScore& score);

/// "10 compulsory (the first of each value), 4 forced (by the order of operations), 2 avoidable".
std::string loads_text(const Verdict& verdict);
toy::Count avoidable_loads(const Verdict& verdict);

}  // namespace flashlab::exercises
