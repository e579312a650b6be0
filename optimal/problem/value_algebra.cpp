// The families: the values that a program for a sum, a maximum, a softmax or attention may hold.
#include "optimal/problem/value_algebra.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "optimal/problem/decomposition.hpp"
#include "optimal/problem/value_closure.hpp"

namespace flashlab::optimal {
namespace {

using toy::NormalForm;
using Set = unsigned;  // of elements

constexpr const char* kSumAllowed =
    "every value is a sum of elements in any order, or a difference of such sums";
constexpr const char* kMaximumAllowed = "every value is a maximum of elements, in any order";
constexpr const char* kSoftmaxAllowed =
    "every value is a maximum of elements, a difference of such or e^ of it with no exponent that "
    "can be positive, a sum of such exponentials over one maximum, or one of them over the whole "
    "sum; all identities between these count, and nothing but the whole sum is divided by";
constexpr const char* kOnlineAllowed =
    "every value is a maximum of elements, a difference of such or e^ of it with no exponent that "
    "can be positive, or a sum of such exponentials over one maximum; all identities between these "
    "count";
constexpr const char* kAttentionAllowed =
    "every value is a product q k or what softmax makes of these with no exponent that can be "
    "positive, a sum of v times such exponentials over one maximum, any of these over the whole "
    "sum, or a difference of two v; all identities between these count, and nothing but the whole "
    "sum is divided by";

void check_size(int n, int most, const char* what) {
  if (n >= 1 && n <= most) return;
  throw std::invalid_argument(std::string(what) + " is from 1 to " + std::to_string(most));
}

/// Calls visit(a) for each non-empty subset of `whole`.
template <class Visit>
void for_each_part(Set whole, Visit&& visit) {
  for (Set part = whole; part != 0; part = (part - 1) & whole) visit(part);
}

/// Calls visit(a, b) for each two non-empty sets with a within b within `whole`.
template <class Visit>
void for_each_pair(Set whole, Visit&& visit) {
  for_each_part(whole, [&](Set b) { for_each_part(b, [&](Set a) { visit(a, b); }); });
}

std::string array_cell(const std::string& array, int index) {
  return array + "[" + std::to_string(index) + "]";
}

std::string declaration(const char* role, const std::string& array, int size) {
  return std::string(role) + array_cell(array, size);
}

/// Elements x_i, and the values that softmax makes from sets of them.
class Elements {
 public:
  Elements(ClosureValues& values, std::vector<NormalForm> x)
      : values_(values), forms_(values.forms()), x_(std::move(x)) {}

  Set all() const { return (Set{1} << x_.size()) - 1; }

  NormalForm sum(Set a) {
    return sum(a, [&](std::size_t i) { return x_[i]; });
  }
  NormalForm maximum(Set a) {
    NormalForm result;
    for_each(a, [&](std::size_t i) {
      result = result.is_written() ? forms_.maximum(result, x_[i]) : x_[i];
    });
    return result;
  }
  NormalForm difference(Set a, Set b) { return forms_.subtract(maximum(a), maximum(b)); }
  NormalForm exponential(Set a, Set b) { return forms_.exponential(difference(a, b)); }
  /// The sum of e^(x_i - max b) over a; weighted(): the same with factors y_i.
  NormalForm exponentials(Set a, Set b) {
    return sum(a, [&](std::size_t i) { return exponential(Set{1} << i, b); });
  }
  NormalForm weighted(Set a, Set b, const std::vector<NormalForm>& y) {
    return sum(a,
               [&](std::size_t i) { return forms_.multiply(exponential(Set{1} << i, b), y[i]); });
  }
  NormalForm total() { return exponentials(all(), all()); }

  void add_maxima() {
    for_each_part(all(), [&](Set a) { values_.add(maximum(a)); });
  }
  /// Adds maxima, differences, exponentials and their sums.
  void add_statistics() {
    add_maxima();
    for_each_pair(all(), [&](Set a, Set b) {
      values_.add(difference(a, b));
      values_.add(exponential(a, b));
      values_.add(exponentials(a, b));
    });
  }
  void add_shares() {
    values_.allow_division_by(total());
    for_each_pair(all(), [&](Set a, Set b) {
      if ((a & (a - 1)) == 0 || b == all()) values_.add(forms_.divide(exponential(a, b), total()));
    });
  }

  /// Adds the exchange of two neighbouring elements, with all cells that belong to them; these
  /// exchanges generate all orders. cells[j][i]: the input that is element i's j-th cell.
  void add_orders(const std::vector<std::vector<int>>& cells, int num_inputs) {
    for (std::size_t i = 1; i < x_.size(); ++i) {
      std::vector<int> inputs(static_cast<std::size_t>(num_inputs));
      std::iota(inputs.begin(), inputs.end(), 0);
      for (const std::vector<int>& of_element : cells) {
        std::swap(inputs[static_cast<std::size_t>(of_element[i - 1])],
                  inputs[static_cast<std::size_t>(of_element[i])]);
      }
      values_.add_symmetry(std::move(inputs));
    }
  }

 private:
  template <class Visit>
  void for_each(Set a, Visit&& visit) const {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if ((a >> i & 1) != 0) visit(i);
    }
  }
  template <class Term>
  NormalForm sum(Set a, Term&& term) {
    NormalForm result = forms_.number(0.0);
    for_each(a, [&](std::size_t i) { result = forms_.add(result, term(i)); });
    return result;
  }

  ClosureValues& values_;
  toy::FormAlgebra& forms_;
  std::vector<NormalForm> x_;
};

/// Adds the cells of an array [n] as inputs.
std::vector<NormalForm> add_vector(ClosureValues& values, const std::string& array, int n) {
  std::vector<NormalForm> result;
  for (int i = 0; i < n; ++i) {
    result.push_back(values.forms().cell(array, {i}));
    values.add_input(result.back(), array_cell(array, i));
  }
  return result;
}

std::vector<int> numbers(int first, int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), first);
  return result;
}

ValueAlgebra close(ClosureValues& values, std::string title, const Instructions& instructions,
                   const char* allowed, std::vector<std::string> declarations) {
  ValueAlgebra algebra = values.close(std::move(title), instructions);
  algebra.allowed = allowed;
  algebra.frame.declarations = std::move(declarations);
  return algebra;
}

std::string count_of(int n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

bool Instructions::has(std::size_t row) const {
  return toy::instruction_set()[row].in(level) ||
         std::find(extra.begin(), extra.end(), row) != extra.end();
}

std::string Instructions::text() const {
  std::string result(toy::to_string(level));
  for (const std::size_t row : extra) {
    result += ", " + std::string(toy::instruction_set()[row].mnemonic);
  }
  return result;
}

ValueAlgebra vector_sum(int n) {
  check_size(n, 8, "the size of a vector that is summed");
  ClosureValues values;
  Elements x(values, add_vector(values, "x", n));
  for_each_part(x.all(), [&](Set a) { values.add(x.sum(a)); });
  values.add_output(x.sum(x.all()), "o[0]");
  x.add_orders({numbers(0, n)}, n);
  return close(values, "The sum of " + count_of(n, "element"), {toy::Level::kSoftmax, {}},
               kSumAllowed, {declaration(".input  ", "x", n), declaration(".output ", "o", 1)});
}

ValueAlgebra vector_maximum(int n) {
  check_size(n, 8, "the size of a vector whose maximum is taken");
  ClosureValues values;
  Elements x(values, add_vector(values, "x", n));
  x.add_maxima();
  values.add_output(x.maximum(x.all()), "o[0]");
  x.add_orders({numbers(0, n)}, n);
  return close(values, "The maximum of " + count_of(n, "element"), {toy::Level::kSoftmax, {}},
               kMaximumAllowed, {declaration(".input  ", "x", n), declaration(".output ", "o", 1)});
}

ValueAlgebra safe_softmax(int n, const Instructions& instructions) {
  check_size(n, 5, "the size of a vector whose softmax is taken");
  ClosureValues values;
  Elements x(values, add_vector(values, "x", n));
  x.add_statistics();
  x.add_shares();
  for (int i = 0; i < n; ++i) {
    const NormalForm share = values.forms().divide(x.exponential(Set{1} << i, x.all()), x.total());
    values.add_output(share, array_cell("o", i));
  }
  x.add_orders({numbers(0, n)}, n);
  return close(values, "Safe softmax of " + count_of(n, "element"), instructions, kSoftmaxAllowed,
               {declaration(".input  ", "x", n), declaration(".output ", "o", n)});
}

ValueAlgebra online_statistics(int n) {
  check_size(n, 5, "the size of a vector whose maximum and sum are taken");
  ClosureValues values;
  Elements x(values, add_vector(values, "x", n));
  x.add_statistics();
  values.add_output(x.maximum(x.all()), "m[0]");
  values.add_output(x.total(), "s[0]");
  x.add_orders({numbers(0, n)}, n);
  return close(values, "The maximum m of " + count_of(n, "element") + ", and the sum of e^(x - m)",
               {toy::Level::kSoftmax, {}}, kOnlineAllowed,
               {declaration(".input  ", "x", n), declaration(".output ", "m", 1),
                declaration(".output ", "s", 1)});
}

ValueAlgebra one_query_attention(int n, const Instructions& instructions) {
  check_size(n, 3, "the number of keys");
  ClosureValues values;
  toy::FormAlgebra& forms = values.forms();
  const NormalForm q = add_vector(values, "q", 1)[0];
  const std::vector<NormalForm> k = add_vector(values, "k", n), v = add_vector(values, "v", n);
  std::vector<NormalForm> scores;
  for (const NormalForm& key : k) scores.push_back(forms.multiply(q, key));
  Elements x(values, scores);
  x.add_statistics();
  x.add_shares();
  for_each_pair(x.all(), [&](Set a, Set b) {
    values.add(x.weighted(a, b, v));
    values.add(forms.divide(x.weighted(a, b, v), x.total()));
  });
  for (const NormalForm& value : v) {
    values.add(forms.divide(value, x.total()));
    for (const NormalForm& other : v) values.add(forms.subtract(value, other));
  }
  values.add_output(forms.divide(x.weighted(x.all(), x.all(), v), x.total()), "o[0]");
  x.add_orders({numbers(1, n), numbers(1 + n, n)}, 2 * n + 1);
  return close(values, "Attention of one query over " + count_of(n, "key") + ", d = 1",
               instructions, kAttentionAllowed,
               {declaration(".input  ", "q", 1), declaration(".input  ", "k", n),
                declaration(".input  ", "v", n), declaration(".output ", "o", 1)});
}

ValueAlgebra merged_states(int d) {
  check_size(d, 4, "the size of the numerators that are merged");
  toy::FormAlgebra forms;
  const NormalForm m1 = forms.cell("m1", {0}), m2 = forms.cell("m2", {0});
  const NormalForm m = forms.maximum(m1, m2);
  const NormalForm e1 = forms.exponential(forms.subtract(m1, m));
  const NormalForm e2 = forms.exponential(forms.subtract(m2, m));
  Stated stated;
  stated.title = "Two states (m, l, num[" + std::to_string(d) + "]) merged into one";
  stated.instructions = {toy::Level::kAttention, {}};
  stated.outputs.push_back({"m[0]", m});
  const auto merged = [&](const std::string& array, int i) {
    const NormalForm a = forms.cell(array + "1", {i}), b = forms.cell(array + "2", {i});
    stated.outputs.push_back(
        {array_cell(array, i), forms.add(forms.multiply(a, e1), forms.multiply(b, e2))});
  };
  merged("l", 0);
  for (int i = 0; i < d; ++i) merged("num", i);
  for (const char* state : {"1", "2"}) {
    for (const char* array : {"m", "l"}) {
      stated.inputs.push_back(
          {array_cell(array + std::string(state), 0), forms.cell(array + std::string(state), {0})});
      stated.declarations.push_back(declaration(".input  ", array + std::string(state), 1));
    }
    for (int i = 0; i < d; ++i) {
      stated.inputs.push_back(
          {array_cell("num" + std::string(state), i), forms.cell("num" + std::string(state), {i})});
    }
    stated.declarations.push_back(declaration(".input  ", "num" + std::string(state), d));
  }
  stated.declarations.push_back(declaration(".output ", "m", 1));
  stated.declarations.push_back(declaration(".output ", "l", 1));
  stated.declarations.push_back(declaration(".output ", "num", d));
  return decomposed(stated);
}

}  // namespace flashlab::optimal
