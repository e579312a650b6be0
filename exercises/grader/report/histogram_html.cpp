// A histogram as SVG in a page.
#include <algorithm>

#include "exercises/grader/report/reports.hpp"
#include "report_page_files.hpp"
#include "text/lists.hpp"
#include "text/markup.hpp"

namespace flashlab::exercises {
namespace {

/// The layout of a histogram's drawing, in SVG units.
struct Drawing {
  static constexpr std::size_t kWidth = 720, kRow = 22, kBarLeft = 130, kBarWidth = 220;
  static constexpr std::size_t kTextRise = 6, kBarInset = 3, kTextGap = 8;
};

void write_bin(std::ostream& out, const Histogram& histogram, std::size_t row) {
  const HistogramBin& bin = histogram.bins[row];
  const std::size_t most = std::max<std::size_t>(1, histogram.most_students());
  const std::size_t top = row * Drawing::kRow, base = top + Drawing::kRow - Drawing::kTextRise;
  const std::size_t width = bin.students * Drawing::kBarWidth / most;
  const std::vector<std::string> marks = histogram.marks_in(bin);
  const std::string count = bin.students > 0 ? std::to_string(bin.students) : "";
  out << "    <text class=\"bin\" x=\"" << Drawing::kBarLeft - Drawing::kTextGap << "\" y=\""
      << base << "\">" << markup_text(bin.label()) << "</text>"
      << "<rect class=\"bar\" x=\"" << Drawing::kBarLeft << "\" y=\"" << top + Drawing::kBarInset
      << "\" width=\"" << (bin.students > 0 ? std::max<std::size_t>(1, width) : 0) << "\" height=\""
      << Drawing::kRow - 2 * Drawing::kBarInset << "\"/>"
      << "<text x=\"" << Drawing::kBarLeft + width + Drawing::kTextGap << "\" y=\"" << base << "\">"
      << count << "<tspan class=\"mark\">"
      << (marks.empty() ? "" : (count.empty() ? "◂ " : "  ◂ ") + markup_text(joined(marks)))
      << "</tspan></text>\n";
}

}  // namespace

std::string histogram_style() { return std::string(file_text(report_page_files, "histogram.css")); }

void write_histogram(std::ostream& out, const Histogram& histogram) {
  const std::size_t height = histogram.bins.size() * Drawing::kRow;
  const std::string title = markup_text(histogram.title());
  out << "<section>\n  <h2>" << title << "</h2>\n  <svg viewBox=\"0 0 " << Drawing::kWidth << ' '
      << height << "\" role=\"img\" aria-label=\"Students by " << title << "\">\n";
  for (std::size_t row = 0; row < histogram.bins.size(); ++row) write_bin(out, histogram, row);
  out << "    <line class=\"axis\" x1=\"" << Drawing::kBarLeft << "\" y1=\"0\" x2=\""
      << Drawing::kBarLeft << "\" y2=\"" << height << "\"/>\n  </svg>\n  <p class=\"note\">";
  out << joined(histogram.marks, " · ", [](const HistogramMark& mark) {
    return markup_text(mark.name + " " + mark.value.get_str());
  }) << "</p>\n</section>\n";
}

}  // namespace flashlab::exercises
