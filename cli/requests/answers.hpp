// Answers requests of the JSON interface with the functions that the command's --json uses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/requests/request_reader.hpp"
#include "cli/terminal/failure.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::cli {

/// What one call may use.
struct CallLimits {
  std::int64_t milliseconds = 10'000;
  std::int64_t bytes = std::int64_t{1} << 30;
  std::int64_t steps = toy::Limits().max_steps;
};

/// The answer as JSON text, and the error of a run that ended early, whose trace is still useful.
struct Answer {
  std::string json;
  std::optional<Failure> failed = {};
};

/// Answers the request. Throws BadRequest for its fields, and Failure as the command does. Opens no
/// files: call it within a GivenFiles.
Answer answer_request(ObjectReader& request, const CallLimits& limits);

/// Returns the texts of the field "files".
std::map<std::string, std::string> given_texts(ObjectReader& request);

}  // namespace flashlab::cli
