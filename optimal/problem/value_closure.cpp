#include "optimal/problem/value_closure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace flashlab::optimal {
namespace {

/// Different functions of maxima agree at many points: the maximum of seven elements and that of
/// eight at seven eighths of them, and so at all of these points with probability 10^-15.
constexpr std::size_t kNumPoints = 256;
constexpr double kTolerance = 1e-10;          // of 1 + the magnitude
constexpr std::size_t kMostSymmetries = 120;  // each is tried on each state

/// Between -2 and 2; a cell's value at a point depends only on its name.
double random_value(const std::string& array, const std::vector<std::int64_t>& indices,
                    std::size_t point) {
  std::uint64_t hash = point + 1;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9U;
    hash ^= hash >> 32;
  };
  for (const char c : array) mix(static_cast<unsigned char>(c));
  for (const std::int64_t index : indices) mix(static_cast<std::uint64_t>(index) + 1000);
  mix(point);
  return static_cast<double>(hash >> 11) * 0x1p-51 - 2;
}

bool near(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::abs(a - b) <= kTolerance * (1 + std::abs(a));
}

}  // namespace

ClosureValues::Point ClosureValues::evaluated(const toy::NormalForm& form) const {
  return toy::values_at(form, kNumPoints, random_value);
}

int ClosureValues::find(const Point& point) const {
  const double least = point[0] - kTolerance * (1 + std::abs(point[0]));
  auto at = std::lower_bound(by_first_.begin(), by_first_.end(), std::pair(least, -1));
  for (; at != by_first_.end() && near(at->first, point[0]); ++at) {
    const Point& other = points_[static_cast<std::size_t>(at->second)];
    if (std::equal(point.begin(), point.end(), other.begin(), near)) return at->second;
  }
  return kNoValue;
}

int ClosureValues::find(const toy::NormalForm& form) { return find(evaluated(form)); }

int ClosureValues::add(const toy::NormalForm& form) {
  Point point = evaluated(form);
  if (std::isnan(point[0])) throw std::invalid_argument("a value that is undefined somewhere");
  const int known = find(point);
  if (known != kNoValue) return known;
  if (size() == kMostValues) {
    throw std::length_error("it has more than " + std::to_string(kMostValues) + " values");
  }
  const std::pair<double, int> entry(point[0], size());
  by_first_.insert(std::upper_bound(by_first_.begin(), by_first_.end(), entry), entry);
  points_.push_back(std::move(point));
  values_.push_back(forms_.local(form));
  return entry.second;
}

void ClosureValues::add_input(const toy::NormalForm& form, std::string cell) {
  inputs_.push_back(add(form));
  input_cells_.push_back(std::move(cell));
}

void ClosureValues::add_output(const toy::NormalForm& form, std::string cell) {
  outputs_.push_back(add(form));
  output_cells_.push_back(std::move(cell));
}

/// Looks for operations and symmetries.
class Closure {
 public:
  Closure(ClosureValues& set, ValueAlgebra& algebra) : set_(set), algebra_(algebra) {}

  void add_operations(std::size_t row) {
    const toy::InstructionSpec& spec = toy::instruction_set()[row];
    std::size_t sources = 0, others = 0;
    for (const toy::OperandKind kind : spec.kinds()) {
      if (toy::is_register_read(kind)) ++sources;
      if (!toy::is_register(kind)) ++others;
    }
    if (others > 0) {  // DRAM is not part of the algebra; constants are
      if (spec.num_operands == 2 && spec.has(toy::OperandKind::kConstant)) add_constants(spec);
      return;
    }
    spec_ = &spec;
    row_ = row;
    operands_.assign(sources, 0);
    choose(0);
  }

  /// Adds the group that the given renumberings generate, one generator at a time while the
  /// group stays small.
  void add_symmetries() {
    std::vector<int> identity(static_cast<std::size_t>(set_.size()));
    std::iota(identity.begin(), identity.end(), 0);
    std::vector<std::vector<int>> group{identity}, generators;
    for (const std::vector<int>& inputs : set_.permutations_) {
      std::vector<int> renumbered = renumbering(inputs);
      if (renumbered.empty() || std::find(group.begin(), group.end(), renumbered) != group.end()) {
        continue;
      }
      generators.push_back(std::move(renumbered));
      std::vector<std::vector<int>> larger = generated(identity, generators);
      if (larger.empty()) {
        generators.pop_back();
      } else {
        group = std::move(larger);
      }
    }
    algebra_.symmetries = std::move(group);
  }

 private:
  void add_constants(const toy::InstructionSpec& spec) {
    for (int value = 0; value < set_.size(); ++value) {
      const auto number = set_.forms().number(set_.form(value));
      if (!number) continue;
      algebra_.operations.push_back(
          {spec.mnemonic, {kNoValue, kNoValue, kNoValue}, value, toy::to_string(set_.form(value))});
    }
  }

  /// Tries every choice of operands from position `next` on.
  void choose(std::size_t next) {
    if (next == operands_.size()) {
      try_operands();
      return;
    }
    for (operands_[next] = 0; operands_[next] < set_.size(); ++operands_[next]) choose(next + 1);
  }

  double result_at(std::size_t point) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      arguments_[i] = set_.points_[static_cast<std::size_t>(operands_[i])][point];
    }
    return toy::numeric_effect(row_, std::span(arguments_).first(operands_.size()));
  }

  void try_operands() {
    const double first = result_at(0);
    const double least = first - kTolerance * (1 + std::abs(first));
    const auto& sorted = set_.by_first_;
    auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair(least, -1));
    for (; at != sorted.end() && near(at->first, first); ++at) {
      if (makes(at->second)) add(at->second);
    }
  }

  bool makes(int value) {
    // A copy of an operand is useless.
    if (std::find(operands_.begin(), operands_.end(), value) != operands_.end()) return false;
    if (!division_is_allowed()) return false;
    const auto& points = set_.points_[static_cast<std::size_t>(value)];
    for (std::size_t point = 1; point < kNumPoints; ++point) {
      if (!near(points[point], result_at(point))) return false;
    }
    return true;
  }

  bool division_is_allowed() const {
    if (operands_.size() != 2 || spec_->mnemonic != kDivision) return true;
    return std::find(set_.divisors_.begin(), set_.divisors_.end(), operands_[1]) !=
           set_.divisors_.end();
  }

  void add(int result) {
    ValueOperation operation{spec_->mnemonic, {kNoValue, kNoValue, kNoValue}, result, {}};
    std::copy(operands_.begin(), operands_.end(), operation.operands.begin());
    // Keeps only the first of a + b and b + a, and likewise for the factors of a multiply-add.
    Operands sorted = operation.operands;
    if (operands_.size() > 1 && sorted[0] > sorted[1]) {
      std::swap(sorted[0], sorted[1]);
      if (known_.contains({row_, sorted, result})) return;
    }
    known_.insert({row_, operation.operands, result});
    algebra_.operations.push_back(std::move(operation));
  }

  /// Returns the image of each value, or nothing if the renumbering is no symmetry.
  std::vector<int> renumbering(const std::vector<int>& inputs) {
    const auto image = [&](const toy::NormalForm& form) {
      return set_.find(set_.forms().substituted(form, [&](const auto& array, const auto& indices) {
        const int cell = set_.find(set_.forms().cell(array, indices));
        const auto place = std::find(set_.inputs_.begin(), set_.inputs_.end(), cell);
        if (place == set_.inputs_.end()) return set_.forms().cell(array, indices);
        const auto number = static_cast<std::size_t>(place - set_.inputs_.begin());
        return set_.form(set_.inputs_[static_cast<std::size_t>(inputs[number])]);
      }));
    };
    std::vector<int> result;
    for (int value = 0; value < set_.size(); ++value) {
      const int moved = image(set_.form(value));
      if (moved == kNoValue) return {};
      result.push_back(moved);
    }
    const auto keeps = [&](std::vector<int> values) {
      std::vector<int> moved;
      for (const int value : values) moved.push_back(result[static_cast<std::size_t>(value)]);
      std::sort(values.begin(), values.end());
      std::sort(moved.begin(), moved.end());
      return values == moved;
    };
    const bool is_symmetry = keeps(set_.inputs_) && keeps(set_.outputs_) && keeps(set_.divisors_);
    return is_symmetry ? result : std::vector<int>();
  }

  /// Returns an empty list if the group has more than kMostSymmetries elements.
  static std::vector<std::vector<int>> generated(const std::vector<int>& identity,
                                                 const std::vector<std::vector<int>>& generators) {
    std::vector<std::vector<int>> group{identity};
    std::set<std::vector<int>> known{identity};
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const std::vector<int>& generator : generators) {
        std::vector<int> product;
        for (const int value : group[i]) {
          product.push_back(generator[static_cast<std::size_t>(value)]);
        }
        if (!known.insert(product).second) continue;
        if (known.size() > kMostSymmetries) return {};
        group.push_back(std::move(product));
      }
    }
    return group;
  }

  static constexpr std::string_view kDivision = "DIV";

  ClosureValues& set_;
  ValueAlgebra& algebra_;
  const toy::InstructionSpec* spec_ = nullptr;
  std::size_t row_ = 0;
  std::vector<int> operands_;
  std::array<double, toy::kMaxOperands> arguments_{};
  std::set<std::tuple<std::size_t, Operands, int>> known_;
};

ValueAlgebra ClosureValues::close(std::string title, const Instructions& instructions) {
  ValueAlgebra algebra;
  algebra.title = std::move(title);
  algebra.num_values = size();
  algebra.inputs = inputs_;
  algebra.outputs = outputs_;
  algebra.forms = values_;
  algebra.frame.level = instructions.text();
  algebra.frame.input_cells = input_cells_;
  algebra.frame.output_cells = output_cells_;
  Closure closure(*this, algebra);
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    if (instructions.has(row)) closure.add_operations(row);
  }
  closure.add_symmetries();
  return algebra;
}

}  // namespace flashlab::optimal
