// The results of `flashlab attention` as tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/attention/bench.hpp"
#include "cli/attention/summary.hpp"
#include "cli/attention/verify.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// The version of all JSON that `flashlab attention` prints.
inline constexpr int kAttentionJsonVersion = 1;

/// Wraps the text into lines that fit, each with a line end.
std::string in_lines(const std::string& text, const Terminal& terminal);
/// Returns milliseconds with at least two digits.
std::string milliseconds(double seconds);
/// Returns "1.5 MiB".
std::string byte_text(std::int64_t bytes);

std::string summaries_text(const std::vector<AttentionSummary>& summaries,
                           const Terminal& terminal);
std::string verification_text(const Verification& verification, const Terminal& terminal);
std::string measurement_text(const Measurement& measurement, const Terminal& terminal);

nlohmann::ordered_json request_json(const AttentionRequest& request);
nlohmann::ordered_json summaries_json(const std::vector<AttentionSummary>& summaries);
nlohmann::ordered_json verification_json(const Verification& verification);
nlohmann::ordered_json measurement_json(const Measurement& measurement);

}  // namespace flashlab::cli
