// How a class's costs are distributed.
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
  toy::Count low, high;  // both ends belong to it
  bool open = false;     // everything from `low` on
  std::size_t students = 0;

  /// "12", "12-15", "40 or more".
  std::string label() const;
};

/// A value worth knowing in the drawing.
struct HistogramMark {
  /// "full marks", "solution", "best here", "best ever", "proven best", "lower bound".
  std::string name;
  toy::Count value;
};

struct Histogram {
  std::string key;   // "cycles"
  std::string size;  // "n = 16"; empty where the exercise has one size without parameters
  std::vector<HistogramBin> bins;
  std::vector<HistogramMark> marks;

  std::string title() const;          // "cycles at n = 16", "cycles"
  std::size_t most_students() const;  // in one bin
  /// The names of the marks in a bin.
  std::vector<std::string> marks_in(const HistogramBin& bin) const;
};

/// One for each counter of the right results; none when nothing is right. Bins are a whole number
/// wide, 1, 2 or 5 times a power of ten, and at most kMostBins. What lies far above the rest falls
/// in a last, open one. The histogram of cycles has a mark for what is proved at its size.
inline constexpr std::size_t kMostBins = 16;
std::vector<Histogram> class_histograms(const std::vector<StudentResult>& students,
                                        const Costs& best_ever);

/// The cycles of the right programs at a size with a searched proof, and what is proved; nothing
/// when nothing is right. Marks: the best here, and the proven best or the bound below it.
std::optional<Histogram> proof_histogram(const std::vector<StudentResult>& students,
                                         const ProvenSize& proof);

}  // namespace flashlab::exercises
