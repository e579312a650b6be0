#include "optimal/problem/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

#include "optimal/problem/input_symmetries.hpp"
#include "optimal/problem/value_closure.hpp"
#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::optimal {
namespace {

using toy::FormFactor;
using toy::FormFunction;
using toy::FormParts;
using toy::FormProduct;
using toy::NormalForm;

constexpr std::size_t kMostSumTerms = 6;  // of a sum; also arguments of a maximum
constexpr std::size_t kMostFactors = 7;   // of a product
constexpr double kMostCounted = 16;       // largest number that is counted up to by ones

constexpr const char* kAllowed =
    "every value is one that the results' formulas are made of: sums, products and maxima of any "
    "of their parts, in any order; all identities between these count";
constexpr const char* kAllowedWithMade =
    "every value is one that the results' formulas are made of (sums, products and maxima of any "
    "of their parts, in any order) or that the given program makes; all identities between these "
    "count";

[[noreturn]] void too_long(const char* what, std::size_t count, std::size_t most) {
  throw std::length_error("it has " + std::string(what) + " of " + std::to_string(count) +
                          " parts: expected at most " + std::to_string(most));
}

/// Decomposes forms until no new value is found.
class Decomposition {
 public:
  Decomposition(const Stated& stated, int most_values)
      : stated_(stated), forms_(values_.forms()), most_values_(most_values) {
    const auto rows = toy::instruction_set();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const bool fills = rows[row].has(toy::OperandKind::kConstant);
      if (fills && stated.instructions.has(row)) has_constants_ = true;
    }
  }

  ValueAlgebra run() {
    add_inputs();
    for (const Stated::Cell& output : stated_.outputs) visit(forms_.local(output.form));
    for (const NormalForm& form : stated_.made) {
      if (is_value(form)) add(forms_.local(form));
    }
    for (const NormalForm& form : stated_.divisors) {
      if (is_value(form)) values_.allow_division_by(forms_.local(form));
    }
    for (const Stated::Cell& output : stated_.outputs) values_.add_output(output.form, output.name);
    for (const Renumbering& renumbering : symmetries(stated_.outputs, cells_)) {
      values_.add_symmetry(renumbering);
    }
    ValueAlgebra algebra = values_.close(stated_.title, stated_.instructions);
    algebra.allowed = stated_.made.empty() ? kAllowed : kAllowedWithMade;
    algebra.frame.declarations = stated_.declarations;
    return algebra;
  }

 private:
  /// Adds the inputs that an output depends on.
  void add_inputs() {
    std::set<const void*> seen;
    for (const Stated::Cell& output : stated_.outputs) {
      const NormalForm form = forms_.local(output.form);
      if (!is_value(form)) {
        throw std::invalid_argument(output.name + " is " + toy::to_string(form) +
                                    ", which is not a number");
      }
      collect(form, seen);
    }
    for (const Stated::Cell& input : stated_.inputs) {
      const NormalForm form = forms_.local(input.form);
      const auto what = forms_.function(form);
      if (!what) continue;
      // Without constants, 0 = x - x needs an input even if no output depends on any.
      const bool is_for_constants = used_.empty() && !has_constants_ && cells_.empty();
      if (!is_for_constants && !used_.contains({what->array, what->indices})) continue;
      cells_.emplace_back(what->array, what->indices);
      values_.add_input(form, input.name);
    }
  }

  void collect(const NormalForm& form, std::set<const void*>& seen) {
    if (!seen.insert(form.node()).second) return;
    const FormParts parts = forms_.parts(form);
    for (const FormProduct& term : parts.terms) {
      for (const FormFactor& factor : term.factors) {
        const FormFunction what = *forms_.function(factor.base);
        if (what.kind == FormFunction::Kind::kCell) used_.insert({what.array, what.indices});
        for (const NormalForm& arg : what.args) collect(arg, seen);
      }
    }
    if (parts.denominator.is_written()) collect(parts.denominator, seen);
  }

  static bool is_value(const NormalForm& form) {
    if (!form.is_written()) return false;
    const double value = toy::value_at(form, [](const std::string&, const auto& indices) {
      return 0.75 + (indices.empty() ? 0 : 0.125 * static_cast<double>(indices.back()));
    });
    return std::isfinite(value);
  }

  void add(const NormalForm& form) {
    values_.add(form);
    if (values_.size() <= most_values_) return;
    throw std::length_error("it has more than " + std::to_string(most_values_) + " values");
  }

  void visit(const NormalForm& form) {
    if (!visited_.insert(form.node()).second) return;
    add(form);
    if (const auto number = forms_.number(form)) {
      visit_number(*number);
    } else if (const auto what = forms_.function(form)) {
      visit_function(*what);
    } else {
      FormParts parts = forms_.parts(form);
      if (parts.denominator.is_written()) {
        values_.allow_division_by(parts.denominator);
        visit(parts.denominator);
        visit(forms_.multiply(form, parts.denominator));
      }
      if (parts.terms.size() == 1) {
        visit_product(parts);
      } else {
        visit_sum(parts);
      }
    }
  }

  /// If the machine has no constants, numbers are counted up: 0 = x - x, 1 = e^0, 2 = 1 + 1, …
  void visit_number(double number) {
    if (has_constants_ || number == 0) return;
    if (number < 0) {
      visit(forms_.number(-number));
      visit(forms_.number(0.0));
    } else if (number == 1) {
      visit(forms_.number(0.0));
    } else if (number == std::floor(number) && number <= kMostCounted) {
      visit(forms_.number(1.0));
      visit(forms_.number(number - 1));
    }
  }

  void visit_function(const FormFunction& what) {
    if (what.args.size() > kMostSumTerms) too_long("a maximum", what.args.size(), kMostSumTerms);
    for (const NormalForm& arg : what.args) visit(arg);
    if (!what.is(toy::Operation::kMaximum)) return;
    for (std::size_t set = 1; set + 1 < std::size_t{1} << what.args.size(); ++set) {
      NormalForm result;
      for (std::size_t i = 0; i < what.args.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        result = result.is_written() ? forms_.maximum(result, what.args[i]) : what.args[i];
      }
      visit(result);
    }
  }

  struct Factor {
    NormalForm form;
    bool below = false;  // whether it is divided by
  };

  /// Includes a number other than 1, and the denominator.
  std::vector<Factor> factors_of(const FormProduct& product, const NormalForm& denominator) {
    std::vector<Factor> result;
    add_number(product, result);
    for (const FormFactor& factor : product.factors) {
      for (int i = 0; i < std::abs(factor.power); ++i) {
        result.push_back({factor.base, factor.power < 0});
      }
    }
    if (denominator.is_written()) result.push_back({denominator, true});
    if (result.size() > kMostFactors) too_long("a product", result.size(), kMostFactors);
    return result;
  }

  /// x / 3 and 2 x / 3 are divisions; -x is a difference from 0, which is then a value.
  void add_number(const FormProduct& product, std::vector<Factor>& result) {
    if (product.about == 1) return;
    for (double below = 2; !has_constants_ && below <= kMostCounted; ++below) {
      const NormalForm above = forms_.multiply(product.number, forms_.number(below));
      const double number = *forms_.number(above);
      if (number != std::floor(number) || product.about == std::floor(product.about)) continue;
      if (number != 1) result.push_back({above, false});
      result.push_back({forms_.number(below), true});
      return;
    }
    result.push_back({product.number, false});
  }

  NormalForm product_of(const std::vector<Factor>& factors, std::size_t set) {
    NormalForm above, below;
    const auto take = [&](NormalForm& product, const NormalForm& factor) {
      product = product.is_written() ? forms_.multiply(product, factor) : factor;
    };
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if ((set >> i & 1) != 0) take(factors[i].below ? below : above, factors[i].form);
    }
    if (!below.is_written()) return above;
    values_.allow_division_by(below);
    return above.is_written() ? forms_.divide(above, below) : below;
  }

  void visit_product(const FormParts& parts) {
    const FormProduct& product = parts.terms[0];
    const std::vector<Factor> factors = factors_of(product, parts.denominator);
    if (factors.size() == 1) return;  // -1 times nothing: a number
    for (std::size_t set = 1; set + 1 < std::size_t{1} << factors.size(); ++set) {
      visit(product_of(factors, set));
    }
    if (product.about == -1) {  // -x is 0 - x
      visit(forms_.number(0.0));
    }
  }

  NormalForm term(const FormProduct& product) {
    NormalForm result = product.number;
    for (const FormFactor& factor : product.factors) {
      for (int i = 0; i < std::abs(factor.power); ++i) {
        result = factor.power < 0 ? forms_.divide(result, factor.base)
                                  : forms_.multiply(result, factor.base);
      }
    }
    return result;
  }

  void visit_sum(const FormParts& parts) {
    const std::size_t count = parts.terms.size();
    if (count > kMostSumTerms) too_long("a sum", count, kMostSumTerms);
    std::vector<NormalForm> terms;
    for (const FormProduct& product : parts.terms) terms.push_back(term(product));
    for (std::size_t set = 1; set + 1 < std::size_t{1} << count; ++set) {
      visit_part(parts, terms, set);
    }
    visit_common_factors(parts);
  }

  /// Visits a part of a sum as it is and with the opposite sign, if these can be useful.
  void visit_part(const FormParts& parts, const std::vector<NormalForm>& terms, std::size_t set) {
    NormalForm sum = forms_.number(0.0);
    bool is_positive = false, is_negative = false;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      sum = forms_.add(sum, terms[i]);
      (parts.terms[i].about < 0 ? is_negative : is_positive) = true;
    }
    const NormalForm zero = forms_.number(0.0);
    for (const NormalForm& part : {sum, forms_.subtract(zero, sum)}) {
      const bool is_turned = !(part.node() == sum.node());
      if (is_turned ? !is_negative : !is_positive) continue;
      visit(part);
      if (parts.denominator.is_written()) visit(forms_.divide(part, parts.denominator));
    }
  }

  /// a b + a c = a (b + c).
  void visit_common_factors(const FormParts& parts) {
    std::vector<Factor> common;
    const FormProduct& first = parts.terms[0];
    const auto in_all = [&](const FormFactor& wanted) {
      return std::all_of(parts.terms.begin(), parts.terms.end(), [&](const FormProduct& product) {
        return std::any_of(
            product.factors.begin(), product.factors.end(), [&](const FormFactor& factor) {
              return factor.base == wanted.base && (factor.power > 0) == (wanted.power > 0);
            });
      });
    };
    for (const FormFactor& factor : first.factors) {
      if (in_all(factor)) common.push_back({factor.base, factor.power < 0});
    }
    const bool same_number =
        std::all_of(parts.terms.begin(), parts.terms.end(), [&](const FormProduct& product) {
          return std::abs(product.about) == std::abs(first.about);
        });
    if (same_number && std::abs(first.about) != 1) {
      FormProduct number = first;
      if (number.about < 0) {
        number.number = forms_.subtract(forms_.number(0.0), number.number);
        number.about = -number.about;
      }
      add_number(number, common);
    }
    if (common.size() > kMostFactors) too_long("a product", common.size(), kMostFactors);
    NormalForm sum = forms_.number(0.0);
    for (const FormProduct& product : parts.terms) sum = forms_.add(sum, term(product));
    for (std::size_t set = 1; set < std::size_t{1} << common.size(); ++set) {
      NormalForm rest = sum;
      for (std::size_t i = 0; i < common.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        rest = common[i].below ? forms_.multiply(rest, common[i].form)
                               : forms_.divide(rest, common[i].form);
      }
      visit(product_of(common, set));
      visit(rest);
      if (parts.denominator.is_written()) visit(forms_.divide(rest, parts.denominator));
    }
  }

  const Stated& stated_;
  ClosureValues values_;
  toy::FormAlgebra& forms_;
  int most_values_;
  bool has_constants_ = false;
  std::set<CellName> used_;        // by an output
  std::vector<CellName> cells_;    // by input
  std::set<const void*> visited_;  // nodes of this store, which keeps them
};

}  // namespace

ValueAlgebra decomposed(const Stated& stated, int most_values) {
  return Decomposition(stated, most_values).run();
}

}  // namespace flashlab::optimal
