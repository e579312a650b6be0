#include "compare/report/report_html.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>

#include "compare/picture/ratio_strips.hpp"
#include "compare/picture/series.hpp"
#include "compare/report/report_rows.hpp"
#include "compare/rows/sweep.hpp"
#include "comparison_page_files.hpp"
#include "text/markup.hpp"
#include "text/numbers.hpp"
#include "text/page.hpp"
#include "text/picture/svg.hpp"
#include "text/sha256.hpp"

namespace flashlab::compare {
namespace {

constexpr std::size_t kMostReasons = 5;

struct Chapter {
  PictureKind kind;
  const char* anchor;
  const char* title;
  const char* caption;
};

constexpr std::array<Chapter, 7> kChapters = {{
    {PictureKind::kRoofline, "roofline", "Roofline",
     "Each marker shows a row's FLOPs per second over its FLOPs per byte. Filled markers count the "
     "bytes that DRAM must move, each array once; hollow ones those that the kernel's tiles move "
     "between L2 and the multiprocessors. The roofs are the rates of the units and memories."},
    {PictureKind::kTime, "time", "Time over N",
     "Filled markers are measured, with bars from the fastest to the slowest run. Lines are "
     "predicted: solid by the overlap model, dashed by the roofline."},
    {PictureKind::kMemory, "memory", "Memory over N",
     "Tensors and workspace. Variants that store S need memory that grows with the square of N."},
    {PictureKind::kBytes, "bytes", "Bytes, counted and measured",
     "Counted on the toy machine with the kernel's tiles, and by the hardware's own counters."},
    {PictureKind::kSharedMemory, "shared-memory", "Shared memory",
     "The shared memory that a block takes, and the GPU's limit for a block. The Pallas post adds "
     "up 73 and 129 KB for its kernel, against a limit of 99."},
    {PictureKind::kPasses, "passes", "One pass against two",
     "The backward pass with atomic additions to dQ, and with a pass of its own for dQ."},
    {PictureKind::kTimeRatio, "ratios", "Predicted over measured time",
     "At 1 the prediction was exact; to the right of 1 the GPU was faster."},
}};

void write_fact(std::ostream& out, const char* name, const std::string& text) {
  if (!text.empty()) out << " · " << name << ' ' << markup_start(text, kMostText);
}

/// Lines break between words and behind commas; inside only where a word is longer than the page.
void write_command(std::ostream& out, const std::string& command) {
  out << "<p><code><span>";
  for (const char letter : markup_start(command, kMostText)) {
    if (letter == ' ') {
      out << "</span> <span>";
    } else if (letter == ',') {
      out << ",</span><wbr><span>";
    } else {
      out << letter;
    }
  }
  out << "</span></code></p>";
}

void write_commands(std::ostream& out, const Comparison& comparison) {
  if (comparison.command.empty()) return;
  out << "  <details class=\"facts\"><summary>the commands</summary>";
  std::istringstream commands(comparison.command);  // one per line
  for (std::string command; std::getline(commands, command);) write_command(out, command);
  out << "</details>\n";
}

void write_facts(std::ostream& out, const Comparison& comparison) {
  out << comparison.rows.size() << " rows";
  write_fact(out, "on", comparison.gpu_name);
  write_fact(out, "driver", comparison.driver);
  write_fact(out, "CUDA", comparison.cuda);
  write_fact(out, "commit", comparison.commit);
  write_fact(out, "", comparison.date);
  if (comparison.is_again) out << " · " << kPredictedAgain;
}

std::string of_text(const Share& share, const std::string& what) {
  return std::to_string(share.num_close) + " of " + std::to_string(share.num_all) + what + " (" +
         percent_text(share.share()) + ")";
}

void count_in_band(Share& share, const std::optional<double>& ratio, double tolerance) {
  if (!ratio) return;
  ++share.num_all;
  share.num_close += RatioBand{tolerance}.holds(*ratio) ? 1 : 0;
}

Share times_in_band(const Comparison& comparison) {
  Share share;
  for (const Row& row : comparison.rows)
    count_in_band(share, predicted_over_measured(row), kCloseTime);
  return share;
}

Share close_bytes(const Comparison& comparison) {
  Share share;
  for (const Row& row : comparison.rows) {
    const auto pair = sm_pair(row);
    count_in_band(share, pair ? std::optional(pair->ratio()) : std::nullopt, kCloseBytes);
  }
  return share;
}

/// Writes sentences about the requirements on the model.
void write_asked(std::ostream& out, const std::vector<Row>& rows) {
  const auto from = [](std::int64_t seqlen) {
    return "<li>From N " + std::to_string(seqlen) + " on, ";
  };
  if (const Share close = close_times(rows, kCloseTime); close.num_all > 0) {
    out << from(kTimedSeqlen) << "predicted time is as close in " << of_text(close, " rows")
        << "; the requirement is 80 %. It is within " << percent_text(kNearTime) << " in "
        << of_text(close_times(rows, kNearTime), "") << "; the requirement is 95 %.</li>\n";
  }
  if (const Share share = close_sm_bytes(rows); share.num_all > 0) {
    out << from(kLongSeqlen) << "measured bytes are as close for flash1, flash2 and bwd-twopass in "
        << of_text(share, " rows") << "; the requirement is all of them.</li>\n";
  }
}

/// Counts the rows of each reason.
std::map<std::string, std::size_t> reasons(const Comparison& comparison,
                                           const std::function<std::string(const Row&)>& reason) {
  std::map<std::string, std::size_t> counts;
  for (const Row& row : comparison.rows) {
    const std::string text = reason(row);
    if (!text.empty()) ++counts[text];
  }
  return counts;
}

void write_reasons(std::ostream& out, const std::map<std::string, std::size_t>& counts,
                   const std::string& lead) {
  std::size_t shown = 0;
  for (const auto& [reason, count] : counts) {
    if (shown++ == kMostReasons) {
      out << "<li>" << lead << " for other reasons as well; the rows say which.</li>\n";
      return;
    }
    out << "<li>" << lead << " in " << count << (count == 1 ? " row: " : " rows: ")
        << markup_start(reason, kMostText) << "</li>\n";
  }
}

void write_outcome(std::ostream& out, const Comparison& comparison) {
  const Share times = times_in_band(comparison), bytes = close_bytes(comparison);
  if (times.num_all == 0) {
    out << "<li>Nothing was measured: all times and bytes here are counted and predicted.</li>\n";
  } else {
    out << "<li>Predicted time is within " << percent_text(kCloseTime) << " of measured time in "
        << of_text(times, " rows") << ".</li>\n";
  }
  if (bytes.num_all > 0) {
    out << "<li>Bytes between L2 and the multiprocessors are measured within "
        << percent_text(kCloseBytes) << " of those counted in " << of_text(bytes, " rows")
        << ".</li>\n";
  }
  write_asked(out, comparison.rows);
  write_reasons(out,
                reasons(comparison,
                        [](const Row& row) {
                          return row.measured ? row.measured->why_no_counters : std::string();
                        }),
                "Bytes were not measured");
  write_reasons(out, reasons(comparison, [](const Row& row) { return row.failure; }),
                "No time was measured");
}

bool has(const std::vector<Picture>& pictures, PictureKind kind) {
  return std::any_of(pictures.begin(), pictures.end(),
                     [kind](const Picture& picture) { return picture.kind == kind; });
}

void write_contents(std::ostream& out, const Comparison& comparison,
                    const std::vector<Picture>& pictures) {
  for (const Chapter& chapter : kChapters) {
    if (!has(pictures, chapter.kind)) continue;
    out << "<a href=\"#" << chapter.anchor << "\">" << chapter.title << "</a>\n";
  }
  out << "<a href=\"#rates\">Rates</a>\n";
  for (const std::string& variant : variants_of(comparison)) {
    out << "<a href=\"#" << anchor_of(variant) << "\">" << markup_start(variant, kMostText)
        << "</a>\n";
  }
}

void write_pictures(std::ostream& out, const std::vector<Picture>& pictures) {
  for (const Chapter& chapter : kChapters) {
    if (!has(pictures, chapter.kind)) continue;
    out << "<section id=\"" << chapter.anchor << "\" aria-labelledby=\"" << chapter.anchor
        << "-heading\">\n<h2 id=\"" << chapter.anchor << "-heading\">" << chapter.title
        << "</h2>\n<p class=\"note\">" << chapter.caption << "</p>\n<div class=\"pictures\">\n";
    for (const Picture& picture : pictures) {
      if (picture.kind == chapter.kind) out << picture.svg;
    }
    out << "</div>\n</section>\n";
  }
}

void write_rate(std::ostream& out, const std::string& name, const std::optional<Rate>& used,
                const std::optional<Rate>& sheet, std::string_view unit) {
  const bool is_measured = used && used->is_measured;
  if (!is_measured && !sheet) return;
  out << "<tr><th scope=\"row\">" << markup_start(name, kMostText) << "</th><td class=\"number\">"
      << (is_measured ? si_text(used->per_s, unit) : "") << "</td><td class=\"number\">"
      << (sheet ? si_text(sheet->per_s, unit) : "") << "</td><td class=\"number\">"
      << (is_measured && sheet && is_drawable(sheet->per_s)
              ? percent_text(used->per_s / sheet->per_s)
              : "")
      << "</td></tr>\n";
}

void write_rates(std::ostream& out, const MachineModel& used, const MachineModel& sheet) {
  write_rate(out, "DRAM, copied", used.dram_copy, sheet.dram_copy, "B/s");
  write_rate(out, "DRAM, read", used.dram_read, sheet.dram_read, "B/s");
  write_rate(out, "L2 to SM", used.sm, sheet.sm, "B/s");
  write_rate(out, "shared memory", used.shared, sheet.shared, "B/s");
  std::set<std::string> types;
  for (const MachineModel* machine : {&sheet, &used}) {
    for (const auto& [type, rate] : machine->products) types.insert(type);
  }
  const auto product = [](const MachineModel& machine, const std::string& type) {
    const auto found = machine.products.find(type);
    return found == machine.products.end() ? std::nullopt : std::optional(found->second);
  };
  for (const std::string& type : types) {
    write_rate(out, "products, " + type, product(used, type), product(sheet, type), "FLOP/s");
  }
  write_rate(out, "additions and maxima", used.elementwise, sheet.elementwise, "/s");
  write_rate(out, "exponentials", used.exps, sheet.exps, "/s");
  write_rate(out, "divisions", used.divisions, sheet.divisions, "/s");
  if (used.launch_s) {
    out << "<tr><th scope=\"row\">from one launch to the next</th><td class=\"number\">"
        << time_text(*used.launch_s * 1e3) << "</td><td></td><td></td></tr>\n";
  }
}

PageParts parts_of(const Comparison& comparison, const ReportOptions& options,
                   const std::vector<Picture>& pictures) {
  const std::string style = page_style(file_text(comparison_page_files, "comparison.css"));
  return {
      {"title",
       [&](std::ostream& out) {
         const std::string& name = options.machine.gpu.name;
         out << markup_start(name.empty() ? comparison.gpu_key : name, kMostText);
       }},
      {"style", [style](std::ostream& out) { out << style; }},
      {"style hash", [style](std::ostream& out) { out << base64(sha256(style)); }},
      {"picture style hash",
       [](std::ostream& out) { out << base64(sha256(picture::picture_style())); }},
      {"facts", [&](std::ostream& out) { write_facts(out, comparison); }},
      {"commands", [&](std::ostream& out) { write_commands(out, comparison); }},
      {"outcome",
       [&](std::ostream& out) {
         std::ostringstream text;
         write_outcome(text, comparison);
         out << kept_together(text.str());
       }},
      {"contents", [&](std::ostream& out) { write_contents(out, comparison, pictures); }},
      {"pictures", [&](std::ostream& out) { write_pictures(out, pictures); }},
      {"rates", [&](std::ostream& out) { write_rates(out, options.machine, options.sheet); }},
      {"rows", [&](std::ostream& out) { write_rows(out, comparison); }},
  };
}

}  // namespace

void write_report(std::ostream& out, const Comparison& comparison, const ReportOptions& options) {
  const std::vector<Picture> pictures = draw_pictures(comparison, {options.machine, options.peers});
  write_page(out, file_text(comparison_page_files, "comparison.html"),
             parts_of(comparison, options, pictures));
}

}  // namespace flashlab::compare
