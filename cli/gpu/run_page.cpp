#include "cli/gpu/run_page.hpp"

#include <algorithm>
#include <vector>

#include "generate/source/cuda_source.hpp"
#include "gpu_page_files.hpp"
#include "results/comparison.hpp"
#include "text/markup.hpp"
#include "text/numbers.hpp"
#include "text/page.hpp"
#include "text/sha256.hpp"

namespace flashlab::cli {
namespace {

/// One time of one launch.
struct TimeBar {
  std::string name;
  double ms = 0;
  bool is_measured = false;
};

std::vector<TimeBar> time_bars(const GpuRunReport& report) {
  std::vector<TimeBar> bars;
  for (const compare::Step& step : report.row.steps) {
    if (report.machine) {
      bars.push_back({step.name + ", predicted", compare::predicted_ms(step.predicted), false});
    }
    if (step.measured && step.measured->median_ms) {
      bars.push_back({step.name + ", measured", *step.measured->median_ms, true});
    }
  }
  return bars;
}

void write_bars(std::ostream& out, const GpuRunReport& report) {
  const std::vector<TimeBar> bars = time_bars(report);
  double most = 0;
  for (const TimeBar& bar : bars) most = std::max(most, bar.ms);
  if (!(most > 0)) return;
  out << "  <table class=\"bars\" aria-label=\"times of the launches\"><tbody>\n";
  for (const TimeBar& bar : bars) {
    out << "    <tr><th scope=\"row\">" << markup_text(bar.name)
        << "</th><td><svg aria-hidden=\"true\"><rect class=\""
        << (bar.is_measured ? "measured" : "predicted") << "\" width=\""
        << fixed_text(std::max(0.2, 100 * bar.ms / most), 1)
        << "%\" height=\"100%\"/></svg></td><td>" << three_digits(bar.ms) << " ms</td></tr>\n";
  }
  out << "  </tbody></table>\n";
}

void write_table(std::ostream& out, const ReportTable& table) {
  out << "  <table>\n    <thead><tr>";
  for (const std::string& title : table.titles) {
    out << "<th scope=\"col\">" << markup_text(title) << "</th>";
  }
  out << "</tr></thead>\n    <tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out << "      <tr>";
    for (const std::string& cell : row) {
      const bool is_name = &cell == &row.front();
      out << (is_name ? "<th scope=\"row\">" : "<td>") << markup_text(cell)
          << (is_name ? "</th>" : "</td>");
    }
    out << "</tr>\n";
  }
  out << "    </tbody>\n  </table>\n";
}

void write_facts(std::ostream& out, const ReportSentences& said, const std::string& setting) {
  out << kept_together(markup_text(setting));
  for (const auto* const all : {&said.before, &said.times}) {
    for (const std::string& sentence : *all) out << "<br>" << markup_text(sentence);
  }
}

void write_checks(std::ostream& out, const GpuRunReport& report) {
  if (report.checked.empty()) return;
  out << "<section aria-labelledby=\"results-heading\">\n  <h2 id=\"results-heading\">Results "
         "beside "
         "the machine's</h2>\n";
  write_table(out, checks_table(report));
  out << "  <p class=\"note\">" << markup_text(kAboutErrors) << "</p>\n</section>\n";
}

}  // namespace

void write_run_page(std::ostream& out, const GpuRunReport& report, const std::string& setting) {
  const std::string style = page_style(file_text(gpu_page_files, "gpu.css"));
  const ReportSentences said = report_sentences(report);
  const PlannedProgram& program = report.program;
  write_page(
      out, file_text(gpu_page_files, "gpu.html"),
      {{"title", [&](std::ostream& o) { o << markup_text(program.name) << " on a GPU"; }},
       {"style", [&](std::ostream& o) { o << style; }},
       {"style hash", [&](std::ostream& o) { o << base64(sha256(style)); }},
       {"facts", [&](std::ostream& o) { write_facts(o, said, setting); }},
       {"explanation", [&](std::ostream& o) { o << markup_text(said.explanation); }},
       {"times", [&](std::ostream& o) { write_bars(o, report); }},
       {"launches", [&](std::ostream& o) { write_table(o, launches_table(report)); }},
       {"checks", [&](std::ostream& o) { write_checks(o, report); }},
       {"program",
        [&](std::ostream& o) { o << markup_text(program.bound.program->source->text()); }},
       {"source", [&](std::ostream& o) {
          o << markup_text(generate::cuda_kernels(program.bound, program.plan, program.name));
        }}});
}

}  // namespace flashlab::cli
