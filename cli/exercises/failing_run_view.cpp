#include "cli/exercises/failing_run_view.hpp"

#include <algorithm>
#include <iostream>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/visible.hpp"
#include "toymachine/trace/trace_html.hpp"
#include "toymachine/trace/trace_json.hpp"

namespace flashlab::cli {

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

void write_failing_page(const exercises::FailingRun& run, const std::string& file) {
  constexpr std::uint64_t kBefore = 2000, kAfter = 50;  // steps; a page of all may be huge
  toy::TraceOptions options;
  options.from = run.step > kBefore ? run.step - kBefore : 1;
  options.to = run.step + kAfter;
  write_file(file, [&](std::ostream& out) {
    toy::TraceHtmlBuffer buffer(out);
    std::ostream json(&buffer);
    std::vector<float> cells(run.dram.begin(), run.dram.end());
    const auto sink = toy::make_trace_json(json, {toy::CostTable()});
    // A run that ends with an error is what the page shows.
    static_cast<void>(toy::trace(run.program, std::span<float>(cells), options, *sink));
    json.flush();
    value_or_fail(buffer.finish(""), *run.program.program->source);
  });
  if (file != "-") std::cout << "Wrote " << printable(file) << ".\n";
}

}  // namespace flashlab::cli
