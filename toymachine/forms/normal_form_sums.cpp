// Sums of terms: their arithmetic, and the common factors of a sum's terms.
#include <algorithm>
#include <functional>

#include "toymachine/forms/normal_form_store.hpp"

namespace flashlab::toy::detail {
namespace {

/// By value, which does not depend on the store; different monomials almost never
/// have equal values.
bool before(const FormMonomial* a, const FormMonomial* b) {
  if (a->value[0] != b->value[0]) return a->value[0] < b->value[0];
  return std::less<>()(a, b);
}

bool before(const FormAtom* a, const FormAtom* b) {
  if (a->value[0] != b->value[0]) return a->value[0] < b->value[0];
  return std::less<>()(a, b);
}

/// Sorts the terms, adds up those with the same monomial, and drops zeros.
void tidy(FormSum& sum) {
  std::sort(sum.begin(), sum.end(),
            [](const FormTerm& a, const FormTerm& b) { return before(a.monomial, b.monomial); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sum.size();) {
    FormTerm term = std::move(sum[i++]);
    for (; i < sum.size() && sum[i].monomial == term.monomial; ++i) {
      term.number = term.number + sum[i].number;
    }
    if (!term.number.is_zero()) sum[kept++] = std::move(term);
  }
  sum.resize(kept);
}

/// The smallest exponent that a key has in any term of a sum; 0 if a term lacks it.
template <class Key, class Exponent>
class Smallest {
 public:
  void see(const Key* key, const Exponent& exponent) {
    for (Entry& entry : entries_) {
      if (entry.key != key) continue;
      ++entry.count;
      if (exponent < entry.exponent) entry.exponent = exponent;
      return;
    }
    entries_.push_back({key, exponent, 1});
  }
  template <class Visit>
  void each(std::size_t num_terms, const Visit& visit) {
    for (Entry& entry : entries_) {
      if (entry.count < num_terms && Exponent(0) < entry.exponent) continue;
      if (!(entry.exponent == Exponent(0))) visit(entry.key, entry.exponent);
    }
  }

 private:
  struct Entry {
    const Key* key;
    Exponent exponent;
    std::size_t count;
  };
  std::vector<Entry> entries_;
};

}  // namespace

const FormMonomial* FormStore::product(const FormMonomial* a, const FormMonomial* b) {
  if (a == unit_) return b;
  if (b == unit_) return a;
  FormMonomial result;
  auto left = a->powers.begin(), right = b->powers.begin();
  while (left != a->powers.end() || right != b->powers.end()) {
    const bool from_left =
        right == b->powers.end() || (left != a->powers.end() && !before(right->first, left->first));
    const bool from_right =
        left == a->powers.end() || (right != b->powers.end() && !before(left->first, right->first));
    const FormAtom* atom = from_left ? left->first : right->first;
    const int exponent = (from_left ? left++->second : 0) + (from_right ? right++->second : 0);
    if (exponent != 0) result.powers.emplace_back(atom, exponent);
  }
  result.exponent = !a->exponent   ? b->exponent
                    : !b->exponent ? a->exponent
                                   : add(a->exponent, b->exponent);
  if (result.exponent == zero_) result.exponent = nullptr;
  for (std::size_t field = 0; field < kNumFields; ++field) {
    const bool by_content = field + 1 == kNumFields && a->exponent && b->exponent;
    result.value[field] =
        by_content ? value(field, result) : times(field, a->value[field], b->value[field]);
  }
  return evaluated(std::move(result));
}

const FormMonomial* FormStore::reciprocal(const FormMonomial* a) {
  FormMonomial result;
  for (const auto& [atom, exponent] : a->powers) result.powers.emplace_back(atom, -exponent);
  if (a->exponent) result.exponent = subtract(zero_, a->exponent);
  return monomial(std::move(result));
}

FormSum FormStore::scaled(const FormSum& a, const Rational& factor, const FormMonomial* unit) {
  if (factor.is_one() && unit == unit_) return a;
  charge(a.size());
  FormSum result;
  for (const FormTerm& term : a) {
    result.push_back({product(term.monomial, unit), term.number * factor});
  }
  tidy(result);
  return result;
}

FormSum FormStore::sum(const FormSum& a, const FormSum& b) {
  charge(a.size() + b.size());
  FormSum result = a;
  result.insert(result.end(), b.begin(), b.end());
  tidy(result);
  return result;
}

FormSum FormStore::product(const FormSum& a, const FormSum& b) {
  charge(a.size() * b.size());
  FormSum result;
  result.reserve(a.size() * b.size());
  for (const FormTerm& left : a) {
    for (const FormTerm& right : b) {
      result.push_back({product(left.monomial, right.monomial), left.number * right.number});
    }
  }
  tidy(result);
  return result;
}

FormSum FormStore::over(const FormSum& a, const FormSum& denominator) {
  return denominator.empty() ? a : product(a, denominator);
}

/// Returns the part of the exponents of e that all terms share: each monomial with the smallest
/// number that it has in any term. Null: nothing, or an exponent is a quotient.
const FormNode* FormStore::common_exponent(const FormSum& a) {
  Smallest<FormMonomial, Rational> smallest;
  for (const FormTerm& term : a) {
    if (!term.monomial->exponent) continue;
    if (!term.monomial->exponent->denominator.empty()) return nullptr;
    charge(term.monomial->exponent->numerator.size());
    for (const FormTerm& part : term.monomial->exponent->numerator) {
      smallest.see(part.monomial, part.number);
    }
  }
  FormSum common;
  smallest.each(a.size(), [&](const FormMonomial* monomial, const Rational& number) {
    common.push_back({monomial, number});
  });
  tidy(common);
  return common.empty() ? nullptr : node(std::move(common), {});
}

const FormMonomial* FormStore::common_unit(const FormSum& a) {
  Smallest<FormAtom, int> smallest;
  for (const FormTerm& term : a) {
    for (const auto& [atom, exponent] : term.monomial->powers) smallest.see(atom, exponent);
  }
  FormMonomial unit;
  smallest.each(a.size(), [&](const FormAtom* atom, int exponent) {
    unit.powers.emplace_back(atom, exponent);
  });
  std::sort(unit.powers.begin(), unit.powers.end(),
            [](const auto& p, const auto& q) { return before(p.first, q.first); });
  unit.exponent = common_exponent(a);
  return monomial(std::move(unit));
}

/// The sum must not be 0.
FormStore::Primitive FormStore::primitive(const FormSum& a) {
  charge(a.size());
  Primitive result;
  result.unit = common_unit(a);
  result.sum = scaled(a, 1, reciprocal(result.unit));
  result.factor = result.sum[0].number;
  result.sum = scaled(result.sum, Rational(1) / result.factor, unit_);
  return result;
}

}  // namespace flashlab::toy::detail
