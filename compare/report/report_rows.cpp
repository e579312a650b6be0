#include "compare/report/report_rows.hpp"

#include <algorithm>

#include "compare/model/binding_unit.hpp"
#include "compare/picture/ratio_strips.hpp"
#include "compare/picture/series.hpp"
#include "compare/rows/sweep.hpp"
#include "text/markup.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

/// Omits end tags of cells and lines, as HTML allows: with thousands of cells this saves a third of
/// the file. The tables' style aligns numbers to the right.
std::string cell(const std::string& text) { return "<td>" + text; }

std::string bytes_cell(const std::optional<Traffic>& traffic) {
  return cell(traffic ? si_text(bytes_of(*traffic), "B") : "");
}

std::string percent_cell(const std::optional<double>& percent) {
  return cell(percent ? percent_text(*percent / 100) : "");
}

/// Shows a sign in addition to the colour.
std::string ratio_cell(const std::optional<double>& ratio, const RatioBand& band) {
  if (!ratio) return cell("");
  if (!band.holds(*ratio)) return cell(ratio_text(*ratio));
  return cell("<span class=\"good\">" + ratio_text(*ratio) + " ✓</span>");
}

std::string bytes_ratio_cell(const std::optional<BytePair>& pair) {
  return ratio_cell(pair ? std::optional(pair->ratio()) : std::nullopt, RatioBand{kCloseBytes});
}

std::optional<Traffic> measured_sm(const std::optional<Measurement>& measured) {
  return measured ? measured->sm : std::nullopt;
}

std::optional<Traffic> measured_dram(const std::optional<Measurement>& measured) {
  return measured ? measured->dram : std::nullopt;
}

std::string predicted_cell(const Row& row) {
  if (does_not_fit(row)) return cell("");
  std::string more = "roofline " + time_text(row.predicted.roofline_ms);
  if (row.pallas_ms) more += ", Pallas post " + time_text(*row.pallas_ms);
  return cell(time_text(predicted_ms(row.predicted)) + "<small>" + more + "</small>");
}

std::string measured_cell(const std::optional<Measurement>& measured) {
  if (!measured || !measured->median_ms) return cell("");
  std::string spread;
  if (measured->least_ms && measured->most_ms) {
    spread = "<small>" + time_text(*measured->least_ms) + " … " + time_text(*measured->most_ms) +
             "</small>";
  }
  return cell(time_text(*measured->median_ms) + spread);
}

std::string tile_text(const Step& step) {
  if (step.block_q <= 0 || step.block_kv <= 0) return {};
  return std::to_string(step.block_q) + "×" + std::to_string(step.block_kv);
}

void write_step(std::ostream& out, const Step& step, bool has_time) {
  const auto& measured = step.measured;
  const auto percent = [&](std::optional<double> Measurement::*member) {
    return percent_cell(measured ? (*measured).*member : std::nullopt);
  };
  const std::optional<Bound> binds = has_time ? binding_unit(step) : std::nullopt;
  out << "<tr><th>" << markup_start(step.name, kMostText) << cell(std::to_string(step.num_launches))
      << cell(step.num_blocks > 0 ? std::to_string(step.num_blocks) : "") << cell(tile_text(step))
      << cell(step.shared_bytes > 0 ? kib_text(step.shared_bytes) : "")
      << bytes_cell(step.work.dram) << bytes_cell(measured_dram(measured))
      << bytes_cell(step.work.sm) << bytes_cell(measured_sm(measured))
      << cell(has_time ? time_text(predicted_ms(step.predicted)) : "")
      << cell(std::string(binds ? unit_name(*binds) : ""))
      << cell(measured && measured->median_ms ? time_text(*measured->median_ms) : "")
      << percent(&Measurement::tensor_percent) << percent(&Measurement::exp_percent) << '\n';
}

void write_steps(std::ostream& out, const Row& row, bool is_again) {
  out << "<tr class=\"more\"><td colspan=\"8\"><details><summary>"
      << (row.steps.size() == 1 ? "1 kernel" : std::to_string(row.steps.size()) + " kernels")
      << "</summary><table class=\"steps\"><thead><tr><th>kernel";
  for (const char* name :
       {"launches", "blocks", "tile", "shared", "DRAM counted", "measured", "L2 to SM counted",
        "measured", "time predicted", "bound", "measured", "tensor cores", "exp units"}) {
    out << "<th>" << name;
  }
  out << "<tbody>\n";
  for (const Step& step : row.steps) write_step(out, step, !does_not_fit(row));
  out << "</table>";
  if (!row.prediction_sha256.empty()) {
    out << "<p class=\"note\">SHA-256 of the prediction"
        << (is_again ? "" : ", taken before the measurement") << ": <code>"
        << markup_start(row.prediction_sha256, 64) << "</code></p>";
  }
  out << "</details>\n";
}

std::string kernel_text(const Row& row) {
  return dtype_text(row) + ", " + row.kernel + (row.tile.empty() ? "" : ", tile " + row.tile);
}

void write_row(std::ostream& out, const Row& row, bool is_again) {
  out << "<tr><th scope=\"row\">" << markup_start(shape_text(row), kMostText) << "<small>"
      << markup_start(kernel_text(row), kMostText) << "</small>" << bytes_cell(row.work.sm)
      << bytes_cell(measured_sm(row.measured)) << bytes_ratio_cell(sm_pair(row))
      << predicted_cell(row) << measured_cell(row.measured)
      << ratio_cell(predicted_over_measured(row), RatioBand{kCloseTime}) << cell("")
      << markup_start(row.sentence, kMostText);
  if (!row.failure.empty()) {
    out << "<span class=\"bad\">✗ " << markup_start(row.failure, kMostText) << "</span>";
  }
  out << '\n';
  if (!row.steps.empty()) write_steps(out, row, is_again);
}

void write_columns(std::ostream& out) {
  out << "<thead><tr><th scope=\"col\">shape";
  for (const char* name :
       {"L2 to SM,<br>counted", "L2 to SM,<br>measured", "counted /<br>measured", "time, predicted",
        "time, measured", "predicted /<br>measured", "the gap"}) {
    out << "<th scope=\"col\">" << name;
  }
  out << '\n';
}

}  // namespace

std::string anchor_of(const std::string& variant) { return "rows-" + plain_name(variant); }

void write_rows(std::ostream& out, const Comparison& comparison) {
  for (const std::string& variant : variants_of(comparison)) {
    const std::string anchor = anchor_of(variant);
    out << "<section id=\"" << anchor << "\" aria-labelledby=\"" << anchor
        << "-heading\">\n<h2 id=\"" << anchor << "-heading\">" << markup_start(variant, kMostText)
        << "</h2>\n<div class=\"scroller\" tabindex=\"0\" role=\"region\" aria-labelledby=\""
        << anchor << "-heading\">\n<table class=\"rows\">";
    write_columns(out);
    out << "<tbody>\n";
    for (const Row& row : comparison.rows) {
      if (row.variant == variant) write_row(out, row, comparison.is_again);
    }
    out << "</table>\n</div>\n</section>\n";
  }
}

}  // namespace flashlab::compare
