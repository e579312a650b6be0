// How far a search may go, and what it tells on its way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace flashlab::optimal {

struct Progress {
  std::uint64_t states = 0;  // reached
  double seconds = 0;
  double states_per_s = 0;
  std::int64_t lower_cycles = 0;             // no program costs less
  std::optional<std::int64_t> upper_cycles;  // of the best program so far
  std::size_t bytes = 0;
  /// What is left, if the states that are open and not above the upper bound go on becoming fewer
  /// as fast as lately: a rough estimate, and nothing while they do not become fewer.
  std::optional<double> seconds_left;
};

struct SolveLimits {
  std::size_t max_bytes = std::size_t{8} << 30;
  double max_seconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;  // set by another thread or a signal: stop soon
  double progress_every_s = 1;
  std::function<void(const Progress&)> progress;
  std::size_t beam_width = 500;  // states that the search for a first program keeps; 0: none
  unsigned jobs = 1;             // threads; the answer is the same for every number
  /// A file that the search is written to when it ends early, and now and then before; where it is
  /// there already, the search goes on from it, to the same answer. Empty: none. It is removed when
  /// the search has finished. A beam search that is cut short leaves none.
  std::string checkpoint;
  double checkpoint_every_s = 60;
};

/// A checkpoint that cannot be written or read, is damaged, or is another search's.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace flashlab::optimal
