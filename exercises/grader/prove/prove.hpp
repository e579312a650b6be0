// Proves the minimum cost of an exercise's programs, size by size. Writes the data for proven.json.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/proven.hpp"

namespace flashlab::exercises {

struct ProveOptions {
  double most_seconds = 60;  // for each size
  std::size_t most_bytes = std::size_t{4} << 30;
  std::size_t jobs = 1;  // sizes at once; each may use most_bytes
  const std::atomic<bool>* cancel = nullptr;
  bool count_programs = true;  // if a size is proved and counting is fast
  /// Searches again only sizes that took less time in this recorded proof, and keeps the others.
  /// Null: searches all.
  const Proven* recorded = nullptr;
  double recorded_below_seconds = 0;
  /// Texts of known programs, for any size. If the exercise accepts one and the search finds no
  /// cheaper one, it becomes the size's program.
  std::vector<std::string> programs;
  std::function<void(const ProvenSize&)> done;  // called after each size, by one thread at a time
};

/// Proves every size of a program exercise. Searches a size if it fits the solver. The verdict
/// "optimal" requires a program that the grader accepts at that size.
///
/// Cells of results may hold other values first, unless the exercise accepts no more stores than
/// results. Then a search that stores only results gives a program but no bound; the bound comes
/// from a search with as many scratch cells. If temporary arrays are allowed, or there are more
/// cells than the solver accepts, at_least_cycles is the floor. Throws std::runtime_error if the
/// exercise itself is broken.
Proven prove(std::shared_ptr<const Exercise> exercise, const ProveOptions& options = {});

/// Returns the contradictions between a committed proof and a new one, a sentence each: a proved
/// number that changed, bounds that exclude each other, a program that the grader rejects. The
/// duration and the progress of a search may differ.
std::vector<std::string> contradictions(const Exercise& exercise, const Proven& committed,
                                        const Proven& recomputed);

}  // namespace flashlab::exercises
