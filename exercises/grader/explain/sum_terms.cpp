#include "exercises/grader/explain/sum_terms.hpp"

#include <stdexcept>

#include "toymachine/forms/form_algebra.hpp"
#include "toymachine/forms/formula_difference.hpp"

namespace flashlab::exercises {
namespace {

/// The number of terms; 0 for a quotient, and for what is no sum.
std::size_t num_terms(toy::FormAlgebra& algebra, const toy::NormalForm& form) {
  const toy::FormParts parts = algebra.parts(form);
  return parts.denominator.is_written() ? 0 : parts.terms.size();
}

}  // namespace

std::optional<SumDifference> sum_difference(const FailedRun& run) {
  if (!run.has_forms() || run.failing_step() == kNobody || !run.wanted().is_written()) return {};
  try {
    toy::FormAlgebra algebra;
    const toy::NormalForm held = algebra.local(run.form(run.failing_step()));
    const toy::NormalForm wanted = algebra.local(run.wanted());
    const std::size_t mine = num_terms(algebra, held), right = num_terms(algebra, wanted);
    if (mine == 0 || right == 0 || mine == right) return {};
    const bool are_missing = mine < right;
    const toy::NormalForm rest =
        are_missing ? algebra.subtract(wanted, held) : algebra.subtract(held, wanted);
    const std::size_t more = are_missing ? right - mine : mine - right;
    if (num_terms(algebra, rest) != more || 2 * more > std::max(mine, right)) return {};
    return SumDifference{are_missing, more, toy::shortened_formula(run.text(rest))};
  } catch (const std::length_error&) {
    return {};  // too long to be compared
  } catch (const std::invalid_argument&) {
    return {};  // -inf and undefined values are no sums
  }
}

std::string sum_text(const SumDifference& difference) {
  const bool is_one = difference.count == 1;
  return std::string(is_one ? "the term " : "these terms are ") +
         (is_one ? difference.terms + (difference.are_missing ? " is missing" : " is one too many")
                 : (difference.are_missing ? "missing: " : "too many: ") + difference.terms);
}

}  // namespace flashlab::exercises
