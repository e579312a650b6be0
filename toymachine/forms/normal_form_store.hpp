// The store of normal forms: every atom, monomial and form exists once, so that equal ones are
// the same pointer.
//
// A form is a quotient of sums. A term is  number * product of atoms^k * e^(form), where k may be
// negative, so that only sums of several terms need a denominator. Denominators are primitive: no
// atom, exponential or number divides all their terms, and their first number is 1. Two quotients
// that are equal by cross products become one form; it is found by its value in a prime field.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "toymachine/count/polynomial/rational.hpp"
#include "toymachine/forms/normal_form.hpp"
#include "toymachine/forms/prime_field.hpp"

namespace flashlab::toy::detail {

using FormNode = NormalForm::Node;

/// A variable of the sums: an input cell, or a function that algebra cannot simplify.
struct FormAtom {
  enum class Kind : std::uint8_t { kInput, kFunction, kUndefined };
  Kind kind = Kind::kInput;
  Operation operation{};              // of a function
  std::string name;                   // of the input array, or of the undefined operation
  std::vector<std::int64_t> indices;  // of the input cell
  std::vector<const FormNode*> args;  // of a function; those of a maximum in order
  std::array<std::uint64_t, kNumFields> value{};
  int depth = 0;

  bool is(Operation function) const { return kind == Kind::kFunction && operation == function; }
};

struct FormMonomial {
  std::vector<std::pair<const FormAtom*, int>> powers;  // in order; no exponent is 0
  const FormNode* exponent = nullptr;                   // of e; null: no exponential
  std::array<std::uint64_t, kNumFields> value{};
  int depth = 0;
};

struct FormTerm {
  const FormMonomial* monomial = nullptr;
  Rational number;
  bool operator==(const FormTerm&) const = default;
};
using FormSum = std::vector<FormTerm>;  // in the order of the monomials; no number is 0

}  // namespace flashlab::toy::detail

namespace flashlab::toy {

struct NormalForm::Node {
  detail::FormSum numerator;    // empty: 0
  detail::FormSum denominator;  // empty: 1; otherwise several terms, and primitive
  bool minus_infinity = false;
  std::uint64_t value = 0;  // in the first field
  int depth = 0;
};

}  // namespace flashlab::toy

namespace flashlab::toy::detail {

/// Thrown if a form exceeds its limits.
struct FormTooLarge {
  std::string what, expected;
};

struct FormLimits {
  std::size_t max_terms = 2000;      // of one form
  std::size_t max_work = 2'000'000;  // terms handled by all operations together
};

class FormStore {
 public:
  explicit FormStore(const FormLimits& limits);
  FormStore(const FormStore&) = delete;
  FormStore& operator=(const FormStore&) = delete;

  // Each of these throws FormTooLarge.
  /// Returns the operation on one to three scalars: by its rule (normal_form_arithmetic.cpp), or a
  /// function of its arguments that equals only itself.
  const FormNode* apply(Operation operation, const FormNode* a, const FormNode* b = nullptr,
                        const FormNode* c = nullptr);
  /// Returns the operation on all arguments of a function; a maximum may have many.
  const FormNode* apply(Operation operation, const std::vector<const FormNode*>& args);
  const FormNode* number(const Rational& value);
  const FormNode* minus_infinity() const { return minus_infinity_; }
  const FormNode* input(std::string name, std::vector<std::int64_t> indices);
  const FormNode* add(const FormNode* a, const FormNode* b);
  const FormNode* subtract(const FormNode* a, const FormNode* b);
  const FormNode* multiply(const FormNode* a, const FormNode* b);
  const FormNode* divide(const FormNode* a, const FormNode* b);
  const FormNode* maximum(const FormNode* a, const FormNode* b) {
    return extreme(Operation::kMaximum, a, b);
  }
  const FormNode* exponential(const FormNode* a);
  const FormNode* logarithm(const FormNode* a);
  /// Returns another store's form in this store.
  const FormNode* import(const FormNode* other);

 private:
  /// factor * unit * sum, where the sum is primitive.
  struct Primitive {
    Rational factor;
    const FormMonomial* unit = nullptr;
    FormSum sum;
  };

  // The tables (normal_form_store.cpp).
  const FormNode* atom(FormAtom atom);
  const FormMonomial* monomial(FormMonomial given);
  const FormMonomial* evaluated(FormMonomial given);
  const FormNode* node(FormSum numerator, FormSum denominator);
  const FormMonomial* import(const FormMonomial* other);
  FormSum import(const FormSum& other);
  std::uint64_t value(std::size_t field, const Rational& number) const;
  std::uint64_t value(std::size_t field, const FormMonomial& monomial) const;
  std::uint64_t value(std::size_t field, const FormSum& sum) const;
  std::uint64_t value(std::size_t field, const FormNode* node) const;
  bool equal_quotients(const FormNode* a, const FormSum& numerator, const FormSum& denominator);
  void charge(std::size_t work);

  // Sums (normal_form_sums.cpp).
  const FormMonomial* product(const FormMonomial* a, const FormMonomial* b);
  const FormMonomial* reciprocal(const FormMonomial* a);
  FormSum scaled(const FormSum& a, const Rational& factor, const FormMonomial* unit);
  FormSum sum(const FormSum& a, const FormSum& b);
  FormSum product(const FormSum& a, const FormSum& b);
  FormSum over(const FormSum& a, const FormSum& denominator);  // times the denominator; empty: 1
  const FormMonomial* common_unit(const FormSum& a);
  const FormNode* common_exponent(const FormSum& a);
  Primitive primitive(const FormSum& a);

  // Forms (normal_form_arithmetic.cpp).
  const FormNode* quotient(FormSum numerator, const FormSum& denominator);
  const FormNode* undefined(std::string what, std::vector<const FormNode*> args);
  const FormNode* times_infinity(const FormNode* infinite, const FormNode* factor);
  const FormNode* function(Operation operation, std::vector<const FormNode*> args);
  const FormNode* extreme(Operation operation, const FormNode* a, const FormNode* b);
  void add_argument(Operation operation, std::vector<const FormNode*>& args, const FormNode* form);
  const FormNode* absolute(const FormNode* a);
  const FormNode* less(const FormNode* a, const FormNode* b);
  const FormNode* selected(const FormNode* condition, const FormNode* a, const FormNode* b);
  const FormNode* odd_function(Operation operation, const FormNode* a);
  const FormNode* logarithm_of_two();
  const FormNode* raised(const FormNode* base, int exponent);

  FormLimits limits_;
  std::size_t work_ = 0;
  std::deque<FormAtom> atoms_;
  std::deque<FormMonomial> monomials_;
  std::deque<FormNode> nodes_;
  std::unordered_multimap<std::uint64_t, const FormNode*> atom_nodes_;  // by the atom's value
  std::unordered_multimap<std::uint64_t, const FormMonomial*> monomial_table_;
  std::unordered_multimap<std::uint64_t, const FormNode*> node_table_;
  std::unordered_map<const FormNode*, const FormNode*> imported_;
  mutable std::array<std::unordered_map<std::uint64_t, std::uint64_t>, kNumFields> inverses_;
  const FormMonomial* unit_ = nullptr;
  const FormNode* zero_ = nullptr;
  const FormNode* one_ = nullptr;
  const FormNode* minus_infinity_ = nullptr;
};

/// Returns the atom if the form is one, else null.
const FormAtom* as_atom(const FormNode* form);

}  // namespace flashlab::toy::detail
