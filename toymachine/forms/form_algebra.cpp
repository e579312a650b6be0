#include "toymachine/forms/form_algebra.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "toymachine/forms/form_value.hpp"

namespace flashlab::toy {

NormalForm make_form(std::shared_ptr<const NormalForm::Node> node);

namespace {

using detail::FormAtom;
using detail::FormNode;
using detail::FormSum;
using detail::FormTerm;
using detail::FormTooLarge;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kWorkForEachTerm = 100'000;

/// Translates FormTooLarge, which is unknown outside, to std::length_error.
template <class Action>
auto limited(Action&& action) {
  try {
    return action();
  } catch (const FormTooLarge& error) {
    throw std::length_error(error.what + ", expected " + error.expected);
  }
}

/// Executes a row with slots 0, 1, … for its source registers and the last register
/// as its destination.
template <class Value>
detail::Status execute(std::size_t row, std::vector<Value>& registers) {
  const InstructionSpec& spec = instruction_set()[row];
  detail::Slots<Value> slots;
  std::int64_t source = 0;
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    const bool is_source = is_register_read(spec.operands[i]);
    slots.at[i] = is_source ? source++ : static_cast<std::int64_t>(registers.size()) - 1;
  }
  return detail::kExecute<Value>[row](slots, registers.data(), nullptr);
}

}  // namespace

struct FormAlgebra::Impl {
  explicit Impl(std::size_t max_terms) : store({max_terms, kWorkForEachTerm * max_terms}) {}

  detail::FormStore store;
  std::unordered_set<const FormNode*> own;
  /// Keeps forms of other stores alive, because this store finds its copies by their addresses.
  std::unordered_map<const FormNode*, NormalForm> kept;
  std::shared_ptr<Impl> self() const { return owner.lock(); }
  std::weak_ptr<Impl> owner;

  NormalForm shared(const FormNode* node) {
    own.insert(node);
    return make_form(std::shared_ptr<const FormNode>(self(), node));
  }

  const FormNode* node(const NormalForm& form) {
    if (!form.is_written()) throw std::invalid_argument("a form that nobody wrote");
    if (own.contains(form.node())) return form.node();
    kept.emplace(form.node(), form);
    return store.import(form.node());
  }

  /// Returns the form that consists of this factor only.
  const FormNode* atom(const FormAtom* atom) {
    switch (atom->kind) {
      case FormAtom::Kind::kInput:
        return store.input(atom->name, atom->indices);
      case FormAtom::Kind::kFunction:
        return store.apply(atom->operation, atom->args);
      case FormAtom::Kind::kUndefined:
        break;
    }
    throw std::invalid_argument("a value that is undefined has no parts");
  }

  FormProduct product(const FormTerm& term) {
    FormProduct result{shared(store.number(term.number)), term.number.value().get_d(), {}};
    for (const auto& [base, power] : term.monomial->powers) {
      result.factors.push_back({shared(atom(base)), power});
    }
    if (term.monomial->exponent != nullptr) {
      result.factors.push_back({shared(store.exponential(term.monomial->exponent)), 1});
    }
    return result;
  }

  const FormNode* sum(const FormSum& terms) {
    const FormNode* result = store.number(0);
    for (const FormTerm& term : terms) {
      const FormProduct parts = product(term);
      const FormNode* value = parts.number.node();
      for (const FormFactor& factor : parts.factors) {
        for (int i = 0; i < std::abs(factor.power); ++i) {
          value = factor.power < 0 ? store.divide(value, factor.base.node())
                                   : store.multiply(value, factor.base.node());
        }
      }
      result = store.add(result, value);
    }
    return result;
  }
};

FormAlgebra::FormAlgebra(std::size_t max_terms) : impl_(std::make_shared<Impl>(max_terms)) {
  impl_->owner = impl_;
}

NormalForm FormAlgebra::number(double value) {
  if (!std::isfinite(value)) throw std::invalid_argument("a form of a number that is not finite");
  return limited([&] { return impl_->shared(impl_->store.number(detail::Rational::of(value))); });
}

NormalForm FormAlgebra::cell(const std::string& array, const std::vector<std::int64_t>& indices) {
  return limited([&] { return impl_->shared(impl_->store.input(array, indices)); });
}

NormalForm FormAlgebra::local(const NormalForm& form) {
  return limited([&] { return impl_->shared(impl_->node(form)); });
}

NormalForm FormAlgebra::apply(Operation operation, const NormalForm& a, const NormalForm& b,
                              const NormalForm& c) {
  return limited([&] {
    const std::size_t arity = spec_of(operation).arity;
    const FormNode* const first = impl_->node(a);
    const FormNode* const second = arity > 1 ? impl_->node(b) : nullptr;
    const FormNode* const third = arity > 2 ? impl_->node(c) : nullptr;
    return impl_->shared(impl_->store.apply(operation, first, second, third));
  });
}
NormalForm FormAlgebra::add(const NormalForm& a, const NormalForm& b) {
  return apply(Operation::kPlus, a, b);
}
NormalForm FormAlgebra::subtract(const NormalForm& a, const NormalForm& b) {
  return apply(Operation::kMinus, a, b);
}
NormalForm FormAlgebra::multiply(const NormalForm& a, const NormalForm& b) {
  return apply(Operation::kTimes, a, b);
}
NormalForm FormAlgebra::divide(const NormalForm& a, const NormalForm& b) {
  return apply(Operation::kOver, a, b);
}
NormalForm FormAlgebra::maximum(const NormalForm& a, const NormalForm& b) {
  return apply(Operation::kMaximum, a, b);
}
NormalForm FormAlgebra::exponential(const NormalForm& a) {
  return apply(Operation::kExponential, a);
}
NormalForm FormAlgebra::logarithm(const NormalForm& a) { return apply(Operation::kLogarithm, a); }

NormalForm FormAlgebra::effect(std::size_t row, std::span<const NormalForm> operands) {
  return limited([&] {
    std::vector<detail::FormValue> registers;
    for (const NormalForm& form : operands) {
      registers.push_back({&impl_->store, impl_->node(form)});
    }
    registers.push_back({&impl_->store, nullptr});
    execute(row, registers);
    return impl_->shared(registers.back().node);
  });
}

FormParts FormAlgebra::parts(const NormalForm& form) {
  return limited([&] {
    const FormNode* node = impl_->node(form);
    FormParts result;
    if (node->minus_infinity) throw std::invalid_argument("-inf has no parts");
    for (const FormTerm& term : node->numerator) result.terms.push_back(impl_->product(term));
    if (!node->denominator.empty())
      result.denominator = impl_->shared(impl_->sum(node->denominator));
    return result;
  });
}

std::optional<double> FormAlgebra::number(const NormalForm& form) {
  const FormNode* node = impl_->node(form);
  if (node->minus_infinity || !node->denominator.empty() || node->numerator.size() > 1) return {};
  if (node->numerator.empty()) return 0;
  const FormTerm& term = node->numerator[0];
  if (!term.monomial->powers.empty() || term.monomial->exponent != nullptr) return {};
  return term.number.value().get_d();
}

std::optional<FormFunction> FormAlgebra::function(const NormalForm& form) {
  return limited([&]() -> std::optional<FormFunction> {
    const FormNode* node = impl_->node(form);
    FormFunction result;
    const auto share = [&](const FormNode* arg) { result.args.push_back(impl_->shared(arg)); };
    if (const FormAtom* atom = detail::as_atom(node)) {
      using Kind = FormFunction::Kind;
      constexpr Kind kKinds[] = {Kind::kCell, Kind::kFunction, Kind::kUndefined};
      result.kind = kKinds[static_cast<std::size_t>(atom->kind)];
      result.operation = atom->operation;
      if (result.kind == Kind::kCell) {
        result.array = atom->name;
        result.indices = atom->indices;
      }
      for (const FormNode* arg : atom->args) share(arg);
      return result;
    }
    if (node->minus_infinity || node->numerator.size() != 1 || !node->denominator.empty()) {
      return {};
    }
    const FormTerm& term = node->numerator[0];
    if (!term.number.is_one() || !term.monomial->powers.empty()) return {};
    if (term.monomial->exponent == nullptr) return {};
    result.kind = FormFunction::Kind::kFunction;
    result.operation = Operation::kExponential;
    share(term.monomial->exponent);
    return result;
  });
}

NormalForm FormAlgebra::substituted(const NormalForm& form, const Substitute& cell) {
  std::unordered_map<const FormNode*, NormalForm> done;
  const std::function<NormalForm(const NormalForm&)> visit = [&](const NormalForm& given) {
    if (given.node()->minus_infinity) return given;
    const auto found = done.find(given.node());
    if (found != done.end()) return found->second;
    const auto factor = [&](const NormalForm& base) {
      const FormFunction what = *function(base);
      if (what.kind == FormFunction::Kind::kCell) return local(cell(what.array, what.indices));
      NormalForm first = visit(what.args[0]);
      if (what.kind == FormFunction::Kind::kUndefined) {
        throw std::invalid_argument("a value that is undefined has no parts");
      }
      if (what.args.size() == 1) return apply(what.operation, first);
      if (spec_of(what.operation).arity == 3) {
        return apply(what.operation, first, visit(what.args[1]), visit(what.args[2]));
      }
      for (std::size_t i = 1; i < what.args.size(); ++i) {
        first = apply(what.operation, first, visit(what.args[i]));
      }
      return first;
    };
    const FormParts all = parts(given);
    NormalForm sum = number(0.0);
    for (const FormProduct& term : all.terms) {
      NormalForm product = term.number;
      for (const auto& [base, power] : term.factors) {
        const NormalForm value = factor(base);
        for (int i = 0; i < std::abs(power); ++i) {
          product = power < 0 ? divide(product, value) : multiply(product, value);
        }
      }
      sum = add(sum, product);
    }
    if (all.denominator.is_written()) sum = divide(sum, visit(all.denominator));
    done.emplace(given.node(), sum);
    return sum;
  };
  return visit(local(form));
}

double numeric_effect(std::size_t row, std::span<const double> operands) {
  thread_local std::vector<double> registers;
  registers.assign(operands.begin(), operands.end());
  registers.push_back(kNotANumber);
  return execute(row, registers) == detail::Status::kOk ? registers.back() : kNotANumber;
}

namespace {

/// The value of a sum, a factor or a node at each point.
using Points = std::vector<double>;

/// Caches the values of nodes.
class Evaluation {
 public:
  Evaluation(std::size_t num_points, const CellValueAt& cell)
      : num_points_(num_points), cell_(cell) {}

  const Points& operator()(const FormNode* node) {
    const auto found = done_.find(node);
    if (found != done_.end()) return found->second;
    return done_.emplace(node, fresh(node)).first->second;
  }

 private:
  Points fresh(const FormNode* node) {
    if (node->minus_infinity) return Points(num_points_, -std::numeric_limits<double>::infinity());
    Points result = sum(node->numerator);
    if (!node->denominator.empty()) {
      const Points divisor = sum(node->denominator);
      for (std::size_t p = 0; p < num_points_; ++p) result[p] /= divisor[p];
    }
    return result;
  }

  Points sum(const FormSum& terms) {
    Points result(num_points_, 0), product;
    for (const FormTerm& term : terms) {
      product.assign(num_points_, term.number.value().get_d());
      for (const auto& [atom, power] : term.monomial->powers) {
        const Points factor = value(*atom);
        for (std::size_t p = 0; p < num_points_; ++p) {
          product[p] *= power == 1 ? factor[p] : std::pow(factor[p], power);
        }
      }
      if (term.monomial->exponent != nullptr) {
        const Points& exponent = (*this)(term.monomial->exponent);
        for (std::size_t p = 0; p < num_points_; ++p) product[p] *= std::exp(exponent[p]);
      }
      for (std::size_t p = 0; p < num_points_; ++p) result[p] += product[p];
    }
    return result;
  }

  Points value(const FormAtom& atom) {
    Points result(num_points_, kNotANumber);
    switch (atom.kind) {
      case FormAtom::Kind::kInput:
        for (std::size_t p = 0; p < num_points_; ++p) result[p] = cell_(atom.name, atom.indices, p);
        break;
      case FormAtom::Kind::kFunction:
        result = (*this)(atom.args[0]);
        if (spec_of(atom.operation).arity == 3) {
          const Points second = (*this)(atom.args[1]), third = (*this)(atom.args[2]);
          for (std::size_t p = 0; p < num_points_; ++p) {
            result[p] = detail::value_of(atom.operation, result[p], second[p], third[p]);
          }
          break;
        }
        if (atom.args.size() == 1) apply(atom.operation, result, result);
        for (std::size_t i = 1; i < atom.args.size(); ++i) {
          apply(atom.operation, result, (*this)(atom.args[i]));
        }
        break;
      case FormAtom::Kind::kUndefined:
        break;
    }
    return result;
  }

  static void apply(Operation operation, Points& a, const Points& b) {
    for (std::size_t p = 0; p < a.size(); ++p) a[p] = detail::value_of(operation, a[p], b[p]);
  }

  std::size_t num_points_;
  const CellValueAt& cell_;
  std::unordered_map<const FormNode*, Points> done_;
};

}  // namespace

std::vector<double> values_at(const NormalForm& form, std::size_t num_points,
                              const CellValueAt& cell) {
  if (!form.is_written()) return Points(num_points, kNotANumber);
  return Evaluation(num_points, cell)(form.node());
}

double value_at(const NormalForm& form, const CellValue& cell) {
  return values_at(form, 1, [&cell](const std::string& array, const auto& indices, std::size_t) {
    return cell(array, indices);
  })[0];
}

}  // namespace flashlab::toy
