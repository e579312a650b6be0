#include "optimal/problem/item_assignments.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::optimal::detail {
namespace {

using Items = ItemAssignment::Items;
constexpr std::size_t kFewestItems = 2;
constexpr std::size_t kMostItems = 64;

/// The kinds of items. The first kinds are joined by the fewest operations; costs counted for them
/// are not counted again for later kinds.
enum class GatheredKind : std::uint8_t {
  kMaximum,          // arguments of maxima, also in exponents; not in quotients
  kExponent,         // cells in the exponents of terms without other factors; not in quotients
  kFactor,           // cells that are factors beside an exponential
  kDifference,       // cells of terms without exponentials, in sums
  kTerm,             // cells of terms without exponentials
  kExponentOfTerms,  // cells in the exponents of any terms
};

/// Items of one kind: the cells of an array that differ in one index.
struct Subject {
  GatheredKind kind = GatheredKind::kMaximum;
  std::string cells;
  auto operator<=>(const Subject&) const = default;
};

/// Reads possible item assignments from forms.
class Reader {
 public:
  explicit Reader(const ValueAlgebra& algebra) : algebra_(algebra) {
    for (const toy::NormalForm& form : algebra.forms) {
      try {
        read(form);
      } catch (const std::invalid_argument&) {  // -inf has no parts: no items
      } catch (const std::length_error&) {      // too large to decompose: no items
      }
      ++value_;
    }
    add_elements_of_maxima();
  }

  std::vector<ItemAssignment> found() const {
    std::vector<ItemAssignment> result;
    for (const auto& [subject, items] : items_) {
      const std::size_t count = numbers_.at(subject).size();
      if (count < kFewestItems || count > kMostItems) continue;
      ItemAssignment assignment;
      assignment.items = items;
      for (const Items of_value : items) assignment.all |= of_value;
      result.push_back(std::move(assignment));
    }
    return result;
  }

 private:
  void add(const Subject& subject, const std::string& item) {
    std::map<std::string, int>& numbers = numbers_[subject];
    const int number = numbers.try_emplace(item, static_cast<int>(numbers.size())).first->second;
    std::vector<Items>& items = items_[subject];
    items.resize(algebra_.forms.size());
    if (number < static_cast<int>(kMostItems)) items[value_] |= Items{1} << number;
  }

  /// Adds the cell once for each of its indices; the other indices belong to the subject.
  void add_cell(GatheredKind kind, const toy::FormFunction& cell) {
    for (std::size_t axis = 0; axis < cell.indices.size(); ++axis) {
      std::string cells = cell.array;
      for (std::size_t i = 0; i < cell.indices.size(); ++i) {
        cells += "[" + (i == axis ? "*" : std::to_string(cell.indices[i])) + "]";
      }
      add({kind, cells}, std::to_string(cell.indices[axis]));
    }
  }

  void add_maximum(const toy::FormFunction& maximum) {
    if (is_quotient_) return;
    for (const toy::NormalForm& element : maximum.args) {
      auto at = std::find(elements_.begin(), elements_.end(), element);
      if (at == elements_.end()) at = elements_.insert(at, element);
      add({GatheredKind::kMaximum, {}}, std::to_string(at - elements_.begin()));
    }
  }

  /// A value that is an argument of a maximum has itself as its item.
  void add_elements_of_maxima() {
    for (value_ = 0; value_ < algebra_.forms.size(); ++value_) {
      const auto at = std::find(elements_.begin(), elements_.end(), algebra_.forms[value_]);
      if (at == elements_.end()) continue;
      add({GatheredKind::kMaximum, {}}, std::to_string(at - elements_.begin()));
    }
  }

  void read(const toy::NormalForm& form) {
    const toy::FormParts parts = forms_.parts(form);
    is_quotient_ = parts.denominator.is_written();
    for (const toy::FormProduct& term : parts.terms) {
      std::vector<toy::FormFunction> cells, exponents;
      for (const toy::FormFactor& factor : term.factors) {
        const auto function = forms_.function(factor.base);
        if (!function) continue;
        using FunctionKind = toy::FormFunction::Kind;
        if (function->kind == FunctionKind::kCell) cells.push_back(*function);
        if (function->is(toy::Operation::kMaximum)) add_maximum(*function);
        if (function->is(toy::Operation::kExponential)) exponents.push_back(*function);
      }
      const GatheredKind kind = exponents.empty() ? GatheredKind::kTerm : GatheredKind::kFactor;
      for (const toy::FormFunction& cell : cells) {
        add_cell(kind, cell);
        if (exponents.empty() && parts.terms.size() > 1) add_cell(GatheredKind::kDifference, cell);
      }
      for (const toy::FormFunction& exponent : exponents) {
        if (cells.empty() && !is_quotient_)
          read_exponent(GatheredKind::kExponent, exponent.args[0]);
        read_exponent(GatheredKind::kExponentOfTerms, exponent.args[0]);
      }
    }
  }

  void read_exponent(GatheredKind kind, const toy::NormalForm& form) {
    for (const toy::FormProduct& term : forms_.parts(form).terms) {
      for (const toy::FormFactor& factor : term.factors) {
        const auto function = forms_.function(factor.base);
        if (!function) continue;
        if (function->kind == toy::FormFunction::Kind::kCell) add_cell(kind, *function);
        if (function->is(toy::Operation::kMaximum)) add_maximum(*function);
      }
    }
  }

  const ValueAlgebra& algebra_;
  toy::FormAlgebra forms_{1U << 20};
  std::size_t value_ = 0;  // being read
  bool is_quotient_ = false;
  std::vector<toy::NormalForm> elements_;
  std::map<Subject, std::map<std::string, int>> numbers_;  // by subject and item
  std::map<Subject, std::vector<Items>> items_;            // by subject and value
};

/// Returns the least number of operands that together have all items of the result, less one.
/// Returns nothing if all operands together lack one.
std::optional<std::uint8_t> joins_of(const ItemAssignment& assignment,
                                     const ValueProblem::Operation& operation) {
  const auto items = [&](int value) {
    return value == kNoValue ? Items{0} : assignment.items[static_cast<std::size_t>(value)];
  };
  const Items made = items(operation.result);
  if (std::popcount(made) < 2) return 0;
  const auto& [first, second, third] = operation.operands;
  const Items a = items(first), b = items(second), c = items(third);
  const auto is_made_of = [made](Items parts) { return (made & ~parts) == 0; };
  if (is_made_of(a) || is_made_of(b) || is_made_of(c)) return 0;
  if (is_made_of(a | b) || is_made_of(a | c) || is_made_of(b | c)) return 1;
  if (is_made_of(a | b | c)) return 2;
  return {};
}

/// Returns the item that none of the operands has, or kNone.
std::int8_t brought_by(const ItemAssignment& assignment, const ValueProblem::Operation& operation) {
  const Items made = assignment.items[static_cast<std::size_t>(operation.result)];
  if (std::popcount(made) != 1) return ItemAssignment::kNone;
  for (const int operand : operation.operands) {
    if (operand == kNoValue) continue;
    if ((assignment.items[static_cast<std::size_t>(operand)] & made) != 0)
      return ItemAssignment::kNone;
  }
  return static_cast<std::int8_t>(std::countr_zero(made));
}

/// Fills in what each operation joins and brings in. Returns false if an operation or an input has
/// items that come from nowhere.
bool holds(const ValueProblem& problem, ItemAssignment& assignment) {
  for (const int input : problem.algebra().inputs) {
    if (std::popcount(assignment.items[static_cast<std::size_t>(input)]) > 1) return false;
  }
  for (const ValueProblem::Operation& operation : problem.operations()) {
    const auto joins = joins_of(assignment, operation);
    if (!joins) return false;
    assignment.joins.push_back(*joins);
    assignment.brings.push_back(brought_by(assignment, operation));
  }
  return true;
}

using Costs = std::vector<std::int64_t>;  // by operation: the remaining cost

void take_joins(ItemAssignment& assignment, Costs& left) {
  std::optional<std::int64_t> least;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (assignment.joins[i] == 0) continue;
    const std::int64_t cost = left[i] / assignment.joins[i];
    least = std::min(least.value_or(cost), cost);
  }
  assignment.join_cost = least.value_or(0);
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] -= assignment.joins[i] * assignment.join_cost;
}

void take_brings(const ValueProblem& problem, ItemAssignment& assignment, Costs& left) {
  assignment.bring_costs.assign(static_cast<std::size_t>(std::popcount(assignment.all)), 0);
  for (std::size_t item = 0; item < assignment.bring_costs.size(); ++item) {
    const auto& inputs = problem.algebra().inputs;
    const bool is_loaded = std::any_of(inputs.begin(), inputs.end(), [&](int input) {
      return (assignment.items[static_cast<std::size_t>(input)] >> item & 1) != 0;
    });
    if (is_loaded) continue;
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (assignment.brings[i] == static_cast<int>(item)) {
        least = std::min(least.value_or(left[i]), left[i]);
      }
    }
    assignment.bring_costs[item] = least.value_or(0);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (assignment.brings[i] == static_cast<int>(item)) left[i] -= assignment.bring_costs[item];
    }
  }
}

}  // namespace

std::vector<ItemAssignment> item_assignments(const ValueProblem& problem) {
  Costs left;
  for (const auto& operation : problem.operations()) left.push_back(operation.cost);
  std::vector<ItemAssignment> result;
  for (ItemAssignment& assignment : Reader(problem.algebra()).found()) {
    if (!holds(problem, assignment)) continue;
    take_joins(assignment, left);
    take_brings(problem, assignment, left);
    const auto& brings = assignment.bring_costs;
    const bool counts = std::any_of(brings.begin(), brings.end(), [](auto cost) { return cost; });
    if (counts || assignment.join_cost > 0) result.push_back(std::move(assignment));
  }
  return result;
}

namespace {

/// A lower bound: counts items as if no two parts shared one.
int fewest_of_disjoint(std::vector<Items> parts, Items all) {
  std::sort(parts.begin(), parts.end(),
            [](Items a, Items b) { return std::popcount(a) > std::popcount(b); });
  int items = std::popcount(all), result = 0;
  for (const Items part : parts) {
    if (items <= 0) return result;
    items -= std::popcount(part);
    ++result;
  }
  return result + std::max(items, 0);
}

int fewest_of_all(std::span<const Items> parts, Items all) {
  if (parts.empty()) return std::popcount(all);
  const Items added = parts.front() & all;
  const int without = fewest_of_all(parts.subspan(1), all);
  if (std::popcount(added) < 2) return without;
  return std::min(without, 1 + fewest_of_all(parts.subspan(1), all & ~added));
}

}  // namespace

int fewest_parts(std::span<const Items> parts, Items all) {
  constexpr std::size_t kMostTried = 8;
  std::vector<Items> larger;  // have several items, and no other part contains them
  for (const Items part : parts) {
    const auto is_in = [part](Items other) { return (part & ~other) == 0; };
    if (std::popcount(part) < 2 || std::any_of(larger.begin(), larger.end(), is_in)) continue;
    std::erase_if(larger, [part](Items other) { return (other & ~part) == 0; });
    larger.push_back(part);
  }
  return larger.size() > kMostTried ? fewest_of_disjoint(std::move(larger), all)
                                    : fewest_of_all(larger, all);
}

}  // namespace flashlab::optimal::detail
