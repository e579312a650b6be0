#include "cli/exercises/failing_run_view.hpp"

#include <iostream>

#include "cli/exercises/exercise_json.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/markup.hpp"
#include "text/page.hpp"
#include "text/sha256.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr std::string_view kVerdictRules = R"(
body { max-width: 60rem; }
h2 { font-size: 1rem; margin: 0 0 0.6rem; }
pre { margin: 0; overflow-x: auto; font: 0.8125rem/1.45 var(--mono); white-space: pre-wrap;
  overflow-wrap: anywhere; }
.narrow { display: none; }
@media (max-width: 44rem) {
  .wide { display: none; }
  .narrow { display: block; }
  pre { font-size: 0.75rem; }
}
)";

constexpr std::string_view kVerdictPage = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{{style hash}}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{{title}}</title>
<style>{{style}}</style>
</head>
<body>
<header><h1>{{title}}</h1></header>
<main>
<section><h2>The check</h2><pre class="wide">{{said}}</pre><pre class="narrow">{{said on a phone}}</pre></section>
<section><h2>Your program</h2><pre>{{program}}</pre></section>
</main>
</body>
</html>
)";

}  // namespace

std::string debug_hint(const Work& work, const exercises::Verdict& verdict) {
  if (exercises::guilty_step(verdict) == nullptr) return {};
  return "See it happen: flashlab exercises debug " + printable(work.exercise->id) + " " +
         printable(work.file) + "\n";
}

exercises::FailingRun find_failing_run(const Work& work, const toy::SourceText& source,
                                       const exercises::Verdict& verdict) {
  auto run = exercises::failing_run(*work.exercise, source, verdict);
  if (run) return std::move(*run);
  throw request_failure(
      "no step of " + printable(work.file) + " is known to be wrong",
      "a program for " + printable(work.exercise->id) + " whose check names a step");
}

int debug_failing_run(const exercises::FailingRun& run, DebuggerRequest request,
                      const TerminalOptions& terminal) {
  request.first.push_back("step " + std::to_string(run.step - 1));
  request.why = "Opened before step " + std::to_string(run.step) + ": " + run.why;
  return open_debugger(run.program, toy::InitialDram::of_cells(run.program, run.dram), request,
                       terminal);
}

void write_check_page(const Work& work, const toy::SourceText& source,
                      const exercises::Verdict& verdict, const CheckSaid& said,
                      const std::string& file) {
  const auto run = exercises::failing_run(*work.exercise, source, verdict);
  write_file(file, [&](std::ostream& out) {
    if (run) return write_failing_page(*run, out);
    const std::string style = page_style(kVerdictRules);
    write_page(out, kVerdictPage,
               {{"style", [&](std::ostream& o) { o << style; }},
                {"style hash", [&](std::ostream& o) { o << base64(sha256(style)); }},
                {"title", [&](std::ostream& o) { o << markup_text(work.exercise->id); }},
                {"said", [&](std::ostream& o) { o << markup_text(said.wide); }},
                {"said on a phone", [&](std::ostream& o) { o << markup_text(said.narrow); }},
                {"program", [&](std::ostream& o) { o << markup_text(source.text()); }}});
  });
  if (file != "-") std::cout << "Wrote " << printable(file) << ".\n";
}

}  // namespace flashlab::cli
