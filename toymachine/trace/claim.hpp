// What a `.name` line claims, computed from the inputs in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/expression.hpp"

namespace flashlab::toy {

/// A value, and what rounding may do to it in a program that computes the same in floating point.
struct Estimate {
  double value = 0;
  double error = 0;       // first-order bound, in units of the relative rounding error
  double operations = 0;  // each may underflow

  /// True when a result of a program that rounds to `epsilon` (and flushes below `smallest`) can be
  /// this value. Programs order and rescale their sums as they like (online softmax rounds three
  /// times a term), hence the factor of 8.
  bool allows(double result, double epsilon, double smallest) const;
};

/// "c[0][1]", "m'": the same for a label that is made and for a claim that speaks of it.
std::string label_key(const std::string& label, const std::vector<std::int64_t>& subscripts);

class ClaimChecker {
 public:
  /// The value of a DRAM element before the first step.
  using Input = std::function<double(std::size_t)>;

  ClaimChecker(const BoundProgram& program, Input input, std::uint64_t max_work);

  /// Nothing when the claim speaks of what is not known (a label without a claim, a cell that is no
  /// input's), when it has no value (log of a negative number), when elements are tiles, or when
  /// the work is used up.
  std::optional<Estimate> evaluate(const Expression& claim, const std::int64_t* loop_values,
                                   std::uint32_t innermost_loop);

  /// What a label stands for from now on; nothing: it claims nothing that could be computed.
  void define(const std::string& label, const std::vector<std::int64_t>& subscripts,
              const std::optional<Estimate>& estimate);
  /// A prime went: what `from` stood for, `to` stands for.
  void rename(const std::string& from, const std::string& to,
              const std::vector<std::int64_t>& subscripts);

 private:
  class Evaluation;

  const BoundProgram& program_;
  Input input_;
  std::uint64_t work_left_;
  std::vector<std::int64_t> variables_;            // by Program::loop_vars
  std::set<std::string, std::less<>> referenced_;  // labels that claims speak of, without primes
  std::map<std::string, Estimate, std::less<>> labels_;
};

/// True when any `.name` of the program claims something.
bool has_claims(const BoundProgram& program);

}  // namespace flashlab::toy
