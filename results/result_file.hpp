// The file of a comparison: predictions and measurements, the GPU, the date, the command.
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
  std::string gpu_key;                 // key of gpu_specs(): "h200"
  std::string gpu_name, driver, cuda;  // of the measured GPU; empty: nothing was measured
  std::string date, commit, command;
  std::optional<Calibration> calibration;
  /// The predictions were made again, after the measurements. Their hashes prove nothing then.
  bool is_again = false;
  std::vector<Row> rows;
};

/// What is said of a comparison with is_again.
inline constexpr std::string_view kPredictedAgain =
    "predicted again by this version, after the measurements";

/// Returns the variants in the order of the rows, each once.
std::vector<std::string> variants_of(const Comparison& comparison);

/// An error in a file: place (JSON pointer or byte), value, what was expected.
class ResultFileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

nlohmann::ordered_json to_json(const Comparison& comparison);
nlohmann::ordered_json to_json(const Calibration& calibration);
/// Returns the JSON of a file: one line for each row. Measured and predicted numbers
/// have six digits.
std::string to_text(const Comparison& comparison);
/// Parses a file. Throws ResultFileError: not JSON (truncated), another version, an
/// invalid value, NaN.
Comparison parse_comparison(std::string_view text);
Calibration parse_calibration(std::string_view text);

/// Returns the names of the embedded comparisons: "h200" for docs/results/compare_h200.json.
std::vector<std::string> committed_results();
/// Returns nothing if there is no such name.
std::optional<std::string_view> committed_result(std::string_view name);

/// Returns a header line with units, then one line for each row.
std::string to_csv(const Comparison& comparison);

/// Returns the hash of the row's prediction.
std::string prediction_sha256(const Row& row);

}  // namespace flashlab::compare
