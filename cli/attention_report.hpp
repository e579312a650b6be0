// What `flashlab attention` found, as tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/attention_bench.hpp"
#include "cli/attention_verify.hpp"
#include "cli/terminal.hpp"

namespace flashlab::cli {

/// One run of one variant: what its outputs come to.
struct AttentionSummary {
  struct Output {
    std::string name;
    double norm = 0, sum = 0;  // of the finite elements
    std::int64_t num_infinite = 0, num_nan = 0;
  };
  std::string variant;
  AttentionRun run;
  std::vector<Output> outputs;
};

/// The text in lines that fit, each ended.
std::string in_lines(const std::string& text, const Terminal& terminal);

std::string summaries_text(const std::vector<AttentionSummary>& summaries,
                           const Terminal& terminal);
std::string verification_text(const Verification& verification, const Terminal& terminal);
std::string measurement_text(const Measurement& measurement, const Terminal& terminal);

nlohmann::ordered_json request_json(const AttentionRequest& request);
nlohmann::ordered_json summaries_json(const std::vector<AttentionSummary>& summaries);
nlohmann::ordered_json verification_json(const Verification& verification);
nlohmann::ordered_json measurement_json(const Measurement& measurement);

}  // namespace flashlab::cli
