// Proves what the cheapest program of an exercise costs, size by size: what proven.json is made of.
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
  std::size_t jobs = 1;  // sizes at once, each of which may take most_bytes
  const std::atomic<bool>* cancel = nullptr;
  bool count_programs = true;  // where a size is proved and its programs are soon counted
  /// Only searched sizes that this file's proof took less time for, the others as they stand there;
  /// null: all.
  const Proven* recorded = nullptr;
  double recorded_below_seconds = 0;
  /// Texts of programs that are known already, of whatever size: where the exercise accepts one and
  /// nothing cheaper is found, it is the program that is shown.
  std::vector<std::string> programs;
  std::function<void(const ProvenSize&)> done;  // one size is; called by one thread at a time
};

/// Every size of a program exercise. A size is searched when the solver can hold it; "optimal" is
/// said only of a program that the grader accepts at that size. Cells of results may hold other
/// values before their results, unless the exercise accepts no more stores than results: a search
/// that stores nothing but results bounds nothing then, and is for its program alone; the one that
/// bounds has as many scratch cells. Where temporary arrays are allowed, or for more cells than the
/// solver takes, at_least_cycles is the floor. Throws std::runtime_error when the exercise itself
/// is broken.
Proven prove(std::shared_ptr<const Exercise> exercise, const ProveOptions& options = {});

/// What a new proof says against a committed one, a sentence each: a number that was proved and is
/// another now, bounds that exclude each other, a program that the grader does not accept. How long
/// a search took, and how far it came, may differ.
std::vector<std::string> contradictions(const Exercise& exercise, const Proven& committed,
                                        const Proven& recomputed);

}  // namespace flashlab::exercises
