#include "optimal/problem/landmarks.hpp"

#include <algorithm>
#include <bit>

namespace flashlab::optimal::detail {
namespace {

template <std::size_t kWords>
bool has_bit(const std::array<std::uint64_t, kWords>& set, std::size_t at) {
  return (set[at / 64] >> (at & 63) & 1) != 0;
}
template <std::size_t kWords>
void add(std::array<std::uint64_t, kWords>& set, std::size_t at) {
  set[at / 64] |= std::uint64_t{1} << (at & 63);
}

}  // namespace

Landmarks::Landmarks(const ValueProblem& problem) : problem_(problem) {
  const std::vector<int>& order = problem.order();
  // One more position represents a missing operand, which needs nothing.
  std::vector<std::uint16_t> position(static_cast<std::size_t>(problem.num_values()), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[static_cast<std::size_t>(order[i])] = static_cast<std::uint16_t>(i);
  }
  for (const int value : order) {
    first_way_.push_back(ways_.size());
    for (const int maker : problem.makers(value)) {
      Positions way;
      const Operands& operands = problem.operations()[static_cast<std::size_t>(maker)].operands;
      for (std::size_t i = 0; i < way.size(); ++i) {
        way[i] = operands[i] == kNoValue ? static_cast<std::uint16_t>(order.size())
                                         : position[static_cast<std::size_t>(operands[i])];
      }
      ways_.push_back(way);
    }
    cheapest_.push_back(problem.cheapest(value));
    is_only_loaded_.push_back(problem.makers(value).empty());
  }
  first_way_.push_back(ways_.size());
  for (const auto& operation : problem.operations()) {
    const auto& operands = operation.operands;
    const auto absent = std::count(operands.begin(), operands.end(), kNoValue);
    most_operands_ = std::max(most_operands_, std::ssize(operands) - absent);
    const bool is_first = &operation == problem.operations().data();
    if (is_first || operation.cost < cheapest_operation_) cheapest_operation_ = operation.cost;
  }
  for (const int output : problem.algebra().outputs) {
    output_at_.push_back(position[static_cast<std::size_t>(output)]);
  }
}

template <class Work>
auto Landmarks::with_words(Work&& work) const {
  const std::size_t count = cheapest_.size();
  if (count <= 64) return work.template operator()<1>();
  if (count <= 128) return work.template operator()<2>();
  if (count <= 256) return work.template operator()<4>();
  if (count <= 512) return work.template operator()<8>();
  return work.template operator()<16>();
}

ValueBound Landmarks::bound(const ValueSet& held, const ValueSet& loadable,
                            std::uint32_t stored) const {
  return with_words([&]<std::size_t kWords>() { return bound_of<kWords>(held, loadable, stored); });
}

std::int64_t Landmarks::joining_bound(const ValueSet& held, const ValueSet& loadable,
                                      std::uint32_t stored) const {
  return with_words(
      [&]<std::size_t kWords>() { return joining_bound_of<kWords>(held, loadable, stored); });
}

template <std::size_t kWords>
std::vector<Landmarks::Set<kWords>>& Landmarks::found(const ValueSet& held,
                                                      const ValueSet& loadable) const {
  const std::vector<int>& order = problem_.order();
  const std::size_t count = order.size();
  // Starts with all positions as landmarks and removes positions until nothing changes.
  thread_local std::vector<Set<kWords>> landmarks;
  thread_local std::vector<std::uint16_t> open;  // the positions that are neither held nor loadable
  landmarks.resize(count + 1);
  landmarks[count].fill(0);
  open.clear();
  for (std::size_t at = 0; at < count; ++at) {
    Set<kWords>& known = landmarks[at];
    const bool is_held = held.has(order[at]);
    if (is_held || loadable.has(order[at])) {
      known.fill(0);
      if (!is_held) add<kWords>(known, at);
    } else {
      known.fill(~std::uint64_t{0});
      open.push_back(static_cast<std::uint16_t>(at));
    }
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (const std::uint16_t at : open) {
      Set<kWords> always;
      always.fill(~std::uint64_t{0});
      for (std::size_t way = first_way_[at]; way < first_way_[at + 1U]; ++way) {
        const auto& [a, b, c] = ways_[way];
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < kWords; ++i) {
          always[i] &= landmarks[a][i] | landmarks[b][i] | landmarks[c][i];
          any |= always[i];
        }
        if (any == 0) break;
      }
      add<kWords>(always, at);
      Set<kWords>& known = landmarks[at];
      if (always == known) continue;
      known = always;
      changes = true;
    }
  }
  return landmarks;
}

template <std::size_t kWords>
Landmarks::Set<kWords> Landmarks::needed_of(const ValueSet& held, const ValueSet& loadable,
                                            std::uint32_t stored) const {
  const std::vector<Set<kWords>>& landmarks = found<kWords>(held, loadable);
  Set<kWords> needed{};
  for (std::size_t output = 0; output < output_at_.size(); ++output) {
    if ((stored >> output & 1) != 0) continue;
    for (std::size_t i = 0; i < kWords; ++i) needed[i] |= landmarks[output_at_[output]][i];
  }
  return needed;
}

std::vector<std::uint16_t> Landmarks::needed(const ValueSet& held, const ValueSet& loadable,
                                             std::uint32_t stored) const {
  return with_words([&]<std::size_t kWords>() {
    const Set<kWords> needed = needed_of<kWords>(held, loadable, stored);
    std::vector<std::uint16_t> result;
    for (std::size_t at = 0; at < cheapest_.size(); ++at) {
      if (has_bit<kWords>(needed, at)) result.push_back(static_cast<std::uint16_t>(at));
    }
    return result;
  });
}

template <std::size_t kWords>
ValueBound Landmarks::bound_of(const ValueSet& held, const ValueSet& loadable,
                               std::uint32_t stored) const {
  const std::vector<int>& order = problem_.order();
  const Set<kWords> needed = needed_of<kWords>(held, loadable, stored);
  ValueBound result;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!has_bit<kWords>(needed, at)) continue;
    result.cost += loadable.has(order[at]) && !is_only_loaded_[at]
                       ? std::min(cheapest_[at], problem_.load_cost())
                       : cheapest_[at];
    result.loads += is_only_loaded_[at] ? 1 : 0;
  }
  return result;
}

template <std::size_t kWords>
std::int64_t Landmarks::joining_bound_of(const ValueSet& held, const ValueSet& loadable,
                                         std::uint32_t stored) const {
  const std::uint32_t left = problem_.all_outputs() & ~stored;
  if (most_operands_ < 2 || std::popcount(left) != 1) return 0;
  const std::size_t output = output_at_[static_cast<std::size_t>(std::countr_zero(left))];
  const std::vector<int>& order = problem_.order();
  const Set<kWords>& needed = found<kWords>(held, loadable)[output];
  // Counts the inputs that every way to the output loads, and the further parts that it needs:
  // none, one, or at least two. The parts and operations form a connected graph, so it has at least
  // parts + operations - 1 arcs. It has at most as many arcs as the operations have operands.
  const Set<kWords> must_load = only_loaded<kWords>(held, loadable);
  Set<kWords> inputs{};
  std::int64_t parts = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!has_bit<kWords>(needed, at) || !has_bit<kWords>(must_load, at)) continue;
    add<kWords>(inputs, at);
    ++parts;
  }
  const std::int64_t loads = parts * problem_.load_cost();
  if (!is_made_of<kWords>(inputs, output)) {
    bool is_one_enough = false;
    for (std::size_t at = 0; at < order.size() && !is_one_enough; ++at) {
      if (!held.has(order[at]) && !loadable.has(order[at])) continue;
      Set<kWords> with = inputs;
      add<kWords>(with, at);
      is_one_enough = with != inputs && is_made_of<kWords>(with, output);
    }
    parts += is_one_enough ? 1 : 2;
  }
  const std::int64_t operations = (parts - 1 + most_operands_ - 2) / (most_operands_ - 1);
  return loads + std::max<std::int64_t>(0, operations) * cheapest_operation_;
}

template <std::size_t kWords>
Landmarks::Set<kWords> Landmarks::only_loaded(const ValueSet& held,
                                              const ValueSet& loadable) const {
  const std::vector<int>& order = problem_.order();
  Set<kWords> there{}, result{};
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (held.has(order[at]) || loadable.has(order[at])) add<kWords>(there, at);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (held.has(order[at]) || !loadable.has(order[at])) continue;
    Set<kWords> others = there;
    others[at / 64] &= ~(std::uint64_t{1} << (at & 63));
    if (is_only_loaded_[at] || !is_made_of<kWords>(others, at)) add<kWords>(result, at);
  }
  return result;
}

template <std::size_t kWords>
bool Landmarks::is_made_of(const Set<kWords>& from, std::size_t position) const {
  const std::size_t nothing = cheapest_.size();
  thread_local std::vector<bool> is_made;
  is_made.assign(nothing + 1, false);
  is_made[nothing] = true;
  for (std::size_t at = 0; at < nothing; ++at) is_made[at] = has_bit<kWords>(from, at);
  for (bool changes = true; changes && !is_made[position];) {
    changes = false;
    for (std::size_t at = 0; at < nothing; ++at) {
      for (std::size_t way = first_way_[at]; way < first_way_[at + 1] && !is_made[at]; ++way) {
        const auto& [a, b, c] = ways_[way];
        if (is_made[a] && is_made[b] && is_made[c]) changes = is_made[at] = true;
      }
    }
  }
  return is_made[position];
}

}  // namespace flashlab::optimal::detail
