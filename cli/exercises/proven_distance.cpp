#include "cli/exercises/proven_distance.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "cli/exercises/loading.hpp"
#include "cli/terminal/failure.hpp"
#include "exercises/grader/exercise/proven.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/score_text.hpp"

namespace flashlab::cli {
namespace {

/// The largest size whose best is proved, else the largest that was searched; null: none.
const exercises::ProvenSize* best_known(const exercises::Proven& proven) {
  const exercises::ProvenSize* best = nullptr;
  for (const exercises::ProvenSize& one : proven.sizes) {
    const bool is_optimal = one.verdict == exercises::ProofVerdict::kOptimal;
    const bool is_searched = one.verdict != exercises::ProofVerdict::kNotSearched;
    if (is_optimal || (is_searched && best == nullptr)) best = &one;
  }
  return best;
}

/// The exercise whose file has this name; null: there is none, or it is broken.
ExercisePointer exercise_of_file(std::string_view file) {
  constexpr std::string_view kEnding = ".toy";
  file.remove_prefix(file.rfind('/') + 1);
  if (!file.ends_with(kEnding)) return nullptr;
  file.remove_suffix(kEnding.size());
  if (!exercises::is_exercise_id(file)) return nullptr;
  // Reading an exercise takes longer than everything else after a keystroke.
  static std::mutex mutex;
  static std::map<std::string, ExercisePointer, std::less<>> known;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(std::string(file));
  if (!is_new) return place->second;
  try {
    ExercisePointer found = find_exercise(place->first, {});
    if (found->id == place->first) place->second = std::move(found);
  } catch (const Failure&) {  // as if there were none
  }
  return place->second;
}

std::string at_words(const exercises::Size& size) {
  constexpr std::size_t kLongest = 16;
  if (size.empty()) return {};
  const std::string text = exercises::to_string(size);
  return " at " + (text.size() <= kLongest ? text : "a small size");
}

}  // namespace

std::string proven_distance(std::string_view file,
                            const std::shared_ptr<const toy::Program>& program) {
  const ExercisePointer exercise = exercise_of_file(file);
  if (exercise == nullptr || exercise->proven == nullptr) return {};
  const exercises::ProvenSize* const proof = best_known(*exercise->proven);
  if (proof == nullptr) return {};
  const exercises::SizedCases sized{proof->size, {}};
  const exercises::Attempt counted = exercises::count_attempt(exercise->program, program, sized);
  if (!counted.bound || !counted.refusal.empty()) return {};
  const exercises::SizeScore score{proof->size, counted.counters.cycles, counted.counters.loads,
                                   std::nullopt, *proof};
  const std::string at = at_words(proof->size);
  const auto distance = exercises::distance_of(score);
  if (!distance) return "the proven best is " + exercises::proven_text(score) + " cycles" + at;
  if (distance->most == 0) return "the proven best" + at;
  return distance->text() + " above the proven best" + at;
}

}  // namespace flashlab::cli
