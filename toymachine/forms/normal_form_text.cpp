#include "toymachine/forms/normal_form_text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace flashlab::toy::detail {
namespace {

/// The usual order of factors: inputs by array and indices, then the others.
bool reads_before(const FormAtom* a, const FormAtom* b) {
  if (a->kind != b->kind) return a->kind < b->kind;
  if (a->operation != b->operation) return a->operation < b->operation;
  if (a->name != b->name) return a->name < b->name;
  if (a->indices != b->indices) return a->indices < b->indices;
  return a->value[0] < b->value[0];
}

std::vector<std::pair<const FormAtom*, int>> factors(const FormMonomial& monomial) {
  auto result = monomial.powers;
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return reads_before(a.first, b.first); });
  return result;
}

/// Stops writing when the text is long enough: forms that share parts can be very long.
class FormWriter {
 public:
  FormWriter(std::size_t max_length, std::span<const NumberName> names)
      : max_length_(max_length), names_(names) {}

  std::string take() { return std::move(text_); }

  void form(const FormNode& form) {
    if (form.minus_infinity) {
      text_ += "-inf";
    } else if (form.denominator.empty()) {
      sum(form.numerator);
    } else {
      parenthesised(form.numerator);
      text_ += "/";
      parenthesised(form.denominator);
    }
  }

 private:
  using Factors = std::vector<std::pair<const FormAtom*, int>>;

  bool full() const { return text_.size() > max_length_; }

  void parenthesised(const FormSum& a) {
    if (a.size() != 1) text_ += "(";
    sum(a);
    if (a.size() != 1) text_ += ")";
  }

  void sum(const FormSum& a) {
    if (a.empty()) text_ += "0";
    std::vector<std::pair<Factors, const FormTerm*>> terms;
    for (const FormTerm& one : a) terms.emplace_back(factors(*one.monomial), &one);
    std::sort(terms.begin(), terms.end(), [](const auto& p, const auto& q) {
      return term_before(p.first, *p.second, q.first, *q.second);
    });
    bool first = true;
    for (const auto& [its_factors, one] : terms) {
      if (full()) return;
      const bool negative = one->number.sign() < 0;
      text_ += first ? (negative ? "-" : "") : negative ? " - " : " + ";
      first = false;
      term(its_factors, *one->monomial, negative ? -one->number : one->number);
    }
  }

  /// Products of inputs in the order of the arrays; then terms with exponentials, by the first
  /// factors of the exponent; the constant last.
  static bool term_before(const Factors& a, const FormTerm& x, const Factors& b,
                          const FormTerm& y) {
    const auto key = [](const Factors& given, const FormTerm& term) {
      return given.empty() && !term.monomial->exponent;  // a constant
    };
    if (key(a, x) != key(b, y)) return key(b, y);
    const Factors left = leading(a, x), right = leading(b, y);
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (left[i].first != right[i].first) return reads_before(left[i].first, right[i].first);
      if (left[i].second != right[i].second) return left[i].second > right[i].second;
    }
    if (left.size() != right.size()) return left.size() < right.size();
    return x.monomial->value[0] < y.monomial->value[0];
  }

  /// Returns the factors before the exponential, then those of its exponent's first term.
  static Factors leading(const Factors& given, const FormTerm& term) {
    Factors result = given;
    const FormNode* exponent = term.monomial->exponent;
    if (!exponent || exponent->numerator.empty()) return result;
    Factors best;
    for (const FormTerm& part : exponent->numerator) {
      Factors its = factors(*part.monomial);
      if (its.empty()) continue;
      if (best.empty() || reads_before(its[0].first, best[0].first)) best = std::move(its);
    }
    result.insert(result.end(), best.begin(), best.end());
    return result;
  }

  void term(const Factors& its_factors, const FormMonomial& monomial, const Rational& number) {
    std::vector<std::function<void()>> above, below;
    for (const auto& [atom, exponent] : its_factors) {
      (exponent > 0 ? above : below).push_back([this, atom = atom, exponent = exponent] {
        write(*atom);
        if (std::abs(exponent) != 1) text_ += "^" + std::to_string(std::abs(exponent));
      });
    }
    if (monomial.exponent) above.push_back([&] { exponential(*monomial.exponent); });
    if (!number.is_one() || above.empty()) {
      above.insert(above.begin(), [&] { text_ += number_text(number); });
    }
    joined(above);
    if (below.empty()) return;
    text_ += below.size() > 1 ? "/(" : "/";
    joined(below);
    if (below.size() > 1) text_ += ")";
  }

  /// The number by its name, if it has one.
  std::string number_text(const Rational& number) const {
    for (const NumberName& named : names_) {
      if (!std::isfinite(named.value)) continue;
      const Rational value = Rational::of(named.value);
      if (number == value) return named.name;
      if (number == value * value) return named.name + "^2";
      if (number * value == Rational::of(1)) return "1/" + named.name;
    }
    return to_string(number);
  }

  void joined(const std::vector<std::function<void()>>& parts) {
    for (std::size_t i = 0; i < parts.size() && !full(); ++i) {
      if (i > 0) text_ += "*";
      parts[i]();
    }
  }

  void exponential(const FormNode& exponent) {
    const bool bare = as_atom(&exponent) != nullptr;
    text_ += bare ? "e^" : "e^(";
    form(exponent);
    if (!bare) text_ += ")";
  }

  void write(const FormAtom& atom) {
    if (atom.kind == FormAtom::Kind::kInput) {
      text_ += atom.name;
      for (const std::int64_t index : atom.indices) text_ += "[" + std::to_string(index) + "]";
      return;
    }
    const bool is_function = atom.kind == FormAtom::Kind::kFunction;
    text_ += is_function ? std::string(spec_of(atom.operation).name) + "("
                         : "undefined(" + atom.name + ": ";
    std::vector<std::string> args;
    std::size_t length = 0;
    for (const FormNode* arg : atom.args) {
      if (length > max_length_) break;
      args.push_back(form_text(arg, max_length_, names_));
      args.back().resize(std::min(args.back().size(), max_length_));
      length += args.back().size();
    }
    if (is_function && is_list(atom.operation)) std::sort(args.begin(), args.end(), by_length);
    for (std::size_t i = 0; i < args.size(); ++i) text_ += (i > 0 ? ", " : "") + args[i];
    text_ += ")";
  }

  /// Sorts x[2] before x[10].
  static bool by_length(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }

  std::string text_;
  std::size_t max_length_;
  std::span<const NumberName> names_;
};

}  // namespace

std::string form_text(const FormNode* form, std::size_t max_length,
                      std::span<const NumberName> names) {
  FormWriter writer(max_length, names);
  writer.form(*form);
  return writer.take();
}

}  // namespace flashlab::toy::detail
