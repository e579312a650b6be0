#include "optimal/solve/count_programs.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimal/products/live_products.hpp"
#include "optimal/search/search.hpp"
#include "optimal/values/live_values.hpp"

namespace flashlab::optimal {
namespace {

using detail::LiveSpace;
using detail::LiveStep;
using detail::State;

struct Place {
  State state = 0;
  std::int64_t cycles = 0;  // so far
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    std::uint64_t bits = place.state ^ static_cast<std::uint64_t>(place.cycles) << 40;
    bits *= 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(bits ^ bits >> 32);
  }
};
/// The number of paths to each place, all with the same number of instructions.
using Layer = std::unordered_map<Place, mpz_class, PlaceHash>;

constexpr std::size_t kBytesOfPlace =
    128;  // a node of the table, its bucket, and the number's limb

/// Counts the paths from the first live set to a goal, instruction by instruction. Symmetric sets
/// have equally many continuations, so one of them represents all.
class PathCount {
 public:
  PathCount(LiveSpace& space, std::int64_t cycles, const SolveLimits& limits)
      : space_(space), cycles_(cycles), limits_{limits} {}

  std::optional<ProgramCount> count() {
    Layer layer;
    if (space_.bound(space_.initial()) <= cycles_) layer[{space_.initial(), 0}] = 1;
    while (!layer.empty()) {
      auto next = after(layer);
      if (!next) return std::nullopt;
      layer = std::move(*next);
    }
    result_.seconds = limits_.seconds();
    return result_;
  }

 private:
  std::optional<Layer> after(const Layer& layer) {
    Layer next;
    std::uint64_t visited = 0;
    for (const auto& [place, ways] : layer) {
      if (visited++ % 1024 == 0 && limits_.is_over()) return std::nullopt;
      ++result_.states;
      space_.steps(place.state, steps_);
      for (const LiveStep& step : steps_) add(place.cycles + step.cost, step.next, ways, next);
      if ((layer.size() + next.size()) * kBytesOfPlace + space_.bytes() > limits_.asked.max_bytes) {
        return std::nullopt;
      }
    }
    return next;
  }

  void add(std::int64_t cycles, State state, const mpz_class& ways, Layer& next) {
    if (space_.is_goal(state)) {
      if (cycles == cycles_) result_.programs += ways;
    } else if (cycles + space_.bound(state) <= cycles_) {
      next[{space_.representative(state), cycles}] += ways;
    }
  }

  LiveSpace& space_;
  std::int64_t cycles_;
  detail::SearchLimits limits_;
  ProgramCount result_;
  std::vector<LiveStep> steps_;
};

std::optional<ProgramCount> counted(LiveSpace& space, std::int64_t cycles,
                                    const SolveLimits& limits, const mpz_class& symmetries) {
  auto result = PathCount(space, cycles, limits).count();
  if (!result) return result;
  if (result->programs % symmetries != 0) {
    throw std::logic_error("symmetries that act freely divide the number of programs");
  }
  result->symmetries = symmetries;
  result->up_to_symmetry = result->programs / symmetries;
  return result;
}

mpz_class symmetries_of(const MatrixProduct& product) {
  const auto orders = [](int n) { return mpz_class::factorial(n); };
  return orders(product.rows) * orders(product.inner) * orders(product.columns) *
         (product.rows == product.columns ? 2 : 1);
}

/// Whether the outputs can be made without this input.
bool can_do_without(const ValueAlgebra& algebra, int without) {
  std::vector<bool> made(static_cast<std::size_t>(algebra.num_values), false);
  const auto is_made = [&](int value) {
    return value == kNoValue || made[static_cast<std::size_t>(value)];
  };
  for (const int input : algebra.inputs) made[static_cast<std::size_t>(input)] = input != without;
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const ValueOperation& operation : algebra.operations) {
      const auto& [a, b, c] = operation.operands;
      if (is_made(operation.result) || !is_made(a) || !is_made(b) || !is_made(c)) continue;
      made[static_cast<std::size_t>(operation.result)] = is_new = true;
    }
  }
  return std::all_of(algebra.outputs.begin(), algebra.outputs.end(), is_made);
}

/// Returns the number of symmetries, or 1 if they cannot be shown to act freely.
std::size_t free_symmetries(const ValueAlgebra& algebra) {
  std::set<std::vector<int>> on_inputs;
  for (const std::vector<int>& renumbered : algebra.symmetries) {
    std::vector<int> images;
    for (const int input : algebra.inputs) {
      images.push_back(renumbered[static_cast<std::size_t>(input)]);
    }
    on_inputs.insert(std::move(images));
  }
  const bool are_told_apart = on_inputs.size() == algebra.symmetries.size();
  const bool all_loaded = std::none_of(algebra.inputs.begin(), algebra.inputs.end(),
                                       [&](int input) { return can_do_without(algebra, input); });
  return are_told_apart && all_loaded ? algebra.symmetries.size() : 1;
}

}  // namespace

std::optional<ProgramCount> count_programs(const MatrixProduct& product,
                                           const ProductMachine& machine, std::int64_t cycles,
                                           const SolveLimits& limits) {
  if (machine.allow_spills && machine.costs.load + machine.costs.store == 0) {
    throw std::invalid_argument("spills cost nothing: the number of programs is infinite");
  }
  detail::LiveProducts space(product, machine);
  return counted(space, cycles, limits, symmetries_of(product));
}

std::optional<ProgramCount> count_programs(const ValueAlgebra& algebra, const ValueMachine& machine,
                                           std::int64_t cycles, const SolveLimits& limits) {
  detail::LiveValues space(algebra, machine);
  return counted(space, cycles, limits, free_symmetries(algebra));
}

}  // namespace flashlab::optimal
