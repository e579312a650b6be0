#include "cli/terminal/failure.hpp"

#include <algorithm>
#include <iostream>

#include "cli/terminal/terminal.hpp"
#include "text/visible.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::cli {

using toy::Diagnostic;
using toy::Fault;

std::string in_quotes(const std::string& text) { return "'" + printable(text) + "'"; }

Failure request_failure(const std::string& what, const std::string& expected,
                        const std::string& suggestion) {
  const Diagnostic diagnostic = toy::request_error(what, expected, suggestion);
  return {kExitRequestWrong, toy::format(diagnostic, toy::SourceText("flashlab", ""))};
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
  return {code, toy::format(diagnostics, source)};
}

void print_warnings(const std::vector<Diagnostic>& diagnostics, const toy::SourceText& source) {
  std::cerr << toy::format(diagnostics, source);
}

}  // namespace flashlab::cli
