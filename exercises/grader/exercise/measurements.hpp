// Figures out of committed files of measurements: what `flashlab compare` wrote.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// One figure: of the one entry of "rows" that agrees with `where` (variant "flash2", head_dim 64),
/// or of the whole file when `where` is empty.
struct Lookup {
  std::string file;  // "compare_h200"
  std::map<std::string, std::variant<std::string, std::int64_t, double, bool>> where;
  /// Paths of keys: "measured/median_ms"; in an array by index or by the entry's "name":
  /// "steps/naive_softmax/measured/median_ms". The sum of several.
  std::vector<std::string> values;
};

/// Why there is no figure. `key` is the member that is to blame: "file", "where", "value".
struct LookupError {
  std::string key, what, expected, suggestion;
};

/// The files, parsed when they are first asked for.
class Measurements {
 public:
  explicit Measurements(const Files& files) : files_(files) {}
  std::variant<double, LookupError> find(const Lookup& lookup);

 private:
  std::variant<const nlohmann::json*, LookupError> parsed(const std::string& file);

  const Files& files_;
  std::map<std::string, std::shared_ptr<const nlohmann::json>> parsed_;
};

/// The number with this many significant digits, as parse_formula reads it: "3.91", "12300",
/// "1.07e9".
std::string with_digits(double value, int digits);

}  // namespace flashlab::exercises
