#include "exercises/grader/report/histogram.hpp"

#include <algorithm>

namespace flashlab::exercises {
namespace {

using toy::Count;

/// The smallest width of 1, 2, 5, 10, … that covers the range with at most kMostBins bins.
Count bin_width(const Count& range) {
  Count power = 1;
  for (;; power *= 10) {
    for (const int factor : {1, 2, 5}) {
      const Count width = power * factor;
      if (width * static_cast<long>(kMostBins) >= range) return width;
    }
  }
}

/// The limit of normal values: twice the median or twice the largest mark. The last bin
/// takes the rest.
Count usual_limit(const std::vector<Count>& sorted, const std::vector<HistogramMark>& marks) {
  Count limit = sorted[sorted.size() / 2];
  for (const HistogramMark& mark : marks) limit = std::max(limit, mark.value);
  return 2 * limit;
}

std::vector<HistogramBin> make_bins(const std::vector<Count>& sorted,
                                    const std::vector<HistogramMark>& marks) {
  Count low = sorted.front();
  Count high = sorted.back();
  for (const HistogramMark& mark : marks) {
    low = std::min(low, mark.value);
    high = std::max(high, mark.value);
  }
  const Count limit = usual_limit(sorted, marks);
  const bool open = high > limit;
  if (open) high = limit;
  const Count width = bin_width(high - low + 1);
  if (width > 1) low -= low % width;  // round numbers; may add a bin
  std::vector<HistogramBin> bins;
  for (Count start = low; start <= high; start += width) {
    bins.push_back({start, start + width - 1, false, 0});
  }
  if (open) bins.push_back({bins.back().high + 1, sorted.back(), true, 0});
  std::size_t bin = 0;
  for (const Count& value : sorted) {
    while (value > bins[bin].high) ++bin;
    ++bins[bin].students;
  }
  if (open && bins.back().students == 0) bins.pop_back();  // the rounded bins cover all values
  return bins;
}

/// Returns the verdict's score at a size, or null.
const SizeScore* score_at(const Verdict& verdict, const Size& size) {
  for (const SizeScore& score : verdict.scores) {
    if (score.size == size) return &score;
  }
  return nullptr;
}

void mark_proof(Histogram& histogram, const ProvenSize& proof) {
  const bool is_best = proof.verdict == ProofVerdict::kOptimal;
  histogram.marks.push_back({is_best ? "proven best" : "lower bound", proof.at_least_cycles});
}

void fill_histogram(Histogram& histogram, const CostLine& line, std::vector<Count> values,
                    const Costs& best_ever, const SizeScore* score) {
  std::sort(values.begin(), values.end());
  histogram.marks = {{"full marks", line.full}};
  if (line.solution > 0) histogram.marks.push_back({"solution", line.solution});
  histogram.marks.push_back({"best here", values.front()});
  if (const auto best = best_ever.find(line.key); best != best_ever.end()) {
    histogram.marks.push_back({"best ever", best->second});
  }
  if (line.key == "cycles" && score != nullptr && score->is_searched()) {
    mark_proof(histogram, *score->proof);
  }
  histogram.bins = make_bins(values, histogram.marks);
}

}  // namespace

std::string HistogramBin::label() const {
  if (open) return low.get_str() + " or more";
  return low == high ? low.get_str() : low.get_str() + "-" + high.get_str();
}

std::string Histogram::title() const { return size.empty() ? key : key + " at " + size; }

std::size_t Histogram::most_students() const {
  std::size_t most = 0;
  for (const HistogramBin& bin : bins) most = std::max(most, bin.students);
  return most;
}

std::vector<std::string> Histogram::marks_in(const HistogramBin& bin) const {
  std::vector<std::string> names;
  for (const HistogramMark& mark : marks) {
    if (mark.value >= bin.low && (bin.open || mark.value <= bin.high)) names.push_back(mark.name);
  }
  return names;
}

std::vector<Histogram> class_histograms(const std::vector<StudentResult>& students,
                                        const Costs& best_ever) {
  std::map<std::string, std::vector<Count>> values;
  const Verdict* any = nullptr;
  for (const StudentResult& student : students) {
    const Verdict& verdict = *student.verdict;
    if (!verdict.passed() || verdict.costs.empty()) continue;
    any = &verdict;
    for (const CostLine& line : verdict.costs) values[line.key].push_back(line.value);
  }
  std::vector<Histogram> all;
  if (any == nullptr) return all;
  for (const CostLine& line : any->costs) {
    Histogram histogram;
    histogram.key = line.key;
    histogram.size = to_string(any->size);
    fill_histogram(histogram, line, std::move(values[line.key]), best_ever,
                   score_at(*any, any->size));
    all.push_back(std::move(histogram));
  }
  return all;
}

std::optional<Histogram> proof_histogram(const std::vector<StudentResult>& students,
                                         const ProvenSize& proof) {
  std::vector<Count> values;
  for (const StudentResult& student : students) {
    if (!student.verdict->passed()) continue;
    if (const SizeScore* score = score_at(*student.verdict, proof.size)) {
      values.push_back(score->cycles);
    }
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  Histogram histogram;
  histogram.key = "cycles";
  histogram.size = to_string(proof.size);
  histogram.marks = {{"best here", values.front()}};
  mark_proof(histogram, proof);
  histogram.bins = make_bins(values, histogram.marks);
  return histogram;
}

}  // namespace flashlab::exercises
