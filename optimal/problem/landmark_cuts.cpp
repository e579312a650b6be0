#include "optimal/problem/landmark_cuts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace flashlab::optimal::detail {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

struct LandmarkCuts::Scratch {
  std::vector<Way> ways;                       // possible in the state, with the remaining costs
  std::vector<std::int64_t> level;             // by position
  std::vector<bool> is_goal_zone, is_reached;  // by position
  std::vector<bool> is_there;                  // by position: held or loadable
  std::vector<std::size_t> outputs;            // positions of the remaining outputs
  std::size_t goal = 0;                        // the most expensive of them
  std::vector<std::size_t> cut;                // numbers of ways
  std::vector<std::int64_t> least;             // by position: cheapest way to it
  std::vector<ItemAssignment::Items> parts;    // available parts of an item assignment
};

LandmarkCuts::LandmarkCuts(const ValueProblem& problem) : problem_(problem) {
  const std::vector<int>& order = problem.order();
  const auto nothing = static_cast<std::uint16_t>(order.size());
  std::vector<std::uint16_t> position(static_cast<std::size_t>(problem.num_values()), nothing);
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[static_cast<std::size_t>(order[i])] = static_cast<std::uint16_t>(i);
  }
  const auto at = [&](int value) {
    return value == kNoValue ? nothing : position[static_cast<std::size_t>(value)];
  };
  std::vector<int> maker_of_way;
  for (const int value : order) {
    for (const int maker : problem.makers(value)) {
      const auto& operation = problem.operations()[static_cast<std::size_t>(maker)];
      const auto& [a, b, c] = operation.operands;
      ways_.push_back({{at(a), at(b), at(c)}, at(value), operation.cost, ways_.size()});
      maker_of_way.push_back(maker);
    }
  }
  for (const int value : order) {
    ways_.push_back({{nothing, nothing, nothing}, at(value), problem.load_cost(), ways_.size()});
  }
  for (const int output : problem.algebra().outputs) output_at_.push_back(at(output));
  place(item_assignments(problem), maker_of_way);
}

void LandmarkCuts::place(const std::vector<ItemAssignment>& found,
                         const std::vector<int>& maker_of_way) {
  for (const ItemAssignment& assignment : found) {
    PlacedAssignment placed{{}, assignment.all,         assignment.join_cost,
                            {}, assignment.bring_costs, {}};
    for (const int value : problem_.order()) {
      placed.items.push_back(assignment.items[static_cast<std::size_t>(value)]);
    }
    for (const int maker : maker_of_way) {
      placed.joins.push_back(assignment.joins[static_cast<std::size_t>(maker)]);
      placed.brings.push_back(assignment.brings[static_cast<std::size_t>(maker)]);
    }
    placed.joins.resize(ways_.size(), 0);  // loads join nothing and bring nothing in
    placed.brings.resize(ways_.size(), ItemAssignment::kNone);
    item_assignments_.push_back(std::move(placed));
  }
}

std::uint16_t LandmarkCuts::most_expensive(const Scratch& work, const Positions& operands) {
  const auto& [a, b, c] = operands;
  const std::uint16_t first = work.level[a] >= work.level[b] ? a : b;
  return work.level[first] >= work.level[c] ? first : c;
}

std::int64_t LandmarkCuts::bound(const ValueSet& held, const ValueSet& loadable,
                                 std::uint32_t stored, std::span<const std::uint16_t> needed,
                                 std::int64_t limit) const {
  thread_local Scratch work;
  const std::vector<int>& order = problem_.order();
  work.level.assign(order.size() + 1, kNever);
  work.level.back() = 0;
  work.is_there.assign(order.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (held.has(order[i])) work.level[i] = 0;
    work.is_there[i] = held.has(order[i]) || loadable.has(order[i]);
  }
  work.outputs.clear();
  for (std::size_t output = 0; output < output_at_.size(); ++output) {
    if ((stored >> output & 1) == 0) work.outputs.push_back(output_at_[output]);
  }
  if (work.outputs.empty()) return 0;
  work.ways.clear();
  const std::size_t first_load = ways_.size() - order.size();
  for (std::size_t number = 0; number < ways_.size(); ++number) {
    const Way& way = ways_[number];
    if (work.level[way.result] == 0) continue;  // is held
    if (number < first_load || loadable.has(order[way.result])) work.ways.push_back(way);
  }
  std::int64_t result = count_assignments(work);
  if (result < limit) result += count_needed(needed, work);
  while (result < limit) {
    const std::int64_t left = find_levels(work);
    if (left == 0 || left >= kNever) return result;
    find_goal_zone(work);
    find_cut(work);
    std::int64_t least = kNever;
    for (const std::size_t number : work.cut) least = std::min(least, work.ways[number].cost);
    for (const std::size_t number : work.cut) work.ways[number].cost -= least;
    result += least;
  }
  return result;
}

std::int64_t LandmarkCuts::count_assignments(Scratch& work) const {
  std::int64_t result = 0;
  for (const PlacedAssignment& assignment : item_assignments_) {
    work.parts.clear();
    ItemAssignment::Items there = 0;
    for (std::size_t at = 0; at < assignment.items.size(); ++at) {
      if (!work.is_there[at] || assignment.items[at] == 0) continue;
      work.parts.push_back(assignment.items[at]);
      there |= assignment.items[at];
    }
    const int parts = fewest_parts(work.parts, assignment.all);
    if (parts < 2) continue;
    const bool is_all_needed = is_needed(assignment, assignment.all, work);
    const std::int64_t join_cost = is_all_needed ? assignment.join_cost : 0;
    result += (parts - 1) * join_cost;
    std::array<std::int64_t, 64> bring_costs{};
    for (std::size_t item = 0; item < assignment.bring_costs.size(); ++item) {
      const ItemAssignment::Items only = ItemAssignment::Items{1} << item;
      if ((there & only) != 0 || assignment.bring_costs[item] == 0) continue;
      if (is_all_needed || is_needed(assignment, only, work)) {
        bring_costs[item] = assignment.bring_costs[item];
      }
      result += bring_costs[item];
    }
    for (Way& way : work.ways) {
      way.cost -= assignment.joins[way.number] * join_cost;
      const std::int8_t item = assignment.brings[way.number];
      if (item != ItemAssignment::kNone) {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): it is an item, so it is not negative
        way.cost -= bring_costs[static_cast<std::size_t>(item)];
      }
    }
  }
  return result;
}

std::int64_t LandmarkCuts::count_needed(std::span<const std::uint16_t> needed, Scratch& work) {
  work.least.assign(work.level.size(), kNever);
  for (const Way& way : work.ways) {
    work.least[way.result] = std::min(work.least[way.result], way.cost);
  }
  work.is_reached.assign(work.level.size(), false);
  std::int64_t result = 0;
  for (const std::uint16_t at : needed) {
    if (work.least[at] == kNever) continue;
    work.is_reached[at] = true;
    result += work.least[at];
  }
  for (Way& way : work.ways) {
    if (work.is_reached[way.result]) way.cost -= work.least[way.result];
  }
  return result;
}

bool LandmarkCuts::is_needed(const PlacedAssignment& assignment, ItemAssignment::Items items,
                             Scratch& work) {
  work.is_reached = work.is_there;
  work.is_reached.push_back(true);
  for (bool changes = true; changes;) {
    changes = false;
    for (const Way& way : work.ways) {
      const auto& [a, b, c] = way.operands;
      if (work.is_reached[way.result] || !work.is_reached[a] || !work.is_reached[b] ||
          !work.is_reached[c] || (assignment.items[way.result] & items) == items) {
        continue;
      }
      changes = work.is_reached[way.result] = true;
    }
  }
  return std::any_of(work.outputs.begin(), work.outputs.end(),
                     [&](std::size_t output) { return !work.is_reached[output]; });
}

std::int64_t LandmarkCuts::find_levels(Scratch& work) const {
  // Costs and levels only fall from cut to cut, so the last levels are valid starting values.
  for (bool changes = true; changes;) {
    changes = false;
    for (const Way& way : work.ways) {
      const std::int64_t level = work.level[most_expensive(work, way.operands)] + way.cost;
      if (level >= work.level[way.result]) continue;
      work.level[way.result] = level;
      changes = true;
    }
  }
  work.goal = *std::max_element(
      work.outputs.begin(), work.outputs.end(),
      [&](std::size_t a, std::size_t b) { return work.level[a] < work.level[b]; });
  return work.level[work.goal];
}

void LandmarkCuts::find_goal_zone(Scratch& work) const {
  work.is_goal_zone.assign(work.level.size(), false);
  work.is_goal_zone[work.goal] = true;
  for (bool changes = true; changes;) {
    changes = false;
    for (const Way& way : work.ways) {
      if (way.cost != 0 || !work.is_goal_zone[way.result]) continue;
      const std::uint16_t from = most_expensive(work, way.operands);
      if (work.level[from] >= kNever || work.is_goal_zone[from]) continue;
      work.is_goal_zone[from] = true;
      changes = true;
    }
  }
}

void LandmarkCuts::find_cut(Scratch& work) const {
  work.is_reached.assign(work.level.size(), false);
  for (std::size_t i = 0; i < work.level.size(); ++i) {
    // Values that are held or cost nothing are not in the goal's zone.
    work.is_reached[i] = work.level[i] == 0;
  }
  for (bool changes = true; changes;) {
    changes = false;
    work.cut.clear();
    for (std::size_t number = 0; number < work.ways.size(); ++number) {
      const Way& way = work.ways[number];
      if (!work.is_reached[most_expensive(work, way.operands)]) continue;
      if (work.is_goal_zone[way.result]) {
        work.cut.push_back(number);
      } else if (!work.is_reached[way.result]) {
        work.is_reached[way.result] = true;
        changes = true;
      }
    }
  }
}

}  // namespace flashlab::optimal::detail
