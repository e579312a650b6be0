// Explains a wrong answer.
#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "exercises/grader/exercise/judge_answer.hpp"
#include "exercises/grader/exercise/rational.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"

namespace flashlab::exercises {
namespace {

constexpr long kLargestFactor = 1'000'000;  // a larger factor is no explanation

/// "12", "1/3", or "about 1.3e+42" for long numbers.
std::string exact_or_about(const mpq_class& number) {
  constexpr std::size_t kLongest = 20;
  const std::string exact = to_string(number);
  if (exact.size() <= kLongest) return exact;
  mpf_class approximate(number, 64);
  mp_exp_t exponent = 0;
  std::string digits = approximate.get_str(exponent, 10, 4);
  const std::string sign = digits.starts_with('-') ? "-" : "";
  digits.erase(0, sign.size());
  return "about " + sign + digits.substr(0, 1) + "." +
         (digits.size() > 1 ? digits.substr(1) : "0") + "e" + std::to_string(exponent - 1);
}

/// "2 times too large"; empty if the ratio is not a simple factor.
std::string factor_text(const mpq_class& ratio) {
  if (ratio == -1) return "the sign is wrong";
  if (ratio.get_den() == 1 && ratio > 1 && ratio <= kLargestFactor) {
    return ratio.get_str() + " times too large";
  }
  const mpz_class& inverse = ratio.get_den();
  if (ratio.get_num() == 1 && inverse > 1 && inverse <= kLargestFactor) {
    return inverse.get_str() + " times too small";
  }
  return {};
}

/// Adds the symbols of a polynomial, including those inside ceil and floor.
void add_symbols(const toy::Polynomial& polynomial, std::set<std::string>& symbols) {
  for (const toy::Atom& atom : polynomial.atoms()) {
    if (atom.kind() == toy::Atom::Kind::kSymbol) {
      symbols.insert(atom.key());
    } else {
      add_symbols(atom.numerator(), symbols);
      add_symbols(atom.denominator(), symbols);
    }
  }
}

std::set<std::string> symbols_of(const RationalFunction& formula) {
  std::set<std::string> symbols;
  add_symbols(formula.numerator, symbols);
  add_symbols(formula.denominator, symbols);
  return symbols;
}

/// Variables that occur in only one of the answer and the expected answer.
std::vector<std::string> dependences(const Answer& answer, const Answer& expected) {
  const std::set<std::string> mine = symbols_of(answer.formula);
  const std::set<std::string> right = symbols_of(expected.formula);
  std::vector<std::string> lines;
  for (const std::string& name : right) {
    if (!mine.contains(name)) lines.push_back("the right answer depends on " + name);
  }
  for (const std::string& name : mine) {
    if (!right.contains(name)) lines.push_back("the right answer does not depend on " + name);
  }
  return lines;
}

bool keeps(const Condition& condition, const Size& size) {
  const std::int64_t left = size.at(condition.left), right = size.at(condition.right);
  return condition.relation == Condition::Relation::kDivides ? right % left == 0 : left <= right;
}

/// Small sizes at which the formulas are compared. They keep the question's conditions, and the
/// first are easy to check by hand.
std::vector<Size> trial_sizes(const Question& question) {
  const std::vector<std::string>& variables = question.variables;
  constexpr std::array<std::int64_t, 12> kValues = {2, 3, 5, 7, 4, 9, 1, 6, 11, 8, 13, 10};
  std::vector<Size> sizes;
  for (std::size_t start = 0; start < kValues.size(); ++start) {
    for (std::size_t stride = 1; stride < kValues.size(); ++stride) {
      Size size;
      for (std::size_t i = 0; i < variables.size(); ++i) {
        size[variables[i]] = kValues[(start + i * stride) % kValues.size()];
      }
      for (const Condition& condition : question.conditions) {
        if (condition.relation != Condition::Relation::kDivides) continue;
        std::int64_t& multiple = size.at(condition.right);
        multiple = std::lcm(multiple, size.at(condition.left));
      }
      if (std::all_of(question.conditions.begin(), question.conditions.end(),
                      [&](const Condition& condition) { return keeps(condition, size); })) {
        sizes.push_back(std::move(size));
      }
    }
  }
  return sizes;
}

/// "n = 2, d = 3", in the order of the question.
std::string variables_text(const Size& size, const std::vector<std::string>& variables) {
  return joined(variables, ", ", [&](const std::string& name) {
    return name + " = " + std::to_string(size.at(name));
  });
}

Objection counterexample(const Question& question, const Answer& answer, const Answer& expected) {
  for (const Size& size : trial_sizes(question)) {
    const auto right = value_at(expected.formula, size);
    if (!right) continue;
    const std::string at =
        size.empty() ? std::string() : "at " + variables_text(size, question.variables) + " ";
    const auto mine = value_at(answer.formula, size);
    if (!mine) return {at + "it has no value, and the right answer has one", {}};
    if (*mine != *right)
      return {at + "it is " + exact_or_about(*mine) + ", which is not right", {}};
  }
  return {"it has the right value at small sizes, but could not be shown to be equal",
          {"write ceil and floor around one quotient: ceil(n/B)"}};
}

Objection object_to_formula(const Question& question, const Answer& answer,
                            const Answer& expected) {
  Objection objection;
  const bool constant = symbols_of(expected.formula).empty();
  if (!expected.formula.numerator.is_zero()) {
    const auto ratio = constant_ratio(answer.formula, expected.formula);
    objection.what = ratio ? factor_text(*ratio) : "";
    if (ratio && *ratio != 0 && objection.what.empty() && !constant) {
      objection.what = "right except for a constant factor";
    }
  }
  if (objection.what.empty() && question.leading) {
    objection.what = "not right, not even to leading order";
  }
  if (objection.what.empty() && equal_to_leading_order(answer.formula, expected.formula)) {
    objection.what = "right to leading order, but the other terms count, too";
  }
  if (objection.what.empty()) objection = counterexample(question, answer, expected);
  for (std::string& line : dependences(answer, expected)) {
    objection.details.push_back(std::move(line));
  }
  return objection;
}

Objection object_to_number(const Question& question, const Answer& answer, const Answer& expected) {
  const mpq_class mine = value_at(answer.formula, {}).value_or(0);
  const mpq_class right = value_at(expected.formula, {}).value_or(0);
  if (question.within > 1 && sgn(mine) == sgn(right) && right != 0) {
    return {std::string("too ") + (abs(mine) > abs(right) ? "large" : "small") +
                " by more than a factor of " + short_text(question.within),
            {}};
  }
  if (right != 0) {
    const std::string factor = factor_text(mine / right);
    if (!factor.empty()) return {factor, {}};
    const mpq_class near =
        std::max<mpq_class>(mpq_class(question.tolerance) * 5, mpq_class(1, 100));
    if (abs(mine - right) <= near * abs(right)) {
      return {"close, but not within the tolerance",
              {question.tolerance > 0
                   ? "expected a relative error of at most " + short_text(question.tolerance)
                   : "expected the exact value"}};
    }
  }
  return {exact_or_about(mine) + " is not right", {}};
}

}  // namespace

Objection object_to(const Question& question, const Answer& answer, const Answer& expected) {
  for (const Mistake& mistake : question.mistakes) {
    const auto listed = read_answer(question, toy::SourceText("mistake", mistake.answer));
    if (listed && agree(question, answer, *listed)) return {mistake.says, {}};
  }
  switch (question.kind) {
    case AnswerKind::kFormula:
      return object_to_formula(question, answer, expected);
    case AnswerKind::kNumber:
      return object_to_number(question, answer, expected);
    case AnswerKind::kChoice:
    case AnswerKind::kOpen:
      break;
  }
  return {"this choice is not right", {}};
}

}  // namespace flashlab::exercises
