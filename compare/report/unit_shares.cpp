#include "compare/report/unit_shares.hpp"

#include <algorithm>
#include <array>

#include "compare/model/unit_cycles.hpp"
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

}  // namespace

std::vector<UnitShare> unit_shares(const Step& step) {
  const Prediction& p = step.predicted;
  const Measurement none, &m = step.measured ? *step.measured : none;
  std::vector<UnitShare> units = {{"products", p.products_ms, 0, m.tensor_percent},
                                  {"shared memory", p.shared_ms, 0, m.shared_percent},
                                  {"issue slots", p.issue_ms, 0, m.issue_percent},
                                  {"exponentials", p.exp_ms, 0, m.exp_percent},
                                  {"additions", p.sums_ms, 0, std::nullopt},
                                  {"DRAM", p.dram_ms, 0, std::nullopt},
                                  {"L2 to SM", p.sm_ms, 0, std::nullopt}};
  // Products that no tensor core made are multiply-adds of threads, which are in the issue slots.
  if (p.warps > 0 && m.tensor_percent && *m.tensor_percent < 100 * kLeastShare) units[0].ms = 0;
  for (UnitShare& unit : units) unit.share = unit.ms > 0 ? unit.ms / predicted_ms(p) : 0;
  std::erase_if(units, [](const UnitShare& unit) {
    return unit.ms <= 0 || (unit.share < kLeastShare && !unit.measured_percent);
  });
  std::ranges::stable_sort(units, [](const auto& a, const auto& b) { return a.ms > b.ms; });
  return units;
}

double shared_ms_of(const Prediction& units) {
  const std::array<double, 4> all = {units.products_ms, units.shared_ms, units.issue_ms,
                                     units.exp_ms};
  return shared_units_cycles(all, units.warps * units.wait_ms, units.warps);
}

namespace {

/// The member of a unit that the warps share; null: another one.
double Prediction::*shared_member(std::string_view unit) {
  if (unit == "products") return &Prediction::products_ms;
  if (unit == "shared memory") return &Prediction::shared_ms;
  if (unit == "issue slots") return &Prediction::issue_ms;
  return unit == "exponentials" ? &Prediction::exp_ms : nullptr;
}

/// The share of the time that is left if a unit takes no longer than this; nothing: it is no unit that
/// warps share.
std::optional<double> time_left(const Prediction& p, std::string_view unit, double ms) {
  const auto member = shared_member(unit);
  if (member == nullptr || p.warps <= 0) return std::nullopt;
  Prediction changed = p;
  changed.*member = ms;
  return shared_ms_of(changed) / shared_ms_of(p);
}

}  // namespace

std::string binding_sentence(const Step& step) {
  const std::vector<UnitShare> units = unit_shares(step);
  if (units.empty()) return "no unit is described";
  const Prediction& p = step.predicted;
  const UnitShare& first = units[0];
  std::string text =
      bind(first.name) + ", busy " + percent_text(first.share) + " of the predicted time";
  const bool has_next = units.size() > 1 && units[1].share >= kNextShare;
  const double less = has_next ? 1 - units[1].ms / first.ms : 0;
  if (!has_next) {
    text += "; no other unit comes near";
  } else if (less < kAlike) {
    text += "; " + std::string(units[1].name) + (units[1].name.ends_with('s') ? " are" : " is") +
            " as busy";
  } else {
    text += "; with " + percent_text(less) + " less of it, " + std::string(units[1].name) +
            " would bind";
    if (const auto left = time_left(p, first.name, units[1].ms)) {
      text += ", and it would take " + percent_text(*left) + " of the time";
    }
  }
  if (p.warps > 0 && first.share < 0.9) {
    text += "; the rest of the time its " + short_text(p.warps) +
            " warps per scheduler need other units or wait";
  }
  return text;
}

}  // namespace flashlab::compare
