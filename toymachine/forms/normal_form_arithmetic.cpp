// The machine's operations on forms, and the rules that make equal formulas equal.
#include <algorithm>

#include "toymachine/forms/normal_form_store.hpp"
#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::int64_t kLargestLogPower = 4;  // e^(k log a) = a^k up to this k

bool is_constant(const FormTerm& term) {
  return term.monomial->powers.empty() && !term.monomial->exponent;
}

/// Returns the number if the form is one, else null.
const Rational* as_rational(const FormNode* form) {
  static const Rational kZero = 0;
  if (form->minus_infinity || !form->denominator.empty()) return nullptr;
  if (form->numerator.empty()) return &kZero;
  const FormTerm& term = form->numerator[0];
  return form->numerator.size() == 1 && is_constant(term) ? &term.number : nullptr;
}

/// Returns the term without atoms and exponentials, if the form has no denominator.
Rational constant_part(const FormNode* form) {
  if (!form->denominator.empty()) return 0;
  for (const FormTerm& term : form->numerator) {
    if (is_constant(term)) return term.number;
  }
  return 0;
}

/// Whether the forms differ only by a number.
bool same_but_for_constant(const FormNode* a, const FormNode* b) {
  if (a == b) return true;
  if (!a->denominator.empty() || !b->denominator.empty()) return false;
  auto left = a->numerator.begin(), right = b->numerator.begin();
  while (true) {
    if (left != a->numerator.end() && is_constant(*left)) ++left;
    if (right != b->numerator.end() && is_constant(*right)) ++right;
    if (left == a->numerator.end() || right == b->numerator.end()) break;
    if (!(*left++ == *right++)) return false;
  }
  return left == a->numerator.end() && right == b->numerator.end();
}

/// Whether the first term has a negative number, which the first of -a has not.
bool is_negative(const FormNode* form) {
  return !form->minus_infinity && !form->numerator.empty() && form->numerator[0].number.sign() < 0;
}

/// Of a maximum or minimum.
bool takes_larger(Operation operation) { return value_of(operation, 0.0, 1.0) == 1; }

/// Whether the form is a number, and not positive.
bool is_not_positive(const FormNode* form) {
  const Rational* number = as_rational(form);
  return number != nullptr && number->sign() <= 0;
}

}  // namespace

const FormNode* FormStore::undefined(std::string what, std::vector<const FormNode*> args) {
  FormAtom unknown;
  unknown.kind = FormAtom::Kind::kUndefined;
  unknown.name = std::move(what);
  unknown.args = std::move(args);
  return atom(std::move(unknown));
}

/// The form of numerator / denominator. The denominator is not 0; an empty one is 1.
const FormNode* FormStore::quotient(FormSum numerator, const FormSum& denominator) {
  if (numerator.empty()) return zero_;
  if (denominator.empty()) return node(std::move(numerator), {});
  Primitive below = primitive(denominator);
  numerator = scaled(numerator, Rational(1) / below.factor, reciprocal(below.unit));
  if (below.sum.size() == 1) return node(std::move(numerator), {});
  if (numerator.size() == below.sum.size()) {
    const Primitive above = primitive(numerator);
    if (above.sum == below.sum) return node({{above.unit, above.factor}}, {});
  }
  return node(std::move(numerator), std::move(below.sum));
}

const FormNode* FormStore::add(const FormNode* a, const FormNode* b) {
  if (a->minus_infinity || b->minus_infinity) return minus_infinity_;
  if (a == zero_) return b;
  if (b == zero_) return a;
  if (a->denominator == b->denominator) {
    return quotient(sum(a->numerator, b->numerator), a->denominator);
  }
  FormSum numerator = sum(over(a->numerator, b->denominator), over(b->numerator, a->denominator));
  FormSum denominator =
      a->denominator.empty() ? b->denominator : over(a->denominator, b->denominator);
  return quotient(std::move(numerator), denominator);
}

const FormNode* FormStore::subtract(const FormNode* a, const FormNode* b) {
  if (b->minus_infinity) {
    return undefined(a->minus_infinity ? "-inf - -inf" : "minus -inf", {a, b});
  }
  if (a->minus_infinity) return a;
  return add(a, node(scaled(b->numerator, -1, unit_), b->denominator));
}

const FormNode* FormStore::times_infinity(const FormNode* infinite, const FormNode* factor) {
  const Rational* number = as_rational(factor);
  if (number && number->sign() > 0) return infinite;
  return undefined("times -inf", {factor});
}

const FormNode* FormStore::multiply(const FormNode* a, const FormNode* b) {
  if (a->minus_infinity) return times_infinity(a, b);
  if (b->minus_infinity) return times_infinity(b, a);
  if (a == zero_ || b == zero_) return zero_;
  if (a == one_) return b;
  if (b == one_) return a;
  FormSum left = a->numerator, right = b->numerator, below = a->denominator;
  FormSum below_right = b->denominator;
  const auto cancel = [&](FormSum& above, FormSum& under) {
    if (under.empty() || above.size() != under.size()) return;
    const Primitive part = primitive(above);
    if (part.sum != under) return;
    above = {{part.unit, part.factor}};
    under.clear();
  };
  cancel(left, below_right);
  cancel(right, below);
  FormSum denominator = below.empty() ? below_right : over(below, below_right);
  return quotient(product(left, right), denominator);
}

const FormNode* FormStore::divide(const FormNode* a, const FormNode* b) {
  if (b == zero_) return undefined("divided by 0", {a});
  if (b->minus_infinity) return a->minus_infinity ? undefined("-inf / -inf", {a, b}) : zero_;
  if (a->minus_infinity) return times_infinity(a, divide(one_, b));
  const FormSum one{{unit_, 1}};
  return multiply(a, quotient(b->denominator.empty() ? one : b->denominator, b->numerator));
}

const FormNode* FormStore::function(Operation operation, std::vector<const FormNode*> args) {
  FormAtom result;
  result.kind = FormAtom::Kind::kFunction;
  result.operation = operation;
  result.args = std::move(args);
  return atom(std::move(result));
}

/// Adds to the arguments of a maximum or minimum; no two of them differ by a number only.
void FormStore::add_argument(Operation operation, std::vector<const FormNode*>& args,
                             const FormNode* form) {
  charge(args.size() + 1);
  for (const FormNode*& arg : args) {
    if (!same_but_for_constant(arg, form)) continue;
    const bool is_larger = constant_part(arg) < constant_part(form);
    if (is_larger == takes_larger(operation)) arg = form;
    return;
  }
  args.push_back(form);
}

/// The maximum or minimum.
const FormNode* FormStore::extreme(Operation operation, const FormNode* a, const FormNode* b) {
  if (a == b) return a;
  if (a->minus_infinity) return takes_larger(operation) ? b : a;
  if (b->minus_infinity) return takes_larger(operation) ? a : b;
  std::vector<const FormNode*> args;
  for (const FormNode* form : {a, b}) {
    const FormAtom* atom = as_atom(form);
    if (atom && atom->is(operation)) {
      for (const FormNode* arg : atom->args) add_argument(operation, args, arg);
    } else {
      add_argument(operation, args, form);
    }
  }
  if (args.size() == 1) return args[0];
  if (args.size() > limits_.max_terms) {
    throw FormTooLarge{"a " + std::string(spec_of(operation).function) + " of " +
                           std::to_string(args.size()) + " formulas",
                       "at most " + std::to_string(limits_.max_terms)};
  }
  std::sort(args.begin(), args.end(),
            [](const FormNode* p, const FormNode* q) { return p->value < q->value; });
  return function(operation, std::move(args));
}

const FormNode* FormStore::raised(const FormNode* base, int exponent) {
  const FormNode* result = one_;
  for (int i = 0; i < std::abs(exponent); ++i) result = multiply(result, base);
  return exponent < 0 ? divide(one_, result) : result;
}

/// e^(k log a + b) = a^k e^b.
const FormNode* FormStore::exponential(const FormNode* a) {
  if (a->minus_infinity) return zero_;
  const FormNode* factor = one_;
  FormSum rest;
  for (const FormTerm& term : a->numerator) {
    const auto& powers = term.monomial->powers;
    const bool is_log = a->denominator.empty() && !term.monomial->exponent && powers.size() == 1 &&
                        powers[0].second == 1 && powers[0].first->is(Operation::kLogarithm);
    if (is_log && term.number.is_integer() && term.number < Rational(kLargestLogPower + 1) &&
        Rational(-kLargestLogPower - 1) < term.number) {
      const int exponent = static_cast<int>(term.number.value().get_d());
      factor = multiply(factor, raised(powers[0].first->args[0], exponent));
    } else {
      rest.push_back(term);
    }
  }
  FormMonomial result;
  result.exponent = node(std::move(rest), a->denominator);
  if (result.exponent == zero_) return factor;
  return multiply(factor, node({{monomial(std::move(result)), 1}}, {}));
}

/// log(e^a b) = a + log b, where e^a is the common factor of all terms.
const FormNode* FormStore::logarithm(const FormNode* a) {
  if (a == zero_) return minus_infinity_;
  if (a == one_) return zero_;
  const Rational* number = as_rational(a);
  if (a->minus_infinity || (number && number->sign() < 0)) return undefined("log", {a});
  const FormNode* outside = zero_;
  if (const FormNode* common = common_exponent(a->numerator)) {
    FormMonomial inverse;
    inverse.exponent = subtract(zero_, common);
    outside = common;
    a = quotient(scaled(a->numerator, 1, monomial(std::move(inverse))), a->denominator);
    if (a == one_) return outside;
  }
  return add(outside, function(Operation::kLogarithm, {a}));
}

/// |a| is |-a|.
const FormNode* FormStore::absolute(const FormNode* a) {
  if (a->minus_infinity) return undefined("abs", {a});
  const FormNode* positive = is_negative(a) ? subtract(zero_, a) : a;
  return as_rational(a) ? positive : function(Operation::kAbsolute, {positive});
}

/// f(-a) = -f(a) and f(0) = 0.
const FormNode* FormStore::odd_function(Operation operation, const FormNode* a) {
  if (a == zero_) return zero_;
  if (!is_negative(a)) return function(operation, {a});
  return subtract(zero_, function(operation, {subtract(zero_, a)}));
}

const FormNode* FormStore::logarithm_of_two() { return logarithm(number(2)); }

/// 1 where a < b, if that is known. -inf is less than every number.
const FormNode* FormStore::less(const FormNode* a, const FormNode* b) {
  if (a == b || b->minus_infinity) return zero_;
  if (a->minus_infinity) return one_;
  const Rational* difference = as_rational(subtract(a, b));
  if (difference != nullptr) return difference->sign() < 0 ? one_ : zero_;
  return function(Operation::kLess, {a, b});
}

/// The form that is not chosen plays no part, so it may be -inf.
const FormNode* FormStore::selected(const FormNode* condition, const FormNode* a,
                                    const FormNode* b) {
  if (a == b) return a;
  if (condition->minus_infinity) return a;
  if (const Rational* known = as_rational(condition)) return known->sign() != 0 ? a : b;
  return function(Operation::kSelected, {condition, a, b});
}

const FormNode* FormStore::apply(Operation operation, const FormNode* a, const FormNode* b,
                                 const FormNode* c) {
  switch (operation) {
    case Operation::kPlus:
      return add(a, b);
    case Operation::kMinus:
      return subtract(a, b);
    case Operation::kTimes:
      return multiply(a, b);
    case Operation::kOver:
      return divide(a, b);
    case Operation::kAbsolute:
      return absolute(a);
    case Operation::kExponential:
      return exponential(a);
    case Operation::kLogarithm:
      return logarithm(a);
    case Operation::kTanh:
      return a->minus_infinity ? number(-1) : odd_function(operation, a);
    case Operation::kReciprocal:
      return divide(one_, a);
    case Operation::kLess:
      return less(a, b);
    case Operation::kSelected:
      return selected(a, b, c);
    case Operation::kBinaryExponential:  // e^(a log 2)
      return a->minus_infinity ? zero_ : exponential(multiply(a, logarithm_of_two()));
    case Operation::kBinaryLogarithm:  // of what is not positive, an error
      return a == zero_ ? undefined("log2", {a}) : divide(logarithm(a), logarithm_of_two());
    default:
      break;
  }
  if (spec_of(operation).grouping == Grouping::kSet) return extreme(operation, a, b);
  const bool has_no_value =
      a->minus_infinity || (operation == Operation::kReciprocalRoot && is_not_positive(a));
  std::vector<const FormNode*> args{a};
  if (b != nullptr) args.push_back(b);
  return has_no_value ? undefined(std::string(spec_of(operation).name), std::move(args))
                      : function(operation, std::move(args));
}

const FormNode* FormStore::apply(Operation operation, const std::vector<const FormNode*>& args) {
  if (args.size() == 1) return apply(operation, args[0]);
  if (spec_of(operation).arity == 3) return apply(operation, args[0], args[1], args[2]);
  const FormNode* result = args[0];
  for (std::size_t i = 1; i < args.size(); ++i) result = apply(operation, result, args[i]);
  return result;
}

}  // namespace flashlab::toy::detail
