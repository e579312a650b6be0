// The file of a comparison: what was predicted and measured, on which GPU, when, with which
// command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

inline constexpr int kResultVersion = 1;
inline constexpr const char *kResultFormat = "flashlab-compare",
                            *kCalibrationFormat = "flashlab-calibration";

struct Comparison {
  std::string gpu_key;                 // as gpu_specs() has it: "h200"
  std::string gpu_name, driver, cuda;  // of the GPU that measured; empty: nothing was measured
  std::string date, commit, command;
  std::optional<Calibration> calibration;
  std::vector<Row> rows;
};

/// Variants in the order of the rows, each once.
std::vector<std::string> variants_of(const Comparison& comparison);

/// What is wrong with a file: place (JSON pointer or byte), value, what was expected.
class ResultFileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

nlohmann::ordered_json to_json(const Comparison& comparison);
nlohmann::ordered_json to_json(const Calibration& calibration);
/// The JSON of a file: one line per row. Numbers that were measured or predicted have six digits.
std::string to_text(const Comparison& comparison);
/// Throws ResultFileError: not JSON (truncated), another version, a value that is none, NaN.
Comparison parse_comparison(std::string_view text);
Calibration parse_calibration(std::string_view text);

/// The comparisons that come with the program: "h200" of docs/results/compare_h200.json.
std::vector<std::string> committed_results();
/// Nothing: no such name.
std::optional<std::string_view> committed_result(std::string_view name);

/// One line per row; a header line with units.
std::string to_csv(const Comparison& comparison);

/// What prediction_sha256 is of.
std::string prediction_sha256(const Row& row);

}  // namespace flashlab::compare
