// Computes the claim of a `.name` line from the inputs in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/expression.hpp"

namespace flashlab::toy {

/// A value, and the effect that rounding may have on it in a program that computes it
/// in floating point.
struct Estimate {
  double value = 0;
  double error = 0;       // first-order bound, in units of the relative rounding error
  double operations = 0;  // each may underflow

  /// Whether a result of a program that rounds to `epsilon` (and flushes below `smallest`) can be
  /// this value. Programs may order and rescale their sums freely (online softmax rounds three
  /// times per term), hence the factor of 8.
  bool allows(double result, double epsilon, double smallest) const;
};

/// "c[0][1]", "m'": equal for a label that is made and for a claim that refers to it.
std::string label_key(const std::string& label, const std::vector<std::int64_t>& subscripts);

class ClaimChecker {
 public:
  /// The value of a DRAM element before the first step.
  using Input = std::function<double(std::size_t)>;

  ClaimChecker(const BoundProgram& program, Input input, std::uint64_t max_work);

  /// Computes the claim's value. Returns nothing if the claim refers to something unknown (a label
  /// without a claim, a cell of an array that is no input), if it has no value (log of a negative
  /// number), if elements are tiles, or if the work limit is reached.
  std::optional<Estimate> evaluate(const Expression& claim, const std::int64_t* loop_values,
                                   std::uint32_t innermost_loop);

  /// Sets the label's value from now on; nothing: its claim has no value that could be computed.
  void define(const std::string& label, const std::vector<std::int64_t>& subscripts,
              const std::optional<Estimate>& estimate);
  /// A prime was removed: `to` now has the value of `from`.
  void rename(const std::string& from, const std::string& to,
              const std::vector<std::int64_t>& subscripts);

 private:
  class Evaluation;

  const BoundProgram& program_;
  Input input_;
  std::uint64_t work_left_;
  std::vector<std::int64_t> variables_;            // by Program::loop_vars
  std::set<std::string, std::less<>> referenced_;  // labels used in claims, without primes
  std::map<std::string, Estimate, std::less<>> labels_;
};

/// Whether any `.name` of the program has a claim.
bool has_claims(const BoundProgram& program);

}  // namespace flashlab::toy
