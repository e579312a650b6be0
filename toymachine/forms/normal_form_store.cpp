#include "toymachine/forms/normal_form_store.hpp"

#include <algorithm>

#include "toymachine/budget/budget.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr int kDeepestForm = 100;         // forms inside forms
constexpr std::size_t kMostBits = 8192;   // of a number
constexpr int kLargestPower = 1'000'000;  // of an atom
constexpr std::uint64_t kMinusInfinityHash = 7;

void check_depth(int depth) {
  if (depth <= kDeepestForm) return;
  throw FormTooLarge{"functions are nested more than " + std::to_string(kDeepestForm) + " deep",
                     "formulas that are less deep"};
}

std::uint64_t content_hash(const FormAtom& atom) {
  std::uint64_t hash =
      mixed(static_cast<std::uint64_t>(atom.kind), static_cast<std::uint64_t>(atom.operation));
  for (const char c : atom.name) hash = mixed(hash, static_cast<unsigned char>(c));
  for (const std::int64_t index : atom.indices) {
    hash = mixed(hash, static_cast<std::uint64_t>(index));
  }
  for (const FormNode* arg : atom.args) hash = mixed(hash, arg->value);
  return hash;
}

bool is_same_atom(const FormAtom& a, const FormAtom& b) {
  return a.kind == b.kind && a.operation == b.operation && a.name == b.name &&
         a.indices == b.indices && a.args == b.args;
}

int depth_of(const FormSum& sum) {
  int depth = 0;
  for (const FormTerm& term : sum) depth = std::max(depth, term.monomial->depth);
  return depth;
}

}  // namespace

FormStore::FormStore(const FormLimits& limits) : limits_(limits) {
  unit_ = monomial({});
  zero_ = node({}, {});
  one_ = number(1);
  FormNode infinite;
  infinite.minus_infinity = true;
  infinite.value = pseudo_random(0, kMinusInfinityHash);
  minus_infinity_ = &nodes_.emplace_back(std::move(infinite));
}

void FormStore::charge(std::size_t work) {
  work_ += work;
  check_budget(static_cast<std::int64_t>(work));
  if (work_ <= limits_.max_work) return;
  throw FormTooLarge{
      "the formulas take more than " + std::to_string(limits_.max_work) + " operations on terms",
      "formulas that stay smaller"};
}

const FormNode* FormStore::number(const Rational& value) {
  FormSum sum;
  if (!value.is_zero()) sum.push_back({unit_, value});
  return node(std::move(sum), {});
}

const FormNode* FormStore::input(std::string name, std::vector<std::int64_t> indices) {
  FormAtom cell;
  cell.name = std::move(name);
  cell.indices = std::move(indices);
  return atom(std::move(cell));
}

/// Returns the form that consists of this atom only.
const FormNode* FormStore::atom(FormAtom atom) {
  const std::uint64_t hash = content_hash(atom);
  for (std::size_t field = 0; field < kNumFields; ++field) {
    atom.value[field] = pseudo_random(field, hash);
  }
  const auto [first, last] = atom_nodes_.equal_range(atom.value[0]);
  for (auto at = first; at != last; ++at) {
    if (is_same_atom(*as_atom(at->second), atom)) return at->second;
  }
  for (const FormNode* arg : atom.args) atom.depth = std::max(atom.depth, arg->depth + 1);
  check_depth(atom.depth);
  charge(atom.args.size());
  const std::uint64_t key = atom.value[0];
  FormMonomial alone;
  alone.powers = {{&atoms_.emplace_back(std::move(atom)), 1}};
  const FormNode* form = node({{monomial(std::move(alone)), 1}}, {});
  atom_nodes_.emplace(key, form);
  return form;
}

std::uint64_t FormStore::value(std::size_t field, const FormMonomial& monomial) const {
  std::uint64_t result = 1;
  for (const auto& [atom, exponent] : monomial.powers) {
    const std::uint64_t base =
        exponent < 0 ? inverse(field, atom->value[field]) : atom->value[field];
    result =
        times(field, result, power(field, base, static_cast<std::uint64_t>(std::abs(exponent))));
  }
  if (!monomial.exponent) return result;
  // Exponentials inside exponents of exponents are evaluated by their content.
  return times(field, result,
               field + 1 == kNumFields
                   ? pseudo_random(field, monomial.exponent->value)
                   : kGeneratorPowers[field](value(field + 1, monomial.exponent)));
}

/// Evaluates the monomial, and finds or adds it.
const FormMonomial* FormStore::monomial(FormMonomial given) {
  for (std::size_t field = 0; field < kNumFields; ++field) {
    given.value[field] = value(field, given);
  }
  return evaluated(std::move(given));
}

/// The same for a monomial whose values are known.
const FormMonomial* FormStore::evaluated(FormMonomial given) {
  const auto [first, last] = monomial_table_.equal_range(given.value[0]);
  for (auto at = first; at != last; ++at) {
    if (at->second->powers == given.powers && at->second->exponent == given.exponent) {
      return at->second;
    }
  }
  for (const auto& [atom, exponent] : given.powers) {
    given.depth = std::max(given.depth, atom->depth);
    if (std::abs(exponent) > kLargestPower) {
      throw FormTooLarge{"a power of more than " + std::to_string(kLargestPower), "small powers"};
    }
  }
  if (given.exponent) given.depth = std::max(given.depth, given.exponent->depth + 1);
  check_depth(given.depth);
  const std::uint64_t key = given.value[0];
  monomials_.push_back(std::move(given));
  monomial_table_.emplace(key, &monomials_.back());
  return &monomials_.back();
}

std::uint64_t FormStore::value(std::size_t field, const Rational& number) const {
  const std::uint64_t numerator = number.numerator_modulo(kPrimes[field]);
  const std::uint64_t denominator = number.denominator_modulo(kPrimes[field]);
  if (denominator == 1) return numerator;
  auto& known = inverses_[field];  // there are few denominators, and inverses are slow
  auto found = known.find(denominator);
  if (found == known.end()) {
    found = known.emplace(denominator, inverse(field, denominator)).first;
  }
  return times(field, numerator, found->second);
}

std::uint64_t FormStore::value(std::size_t field, const FormSum& sum) const {
  std::uint64_t total = 0;
  for (const FormTerm& term : sum) {
    total =
        plus(field, total, times(field, value(field, term.number), term.monomial->value[field]));
  }
  return total;
}

std::uint64_t FormStore::value(std::size_t field, const FormNode* node) const {
  if (node->minus_infinity) return pseudo_random(field, kMinusInfinityHash);
  const std::uint64_t numerator = value(field, node->numerator);
  if (node->denominator.empty()) return numerator;
  return times(field, numerator, inverse(field, value(field, node->denominator)));
}

bool FormStore::equal_quotients(const FormNode* a, const FormSum& numerator,
                                const FormSum& denominator) {
  if (a->minus_infinity) return false;
  if (a->denominator == denominator) return a->numerator == numerator;
  return over(a->numerator, denominator) == over(numerator, a->denominator);
}

/// Finds or adds the form.
const FormNode* FormStore::node(FormSum numerator, FormSum denominator) {
  const std::size_t terms = numerator.size() + denominator.size();
  charge(terms);
  if (terms > limits_.max_terms) {
    throw FormTooLarge{"a formula has " + std::to_string(terms) + " terms",
                       "at most " + std::to_string(limits_.max_terms)};
  }
  for (const FormTerm& term : numerator) {
    if (term.number.bits() <= kMostBits) continue;
    throw FormTooLarge{"a number has more than " + std::to_string(kMostBits) + " bits",
                       "smaller numbers"};
  }
  FormNode form;
  form.value = value(0, numerator);
  if (!denominator.empty()) {
    form.value = times(0, form.value, inverse(0, value(0, denominator)));
  }
  const auto [first, last] = node_table_.equal_range(form.value);
  for (auto at = first; at != last; ++at) {
    if (equal_quotients(at->second, numerator, denominator)) return at->second;
  }
  form.depth = std::max(depth_of(numerator), depth_of(denominator));
  form.numerator = std::move(numerator);
  form.denominator = std::move(denominator);
  nodes_.push_back(std::move(form));
  node_table_.emplace(nodes_.back().value, &nodes_.back());
  return &nodes_.back();
}

const FormNode* FormStore::import(const FormNode* other) {
  if (other->minus_infinity) return minus_infinity_;
  const auto found = imported_.find(other);
  if (found != imported_.end()) return found->second;
  FormSum numerator = import(other->numerator);
  FormSum denominator = import(other->denominator);
  const FormNode* result = node(std::move(numerator), std::move(denominator));
  imported_.emplace(other, result);
  return result;
}

FormSum FormStore::import(const FormSum& other) {
  FormSum result;
  for (const FormTerm& term : other) result.push_back({import(term.monomial), term.number});
  return sum(result, {});  // in this store's order
}

const FormMonomial* FormStore::import(const FormMonomial* other) {
  FormMonomial result;
  for (const auto& [atom_there, exponent] : other->powers) {
    FormAtom copy;
    copy.kind = atom_there->kind;
    copy.operation = atom_there->operation;
    copy.name = atom_there->name;
    copy.indices = atom_there->indices;
    for (const FormNode* arg : atom_there->args) copy.args.push_back(import(arg));
    result.powers.emplace_back(as_atom(atom(std::move(copy))), exponent);
  }
  if (other->exponent) result.exponent = import(other->exponent);
  return monomial(std::move(result));
}

const FormAtom* as_atom(const FormNode* form) {
  if (form->minus_infinity || form->numerator.size() != 1 || !form->denominator.empty()) {
    return nullptr;
  }
  const FormTerm& term = form->numerator[0];
  const FormMonomial& monomial = *term.monomial;
  if (!term.number.is_one() || monomial.exponent || monomial.powers.size() != 1) return nullptr;
  return monomial.powers[0].second == 1 ? monomial.powers[0].first : nullptr;
}

}  // namespace flashlab::toy::detail
