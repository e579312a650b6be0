// The limits of a search, and the progress that it reports.
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
  /// A rough estimate. It assumes that the number of open states below the upper bound keeps
  /// falling as fast as since the last report. Empty while it does not fall.
  std::optional<double> seconds_left;
};

struct SolveLimits {
  std::size_t max_bytes = std::size_t{8} << 30;
  double max_seconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;  // set by another thread or a signal: stop soon
  double progress_every_s = 1;
  std::function<void(const Progress&)> progress;
  std::size_t beam_width = 500;  // states kept by the search for a first program; 0: skip it
  unsigned jobs = 1;             // threads; the answer is the same for every number
  /// File to which the search is written when it ends early, and periodically before. If the file
  /// exists already, the search resumes from it and gets the same answer. Empty: no checkpoint. The
  /// file is removed when the search has finished. A beam search that is cut short writes no file.
  std::string checkpoint;
  double checkpoint_every_s = 60;
};

/// Thrown if a checkpoint cannot be written or read, is damaged, or belongs to another search.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace flashlab::optimal
