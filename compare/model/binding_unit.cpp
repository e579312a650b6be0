#include "compare/model/binding_unit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "compare/model/unit_cycles.hpp"

namespace flashlab::compare {
namespace {

double Prediction::*member_of(Bound unit) {
  switch (unit) {
    case Bound::kDram:
      return &Prediction::dram_ms;
    case Bound::kSm:
      return &Prediction::sm_ms;
    case Bound::kProducts:
      return &Prediction::products_ms;
    case Bound::kElementwise:
      return &Prediction::elementwise_ms;
    case Bound::kExp:
      return &Prediction::exp_ms;
    case Bound::kLaunch:
      return &Prediction::launch_ms;
    case Bound::kShared:
      return &Prediction::shared_ms;
    case Bound::kIssue:
      return &Prediction::issue_ms;
    case Bound::kSums:
      break;
  }
  return &Prediction::sums_ms;
}

/// The times of a step's units, and how they combine.
class UnitTimes {
 public:
  explicit UnitTimes(const Step& step)
      : times_(step.predicted),
        is_described_(times_.warps > 0),
        has_rows_(is_described_ && times_.shared_ms <= 0),  // tiles pass through shared memory
        num_threads_(std::max(1, step.num_threads)) {
    // Earlier versions predicted products of threads twice: as products and as instructions.
    constexpr double kNoTensorPercent = 0.5;
    const bool has_counter = step.measured && step.measured->tensor_percent;
    if (is_described_ && has_counter && *step.measured->tensor_percent < kNoTensorPercent) {
      times_.products_ms = 0;
    }
    stretch_ = stretch();
  }

  const Prediction& times() const { return times_; }
  bool has(Bound unit) const {
    return is_described_ ? unit != Bound::kElementwise
                         : unit != Bound::kShared && unit != Bound::kIssue;
  }
  double ms(Bound unit) const { return has(unit) ? times_.*member_of(unit) : 0; }

  /// The time of the step with other times of its units.
  double ms(const Prediction& p) const {
    return std::max(moving_ms(p), stretch_ * computing_ms(p)) + p.launch_ms;
  }

 private:
  double computing_ms(const Prediction& p) const {
    if (!is_described_) return (p.products_ms + p.elementwise_ms + p.exp_ms) / p.fill;
    return has_rows_ ? row_ms(p) : shared_ms_of(p);
  }

  /// The blocks of a multiprocessor share what set_row_time() (tile_time.hpp) has them share.
  double row_ms(const Prediction& p) const {
    constexpr double kThreadsOfWarp = 32, kSchedulers = 4;
    const double blocks = std::max(1.0, p.warps * kSchedulers * kThreadsOfWarp / num_threads_);
    const std::array<double, 3> units = {p.issue_ms, p.exp_ms, p.dram_ms};
    return shared_units_cycles(units, blocks * p.wait_ms, blocks);
  }

  /// Bulk additions run beside the warps. Others take at most as long as computing.
  double moving_ms(const Prediction& p) const {
    return std::max({p.sm_ms, has_rows_ ? 0 : p.dram_ms, p.sums_ms});
  }

  /// How much longer computing takes than its units show: last waves, starts. If loads take longer,
  /// nobody knows; then at most as long as these.
  double stretch() const {
    constexpr double kRounding = 1e-5;  // of files, which have six digits
    const double computing = computing_ms(times_), whole = predicted_ms(times_) - times_.launch_ms;
    if (computing <= 0) return 1;
    const bool is_moving = whole <= moving_ms(times_) * (1 + kRounding);
    return is_moving ? std::min(1.0, whole / computing) : whole / computing;
  }

  Prediction times_;
  bool is_described_, has_rows_;
  double num_threads_, stretch_ = 1;
};

Prediction with_share(Prediction times, Bound unit, double share) {
  times.*member_of(unit) *= share;
  return times;
}

bool is_less(double a, double b) {
  constexpr double kSame = 1e-9;
  return a < b - kSame * std::abs(b);
}

/// The unit with the least time left; of equal ones the one that takes the most time. `time_of`: 0
/// leaves a unit out.
template <class LeftWithout, class TimeOf>
std::optional<Bound> least_left(const LeftWithout& left_without, const TimeOf& time_of) {
  std::optional<Bound> best;
  double best_left = 0, best_time = 0;
  for (const Bound unit : kUnits) {
    const double time = time_of(unit);
    if (time <= 0) continue;
    const double left = left_without(unit);
    const bool is_better = !best || is_less(left, best_left) ||
                           (!is_less(best_left, left) && is_less(best_time, time));
    if (!is_better) continue;
    best = unit;
    best_left = left;
    best_time = time;
  }
  return best;
}

enum class LaunchTime { kCount, kLeftOut };

std::optional<Bound> binding(const UnitTimes& units, const Prediction& times,
                             LaunchTime launches = LaunchTime::kCount) {
  const auto is_meant = [&](Bound unit) {
    return units.has(unit) && (unit != Bound::kLaunch || launches == LaunchTime::kCount);
  };
  return least_left([&](Bound unit) { return units.ms(with_share(times, unit, 0)); },
                    [&](Bound unit) { return is_meant(unit) ? times.*member_of(unit) : 0; });
}

const Step* longest_bound_by(const Row& row, Bound unit) {
  const Step* longest = nullptr;
  for (const Step& step : row.steps) {
    if (binding_unit(step) != unit) continue;
    const bool is_longer =
        longest == nullptr || predicted_ms(step.predicted) > predicted_ms(longest->predicted);
    if (is_longer) longest = &step;
  }
  return longest;
}

}  // namespace

std::string_view unit_name(Bound unit) {
  return unit == Bound::kExp ? "exponentials" : to_string(unit);
}

double shared_ms_of(const Prediction& units) {
  const std::array<double, 5> all = {units.products_ms, units.shared_ms, units.issue_ms,
                                     units.exp_ms, units.sums_ms};
  return shared_units_cycles(all, units.warps * units.wait_ms, units.warps);
}

double unit_ms(const Step& step, Bound unit) { return UnitTimes(step).ms(unit); }

double ms_with(const Step& step, Bound unit, double share) {
  const UnitTimes units(step);
  return units.ms(with_share(units.times(), unit, share));
}

std::optional<Bound> binding_unit(const Step& step) {
  const UnitTimes units(step);
  return binding(units, units.times());
}

std::optional<NextBinding> next_binding(const Step& step) {
  const UnitTimes units(step);
  const Prediction& times = units.times();
  const std::optional<Bound> first = binding(units, times);
  if (!first) return std::nullopt;
  // Launches come on top: if two units run beside each other, less of one gains nothing, and
  // launches would bind before the other does.
  const LaunchTime launches = first == Bound::kLaunch ? LaunchTime::kCount : LaunchTime::kLeftOut;
  const auto binding_at = [&](double share) {
    return binding(units, with_share(times, *first, share), launches);
  };
  // The less the first unit takes, the less there is to gain from it: one share divides the two
  // sides.
  double none = 0, all = 1;
  const std::optional<Bound> at_last = binding_at(none);
  if (!at_last || at_last == first) return std::nullopt;
  constexpr double kPrecise = 1e-6;
  while (all - none > kPrecise) {
    const double middle = (none + all) / 2;
    (binding_at(middle) == first ? all : none) = middle;
  }
  return NextBinding{*binding_at(none), none,
                     units.ms(with_share(times, *first, none)) / units.ms(times)};
}

std::optional<CallBinding> binding_unit(const Row& row) {
  std::vector<UnitTimes> kernels(row.steps.begin(), row.steps.end());
  const auto sum = [&](const auto& of_kernel) {
    double ms = 0;
    for (const UnitTimes& units : kernels) ms += of_kernel(units);
    return ms;
  };
  const auto left = [&](Bound unit) {
    return sum(
        [&](const UnitTimes& units) { return units.ms(with_share(units.times(), unit, 0)); });
  };
  const std::optional<Bound> unit = least_left(
      left, [&](Bound of) { return sum([&](const UnitTimes& units) { return units.ms(of); }); });
  if (!unit) return std::nullopt;
  const double all = sum([](const UnitTimes& units) { return predicted_ms(units.times()); });
  CallBinding result = {*unit, left(*unit) / all, longest_bound_by(row, *unit), 1};
  if (result.kernel != nullptr) {
    result.kernel_share = predicted_ms(result.kernel->predicted) / all;
  }
  return result;
}

}  // namespace flashlab::compare
