#include "cli/terminal/failure.hpp"

#include <algorithm>
#include <iostream>

#include "cli/terminal/terminal.hpp"
#include "text/visible.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::cli {

using toy::Diagnostic;
using toy::Fault;

namespace {
thread_local KeptWarnings* kept_warnings = nullptr;
}

std::string in_quotes(const std::string& text) { return "'" + printable(text) + "'"; }

Failure request_failure(const std::string& what, const std::string& expected,
                        const std::string& suggestion) {
  const Diagnostic diagnostic = toy::request_error(what, expected, suggestion);
  return {
      kExitRequestWrong, toy::format(diagnostic, toy::SourceText("flashlab", "")), {diagnostic}};
}

Failure program_failure(const std::vector<Diagnostic>& diagnostics, const toy::SourceText& source) {
  const auto any = [&](Fault fault) {
    return std::any_of(diagnostics.begin(), diagnostics.end(), [fault](const Diagnostic& d) {
      return d.severity == toy::Severity::kError && d.fault == fault;
    });
  };
  const ExitCode code = any(Fault::kProgram)   ? kExitProgramWrong
                        : any(Fault::kRequest) ? kExitRequestWrong
                        : any(Fault::kLimit)   ? kExitLimit
                                               : kExitProgramWrong;
  return {code, toy::format(diagnostics, source), diagnostics};
}

void print_warnings(const std::vector<Diagnostic>& diagnostics, const toy::SourceText& source) {
  if (kept_warnings != nullptr) {
    kept_warnings->all_.insert(kept_warnings->all_.end(), diagnostics.begin(), diagnostics.end());
  } else {
    std::cerr << toy::format(diagnostics, source);
  }
}

void print_note(const std::string& what) {
  if (kept_warnings != nullptr) {
    Diagnostic note = toy::request_error(what);
    note.severity = toy::Severity::kNote;
    print_warnings({note}, toy::SourceText("flashlab", ""));
  } else {
    std::cerr << "flashlab: " << what << "\n";
  }
}

KeptWarnings::KeptWarnings() : outer_(std::exchange(kept_warnings, this)) {}
KeptWarnings::~KeptWarnings() { kept_warnings = outer_; }

}  // namespace flashlab::cli
