#include "cli/requests/diagnostics_json.hpp"

#include <nlohmann/json.hpp>

namespace flashlab::cli {
namespace {

const char* word(toy::Severity severity) {
  return severity == toy::Severity::kError     ? "error"
         : severity == toy::Severity::kWarning ? "warning"
                                               : "note";
}

const char* word(toy::Fault fault) {
  return fault == toy::Fault::kProgram ? "program"
         : fault == toy::Fault::kLimit ? "limit"
                                       : "request";
}

/// Line and column count from 1, columns in bytes; both are null for an error without a place.
Json diagnostic_json(const toy::Diagnostic& diagnostic) {
  const bool placed = diagnostic.span.line > 0;
  return {{"severity", word(diagnostic.severity)},
          {"fault", word(diagnostic.fault)},
          {"line", placed ? Json(diagnostic.span.line) : Json()},
          {"column", placed ? Json(diagnostic.span.column) : Json()},
          {"length", placed ? Json(diagnostic.span.length) : Json()},
          {"what", diagnostic.what},
          {"expected", diagnostic.expected},
          {"suggestion", diagnostic.suggestion}};
}

}  // namespace

Json diagnostics_json(const std::vector<toy::Diagnostic>& diagnostics) {
  Json list = Json::array();
  for (const toy::Diagnostic& diagnostic : diagnostics) list.push_back(diagnostic_json(diagnostic));
  return list;
}

}  // namespace flashlab::cli
