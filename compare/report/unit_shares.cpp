#include "compare/report/unit_shares.hpp"

#include <algorithm>

#include "compare/model/binding_unit.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {

namespace {

/// A unit that is busy for less of the time is not shown, unless a counter shows something else.
constexpr double kLeastShare = 0.005;
/// A next unit that is busy for less would bind only if the first one had nearly nothing to do.
constexpr double kNextShare = 0.03;
/// Units that differ by less are called alike.
constexpr double kAlike = 0.01;

/// "products bind", "shared memory binds".
std::string bind(std::string_view unit) {
  return std::string(unit) + (unit.ends_with('s') ? " bind" : " binds");
}

std::optional<double> measured_percent(const Step& step, Bound unit) {
  if (!step.measured) return std::nullopt;
  switch (unit) {
    case Bound::kProducts:
      return step.measured->tensor_percent;
    case Bound::kShared:
      return step.measured->shared_percent;
    case Bound::kIssue:
      return step.measured->issue_percent;
    case Bound::kExp:
      return step.measured->exp_percent;
    default:
      return std::nullopt;
  }
}

/// What follows the first unit: which one would bind next.
std::string next_text(const Step& step) {
  const std::optional<NextBinding> next = next_binding(step);
  if (!next || unit_ms(step, next->unit) < kNextShare * predicted_ms(step.predicted)) {
    return "; no other unit comes near";
  }
  const std::string name(unit_name(next->unit));
  if (1 - next->share < kAlike)
    return "; " + name + (name.ends_with('s') ? " are" : " is") + " as busy";
  return "; with " + percent_text(1 - next->share) + " less of it, " + name +
         " would bind, and it would take " + percent_text(next->time_left) + " of the time";
}

}  // namespace

std::vector<UnitShare> unit_shares(const Step& step) {
  std::vector<UnitShare> units;
  for (const Bound unit : kUnits) {
    const double ms = unit_ms(step, unit);
    if (ms <= 0) continue;
    const UnitShare share = {unit, unit_name(unit), ms, ms / predicted_ms(step.predicted),
                             measured_percent(step, unit)};
    if (share.share >= kLeastShare || share.measured_percent) units.push_back(share);
  }
  std::ranges::stable_sort(units, [](const auto& a, const auto& b) { return a.ms > b.ms; });
  return units;
}

std::string binding_sentence(const Step& step) {
  const std::optional<Bound> unit = binding_unit(step);
  if (!unit) return "no unit is described";
  const Prediction& p = step.predicted;
  const double share = unit_ms(step, *unit) / predicted_ms(p);
  std::string text = bind(unit_name(*unit)) + ", busy " + percent_text(share) +
                     " of the predicted time" + next_text(step);
  if (p.warps > 0 && share < 0.9) {
    text += "; the rest of the time its " + short_text(p.warps) +
            " warps per scheduler need other units or wait";
  }
  return text;
}

std::string binding_sentence(const Row& row) {
  if (row.steps.size() < 2) return {};
  const std::optional<CallBinding> binding = binding_unit(row);
  if (!binding) return {};
  return "all kernels: " + bind(unit_name(binding->unit)) + "; without it, they would take " +
         percent_text(binding->time_left) + " of the time";
}

}  // namespace flashlab::compare
