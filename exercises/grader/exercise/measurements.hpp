// Figures from committed measurement files, which `flashlab compare` wrote.
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

/// Where to find one figure: in the one entry of "rows" that agrees with `where` (variant "flash2",
/// head_dim 64), or in the whole file if `where` is empty.
struct Lookup {
  std::string file;  // "compare_h200"
  std::map<std::string, std::variant<std::string, std::int64_t, double, bool>> where;
  /// Paths of keys: "measured/median_ms". A step into an array is an index or the entry's "name":
  /// "steps/naive_softmax/measured/median_ms". The figure is the sum of several paths.
  std::vector<std::string> values;
};

/// Why there is no figure. `key` is the member with the error: "file", "where", "value".
struct LookupError {
  std::string key, what, expected, suggestion;
};

/// The files. Each is parsed at its first use.
class Measurements {
 public:
  explicit Measurements(const Files& files) : files_(files) {}
  std::variant<double, LookupError> find(const Lookup& lookup);

 private:
  std::variant<const nlohmann::json*, LookupError> parsed(const std::string& file);

  const Files& files_;
  std::map<std::string, std::shared_ptr<const nlohmann::json>> parsed_;
};

/// Formats the number with this many significant digits, so that parse_formula can read it:
/// "3.91", "12300", "1.07e9".
std::string with_digits(double value, int digits);

}  // namespace flashlab::exercises
