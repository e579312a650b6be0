// The distribution of a class's costs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/grade/best_costs.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::exercises {

struct HistogramBin {
  toy::Count low, high;  // both ends are inside
  bool open = false;     // everything from `low` on
  std::size_t students = 0;

  /// Returns "12", "12-15", "40 or more".
  std::string label() const;
};

/// A value that the drawing marks.
struct HistogramMark {
  /// "full marks", "solution", "best here", "best ever", "proven best", "lower bound".
  std::string name;
  toy::Count value;
};

struct Histogram {
  std::string key;   // "cycles"
  std::string size;  // "n = 16"; empty if the exercise has one size without parameters
  std::vector<HistogramBin> bins;
  std::vector<HistogramMark> marks;

  std::string title() const;          // "cycles at n = 16", "cycles"
  std::size_t most_students() const;  // in one bin
  /// Returns the names of the marks in a bin.
  std::vector<std::string> marks_in(const HistogramBin& bin) const;
};

/// Returns one histogram for each counter of the right results; none if no result is right. Bins
/// are integers wide, 1, 2 or 5 times a power of ten, at most kMostBins. Values far above the
/// rest are in a last, open bin. The histogram of cycles also marks the bounds that are proved
/// at its size.
inline constexpr std::size_t kMostBins = 16;
std::vector<Histogram> class_histograms(const std::vector<StudentResult>& students,
                                        const Costs& best_ever);

/// Returns the histogram of cycles at a size with a searched proof; nothing if no result is right.
/// Marks: the best in the class, and the proven best or the lower bound.
std::optional<Histogram> proof_histogram(const std::vector<StudentResult>& students,
                                         const ProvenSize& proof);

}  // namespace flashlab::exercises
