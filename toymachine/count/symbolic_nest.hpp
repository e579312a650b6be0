// Expressions of a program as polynomials in its parameters. Private to cost formulas.
#pragma once

#include <optional>
#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/iteration_space.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::toy::detail {

/// The name under which the number of registers appears in formulas.
inline constexpr const char* kRegistersSymbol = "registers";

/// The number of the loop over all machines, whose variable is the machine's number.
inline std::size_t machines_loop(const Program& program) { return program.loop_vars.size(); }

/// Adds the condition that the polynomial is at least 1; for a product, that each factor is.
void add_positive(const Polynomial& polynomial, std::vector<Condition>& conditions);

class SymbolicExpressions {
 public:
  explicit SymbolicExpressions(const Program& program);

  /// Returns the expression over parameters and loop_atom(loop). Reports why and returns nothing if
  /// there is none.
  std::optional<NestExpression> bound(const Expression& expression);
  /// The same for places that allow no min, max or quotients of loop variables.
  std::optional<Polynomial> polynomial(const Expression& expression);
  /// Like polynomial(), but reports nothing.
  std::optional<Polynomial> try_polynomial(const Expression& expression);

  /// The conditions on the parameters under which all divisors so far are positive.
  const std::vector<Condition>& conditions() const { return conditions_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::optional<NestExpression> parameter(const Expression& expression);
  std::optional<NestExpression> fail(const Expression& expression, std::string why);
  std::optional<NestExpression> whole_number(const Expression& expression);
  std::optional<NestExpression> sum(const Expression& expression, int sign);
  std::optional<NestExpression> product(const Expression& expression);
  std::optional<NestExpression> extreme(const Expression& expression);
  std::optional<NestExpression> exact_quotient(const Expression& expression);
  std::optional<NestExpression> quotient(const Expression& numerator, const Expression& denominator,
                                         NestExpression::Op op);
  std::optional<NestExpression> rounded(const Expression& expression, NestExpression::Op op);
  std::optional<NestExpression> extent(const Expression& expression);

  const Program& program_;
  std::vector<char> follow_rank_;  // by parameter
  std::vector<Condition> conditions_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace flashlab::toy::detail
