#include "optimal/products/load_schedule.hpp"

#include <algorithm>
#include <cstddef>

#include "optimal/problem/operation_order.hpp"
#include "optimal/products/placed_loads.hpp"

namespace flashlab::optimal {
namespace {

using detail::Gap;
using detail::kNone;
using detail::OperationOrder;
using detail::PlacedLoads;

/// Labels a load that some gap needs. The first load of a value that is not computed is compulsory.
LabelledLoad label_of(const Gap& gap, bool is_first, bool is_placed) {
  LabelledLoad label;
  label.step = static_cast<std::uint32_t>(gap.load);
  if (is_first) return label;
  label.kind = is_placed ? LoadKind::kForced : LoadKind::kAvoidable;
  if (is_placed) return label;
  label.saving = Saving::kKept;
  label.register_number = gap.lost_register;
  label.overwritten_at = static_cast<std::uint32_t>(gap.lost_at);
  return label;
}

LabelledLoad spare(const detail::SpareLoad& load) {
  LabelledLoad label;
  label.step = load.step;
  label.kind = LoadKind::kAvoidable;
  label.saving = load.held_in == kNone ? Saving::kUnused : Saving::kThere;
  label.register_number = load.held_in;
  return label;
}

}  // namespace

std::int64_t LoadSchedule::count(LoadKind kind) const {
  return std::count_if(labels.begin(), labels.end(),
                       [&](const LabelledLoad& one) { return one.kind == kind; });
}

LoadSchedule best_loads(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
                        const ScheduleMachine& machine) {
  LoadSchedule schedule;
  OperationOrder order = detail::operation_order(bound, unrolled, machine.operand_rule);
  schedule.unknown = std::move(order.unknown);
  if (!schedule.unknown.empty()) return schedule;
  PlacedLoads placed = detail::place_loads(order, machine.registers, machine.operand_rule);
  schedule.unknown = std::move(placed.unknown);
  if (!schedule.unknown.empty()) return schedule;
  schedule.best_loads = placed.loads;
  std::vector<char> seen(static_cast<std::size_t>(order.num_values), 0);
  for (std::size_t g = 0; g < order.gaps.size(); ++g) {
    const Gap& gap = order.gaps[g];
    const bool is_placed = placed.load_before[g] != kNone;
    char& known = seen[static_cast<std::size_t>(gap.value)];
    if (gap.load != kNone) {
      schedule.labels.push_back(label_of(gap, gap.from == kNone && known == 0, is_placed));
    } else if (is_placed) {
      ++schedule.extra_loads;
    }
    known = 1;
  }
  for (const detail::SpareLoad& load : order.spare_loads) schedule.labels.push_back(spare(load));
  std::sort(schedule.labels.begin(), schedule.labels.end(),
            [](const LabelledLoad& a, const LabelledLoad& b) { return a.step < b.step; });
  schedule.in_order = std::move(order.in_order);
  return schedule;
}

}  // namespace flashlab::optimal
