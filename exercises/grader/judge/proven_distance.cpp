#include "exercises/grader/judge/proven_distance.hpp"

#include <cstddef>
#include <optional>

#include "exercises/grader/exercise/proven.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/score_text.hpp"

namespace flashlab::exercises {
namespace {

/// The largest size whose best is proved, else the largest that was searched; null: none.
const ProvenSize* best_known(const Proven& proven) {
  const ProvenSize* best = nullptr;
  for (const ProvenSize& one : proven.sizes) {
    const bool is_optimal = one.verdict == ProofVerdict::kOptimal;
    const bool is_searched = one.verdict != ProofVerdict::kNotSearched;
    if (is_optimal || (is_searched && best == nullptr)) best = &one;
  }
  return best;
}

std::string at_words(const Size& size) {
  constexpr std::size_t kLongest = 16;
  if (size.empty()) return {};
  const std::string text = to_string(size);
  return " at " + (text.size() <= kLongest ? text : "a small size");
}

}  // namespace

std::string proven_distance(const Exercise& exercise,
                            const std::shared_ptr<const toy::Program>& program) {
  if (exercise.proven == nullptr) return {};
  const ProvenSize* const proof = best_known(*exercise.proven);
  if (proof == nullptr) return {};
  const SizedCases sized{proof->size, {}};
  const Attempt counted = count_attempt(exercise.program, program, sized);
  if (!counted.bound || !counted.refusal.empty()) return {};
  const SizeScore score{proof->size, counted.counters.cycles, counted.counters.loads, std::nullopt,
                        *proof};
  const std::string at = at_words(proof->size);
  const auto distance = distance_of(score);
  if (!distance) return "the proven best is " + proven_text(score) + " cycles" + at;
  if (distance->most == 0) return "the proven best" + at;
  return distance->text() + " above the proven best" + at;
}

}  // namespace flashlab::exercises
