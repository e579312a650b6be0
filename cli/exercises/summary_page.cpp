// The summary as a page of its own.
#include <algorithm>
#include <sstream>

#include "cli/exercises/summary.hpp"
#include "text/markup.hpp"
#include "text/page.hpp"
#include "text/sha256.hpp"

namespace flashlab::cli {
namespace {

constexpr std::string_view kSummaryRules = R"(
body { max-width: 60rem; }
h2 { font-size: 1rem; margin: 0 0 0.6rem; }
a { color: var(--accent); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; }
thead th { color: var(--soft); }
.number { text-align: right; white-space: nowrap; }
.scroller { overflow-x: auto; }
.scroller + .note { margin-top: 0.75rem; }
@media (max-width: 34rem) {
  table { font-size: 0.875rem; }
  th, td { padding-right: 0.6rem; }
  thead th { vertical-align: bottom; line-height: 1.25; }
  thead th.number { white-space: normal; }
  th { overflow-wrap: anywhere; }
}
summary { cursor: pointer; }
pre { overflow-x: auto; padding: 0.5rem 0.7rem; border-left: 3px solid var(--line);
  font: 0.8125rem/1.45 var(--mono); }
.answer { white-space: pre-wrap; }
)";

constexpr std::string_view kSummaryPage = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{{style hash}}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>flashlab: your exercises</title>
<style>{{style}}</style>
</head>
<body>
<header><h1>Your exercises</h1><p class="facts">{{facts}}</p></header>
<main>
<section>
<h2>Points and cycles</h2>
<div class="scroller" tabindex="0" role="region" aria-label="Points and cycles">
<table>
<thead><tr><th scope="col">exercise</th><th scope="col" class="number">points</th><th scope="col" class="number">your cycles</th><th scope="col" class="number">full marks</th><th scope="col" class="number">proven best</th></tr></thead>
<tbody>
{{rows}}</tbody>
</table>
</div>
<p class="note">{{note}}</p>
</section>
{{works}}</main>
</body>
</html>
)";

void write_number(std::ostream& out, const std::string& text) {
  out << "<td class=\"number\">" << markup_text(text) << "</td>";
}

void write_rows(std::ostream& out, const std::vector<SummarisedExercise>& all) {
  for (const SummarisedExercise& one : all) {
    const SummarisedCycles cycles = summarised_cycles(one);
    const std::string id = markup_text(one.exercise->id);
    out << "<tr><th scope=\"row\">";
    if (one.work.empty()) {
      out << id;
    } else {
      out << "<a href=\"#" << plain_name(one.exercise->id) << "\">" << id << "</a>";
    }
    out << "</th>";
    write_number(out, exercises::points_text(one.points) + " of " +
                          exercises::points_text(one.exercise->max_points()));
    write_number(out, cycles.yours);
    write_number(out, cycles.full);
    write_number(out, cycles.proven);
    out << "</tr>\n";
  }
}

/// The learner's programs, and the answers for the exercises that are passed.
void write_works(std::ostream& out, const std::vector<SummarisedExercise>& all) {
  for (const SummarisedExercise& one : all) {
    const bool has_answer = one.is_passed && !one.exercise->afterwards.empty();
    if (one.work.empty() && !has_answer && !one.of_class) continue;
    out << "<section id=\"" << plain_name(one.exercise->id) << "\">\n<h2>"
        << markup_text(one.exercise->id + ": " + one.exercise->title) << "</h2>\n";
    if (!one.work.empty()) {
      out << "<details><summary>"
          << (one.exercise->kind == exercises::Kind::kProgram ? "Your program" : "Your answers")
          << "</summary>\n<pre>" << markup_text(one.work) << "</pre></details>\n";
    }
    if (one.of_class) exercises::write_histogram(out, *one.of_class);
    if (has_answer) {
      out << "<p class=\"note\">Afterwards</p>\n<p class=\"answer\">"
          << markup_text(one.exercise->afterwards) << "</p>\n";
    }
    out << "</section>\n";
  }
}

void write_summary_facts(std::ostream& out, const std::vector<SummarisedExercise>& all) {
  double points = 0, most = 0;
  for (const SummarisedExercise& one : all) {
    points += one.points;
    most += one.exercise->max_points();
  }
  const auto done = std::count_if(all.begin(), all.end(),
                                  [](const SummarisedExercise& one) { return one.is_passed; });
  out << done << " of " << all.size() << " done · " << exercises::points_text(points) << " of "
      << points_text(most);
}

}  // namespace

void write_summary_page(std::ostream& out, const std::vector<SummarisedExercise>& all) {
  const std::string style = page_style(std::string(kSummaryRules) + exercises::histogram_style());
  write_page(out, kSummaryPage,
             {{"style", [&](std::ostream& o) { o << style; }},
              {"style hash", [&](std::ostream& o) { o << base64(sha256(style)); }},
              {"facts", [&](std::ostream& o) { write_summary_facts(o, all); }},
              {"rows", [&](std::ostream& o) { write_rows(o, all); }},
              {"note", [](std::ostream& o) { o << markup_text(kCyclesNote); }},
              {"works", [&](std::ostream& o) { write_works(o, all); }}});
}

}  // namespace flashlab::cli
