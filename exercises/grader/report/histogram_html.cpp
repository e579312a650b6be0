// A histogram as a table with bars in a page.
#include <algorithm>

#include "exercises/grader/report/reports.hpp"
#include "report_page_files.hpp"
#include "text/lists.hpp"
#include "text/markup.hpp"

namespace flashlab::exercises {
namespace {

void write_bin(std::ostream& out, const Histogram& histogram, const HistogramBin& bin) {
  const std::size_t most = std::max<std::size_t>(1, histogram.most_students());
  const std::vector<std::string> marks = histogram.marks_in(bin);
  const std::string count = bin.students > 0 ? std::to_string(bin.students) : "";
  out << "    <tr><th scope=\"row\">" << markup_text(bin.label()) << "</th><td>";
  if (bin.students > 0) {
    out << "<svg aria-hidden=\"true\"><rect class=\"bar\" width=\"" << 100 * bin.students / most
        << "%\" height=\"100%\"/></svg>";
  }
  out << "</td><td>" << count;
  if (!marks.empty()) {
    out << (count.empty() ? "" : " ") << "<span class=\"mark\">◂ " << markup_text(joined(marks))
        << "</span>";
  }
  out << "</td></tr>\n";
}

}  // namespace

std::string histogram_style() { return std::string(file_text(report_page_files, "histogram.css")); }

void write_histogram(std::ostream& out, const Histogram& histogram) {
  const std::string title = markup_text(histogram.title());
  out << "<section>\n  <h2>" << title << "</h2>\n  <table class=\"bins\" aria-label=\"Students by "
      << title << "\"><tbody>\n";
  for (const HistogramBin& bin : histogram.bins) write_bin(out, histogram, bin);
  out << "  </tbody></table>\n  <p class=\"note\">";
  out << joined(histogram.marks, " · ", [](const HistogramMark& mark) {
    return markup_text(mark.name + " " + mark.value.get_str());
  }) << "</p>\n</section>\n";
}

}  // namespace flashlab::exercises
