#include "toymachine/replay/replay.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/replay/watch_expression.hpp"

namespace flashlab::toy {
namespace {

/// A stop of these is foreseen without running: it depends on no register.
bool is_foreseen(const Breakpoint& breakpoint) {
  return breakpoint.kind == Breakpoint::Kind::kWritten ||
         (breakpoint.kind == Breakpoint::Kind::kLine && !breakpoint.test);
}

bool is_one_of(const WantedExecutions& executions, const RunPoint& point) {
  return executions.site == point.site &&
         std::all_of(executions.wanted.begin(), executions.wanted.end(),
                     [&](const IndexWithin& one) {
                       const std::int64_t value = (*one.index)(point.loop_values.data());
                       return one.low <= value && value <= one.high;
                     });
}

}  // namespace

std::optional<std::uint64_t> Replay::last_execution(
    std::span<const WantedExecutions> executions) const {
  const RunPoint here = point();
  std::optional<std::uint64_t> last;
  for (const WantedExecutions& one : executions) {
    const auto found = nest_.last_before(one.site, here, one.wanted);
    if (found) last = std::max(last.value_or(0), nest_.steps_before(*found));
  }
  return last;
}

std::optional<std::uint64_t> Replay::next_execution(
    std::span<const WantedExecutions> executions) const {
  const RunPoint here = point();
  std::optional<std::uint64_t> next;
  for (const WantedExecutions& one : executions) {
    const auto found = nest_.first_after(one.site, here, one.wanted);
    if (found) next = std::min(next.value_or(UINT64_MAX), nest_.steps_before(*found));
  }
  return next;
}

std::optional<std::uint64_t> Replay::writer_of(const Place& place) const {
  return last_execution(writes_of(program_, place));
}

bool Replay::passes(const Breakpoint& breakpoint) {
  if (breakpoint.condition) {
    const auto value = breakpoint.condition->value(*this, point_of(breakpoint));
    return value && value->holds();  // x[i + 1] > 0 does not hold behind the last cell
  }
  if (!breakpoint.test) return true;
  if (breakpoint.place.is_cell) return (*breakpoint.test)(cell(breakpoint.place.number));
  const RegisterContents contents = register_contents(breakpoint.place.number);
  return count_holding(*breakpoint.test, contents.elements.data(),
                       static_cast<std::int64_t>(contents.elements.size())) > 0;
}

std::optional<Replay::ForeseenStop> Replay::next_foreseen(
    std::span<const Breakpoint> breakpoints) const {
  std::optional<ForeseenStop> next;
  const RunPoint here = point();
  const auto consider = [&](std::uint64_t stop, std::size_t i) {
    if (!next || stop < next->step) next = ForeseenStop{stop, {}};
    if (stop == next->step) next->breakpoints.push_back(i);
  };
  for (std::size_t i = 0; i < breakpoints.size(); ++i) {
    const Breakpoint& breakpoint = breakpoints[i];
    if (!is_foreseen(breakpoint)) continue;
    if (breakpoint.kind == Breakpoint::Kind::kLine) {
      const WantedExecutions visits = visits_of(breakpoint);
      if (const auto found = next_execution({&visits, 1})) consider(*found, i);
      continue;
    }
    const auto writes = writes_of(program_, breakpoint.place);
    const bool is_next = std::any_of(writes.begin(), writes.end(),
                                     [&](const auto& write) { return is_one_of(write, here); });
    if (is_next) {
      consider(step() + 1, i);
    } else if (const auto found = next_execution(writes)) {
      consider(*found + 1, i);
    }
  }
  return next;
}

std::vector<std::size_t> Replay::line_stops_here(std::span<const Breakpoint> breakpoints) {
  const RunPoint here = point();
  std::vector<std::size_t> stops;
  for (std::size_t i = 0; i < breakpoints.size(); ++i) {
    if (breakpoints[i].kind == Breakpoint::Kind::kLine &&
        is_one_of(visits_of(breakpoints[i]), here) && passes(breakpoints[i])) {
      stops.push_back(i);
    }
  }
  return stops;
}

std::vector<std::size_t> Replay::stops_here(std::span<const Breakpoint> breakpoints) {
  std::vector<std::size_t> stops = line_stops_here(breakpoints);
  for (std::size_t i = 0; i < breakpoints.size(); ++i) {
    if (breakpoints[i].kind == Breakpoint::Kind::kWritten && write_before(breakpoints[i].place) &&
        passes(breakpoints[i])) {
      stops.push_back(i);
    }
  }
  std::sort(stops.begin(), stops.end());
  return stops;
}

std::optional<RunPoint> Replay::write_before(const Place& place) const {
  const RunPoint here = point();
  for (const WantedExecutions& write : writes_of(program_, place)) {
    auto found = nest_.last_before(write.site, here, write.wanted);
    if (found && nest_.steps_before(*found) + 1 == step()) return found;
  }
  return std::nullopt;
}

RunPoint Replay::point_of(const Breakpoint& breakpoint) const {
  if (breakpoint.kind != Breakpoint::Kind::kWritten) return point();
  return write_before(breakpoint.place).value_or(point());
}

std::optional<Breakpoint> Replay::behind_loop() const {
  const RunPoint here = point();
  if (at_end() || program_.instructions[here.site].loop == kNoLoop) return std::nullopt;
  const std::uint32_t innermost = program_.instructions[here.site].loop;
  const auto is_inside = [&](std::uint32_t loop) {
    while (loop != kNoLoop && loop != innermost) loop = program_.loops[loop].parent;
    return loop == innermost;
  };
  std::optional<RunPoint> next;
  const auto consider = [&](std::optional<RunPoint> found) {
    if (found && (!next || nest_.steps_before(*found) < nest_.steps_before(*next))) next = found;
  };
  for (const BoundInstruction& one : program_.instructions) {
    if (!is_inside(one.loop)) {
      consider(nest_.first_after(one.site, here));
      continue;
    }
    // Inside, it is behind the present execution of the loop if a loop around that has gone on.
    for (std::uint32_t outer = program_.loops[innermost].parent; outer != kNoLoop;
         outer = program_.loops[outer].parent) {
      const Affine variable{0, {{outer, 1}}};
      const std::int64_t value = here.loop_values[outer];
      const bool rises = program_.loops[outer].step > 0;
      const IndexWithin later{&variable, rises ? value + 1 : INT64_MIN,
                              rises ? INT64_MAX : value - 1};
      consider(nest_.first_after(one.site, here, {&later, 1}));
    }
  }
  if (!next) return std::nullopt;
  Breakpoint behind;
  behind.site = next->site;
  behind.line = program_.instructions[next->site].span.line;
  for (std::uint32_t loop = program_.instructions[next->site].loop; loop != kNoLoop;
       loop = program_.loops[loop].parent) {
    behind.ranges.push_back(
        {Affine{0, {{loop, 1}}}, next->loop_values[loop], next->loop_values[loop]});
  }
  return behind;
}

Stop Replay::forward(std::span<const Breakpoint> breakpoints, const Progress& progress,
                     bool includes_here) {
  if (includes_here) {
    const auto stops = line_stops_here(breakpoints);
    if (!stops.empty()) return {Stop::Reason::kBreakpoint, stops.front()};
  }
  for (bool skips = true;; skips = false) {
    const auto foreseen = next_foreseen(breakpoints);
    const std::uint64_t target = foreseen ? foreseen->step : total_;
    const Stop stop = run_watching(target, breakpoints, skips, progress);
    if (stop.reason != Stop::Reason::kStep) return stop;
    if (!foreseen) return {Stop::Reason::kEnd, 0};
    for (const std::size_t one : foreseen->breakpoints) {
      if (passes(breakpoints[one])) return {Stop::Reason::kBreakpoint, one};
    }
    if (progress && !progress(step())) return {Stop::Reason::kCancelled, 0};
  }
}

std::optional<Replay::ForeseenStop> Replay::last_foreseen(
    std::span<const Breakpoint> breakpoints) const {
  std::optional<ForeseenStop> last;
  for (std::size_t i = 0; i < breakpoints.size(); ++i) {
    const Breakpoint& breakpoint = breakpoints[i];
    if (!is_foreseen(breakpoint)) continue;
    std::optional<std::uint64_t> found;
    if (breakpoint.kind == Breakpoint::Kind::kLine) {
      const WantedExecutions visits = visits_of(breakpoint);
      found = last_execution({&visits, 1});
    } else {
      // The step after a write; the run may stand there already.
      const RunPoint here = point();
      for (const WantedExecutions& write : writes_of(program_, breakpoint.place)) {
        auto before = nest_.last_before(write.site, here, write.wanted);
        if (before && nest_.steps_before(*before) + 1 == step()) {
          before = nest_.last_before(write.site, *before, write.wanted);
        }
        if (before) found = std::max(found.value_or(0), nest_.steps_before(*before) + 1);
      }
    }
    if (found && (!last || *found > last->step)) last = ForeseenStop{*found, {}};
    if (found && *found == last->step) last->breakpoints.push_back(i);
  }
  return last;
}

Stop Replay::backward(std::span<const Breakpoint> breakpoints, const Progress& progress) {
  const std::uint64_t began = step();
  std::optional<ValueStop> foreseen;
  while (!foreseen) {  // to a write whose value passes, or a line whose condition holds
    const auto next = last_foreseen(breakpoints);
    if (!next) break;
    const bool is_conditional = std::all_of(
        next->breakpoints.begin(), next->breakpoints.end(),
        [&](std::size_t one) { return breakpoints[one].test || breakpoints[one].condition; });
    if (is_conditional && (go_to(next->step, progress).reason == Stop::Reason::kCancelled ||
                           (progress && !progress(step())))) {
      return {Stop::Reason::kCancelled, 0};
    }
    for (const std::size_t one : next->breakpoints) {
      const bool stops = is_conditional ? passes(breakpoints[one])
                                        : !breakpoints[one].test && !breakpoints[one].condition;
      if (stops && !foreseen) foreseen = ValueStop{next->step, one};
    }
  }
  if (step() != began && go_to(began, progress).reason == Stop::Reason::kCancelled) {
    return {Stop::Reason::kCancelled, 0};
  }
  bool cancelled = false;
  const auto watched =
      last_watched(foreseen ? foreseen->step : 0, breakpoints, progress, cancelled);
  if (cancelled) return {Stop::Reason::kCancelled, 0};
  const auto& found = watched ? watched : foreseen;
  go_to(found ? found->step : 0);
  if (!found) return {Stop::Reason::kStart, 0};
  return {Stop::Reason::kBreakpoint, found->breakpoint};
}

std::vector<PastStep> Replay::last_steps(std::size_t count) {
  const std::uint64_t end = step();
  const bool failed = error() != nullptr;
  std::vector<PastStep> steps;
  for (go_to(end - std::min<std::uint64_t>(end, count)); step() < end;) {
    PastStep past{step() + 1, point(), {}};
    if (go_to(step() + 1).reason != Stop::Reason::kStep && step() < past.number) break;
    for (const BoundOperand& operand : program_.instructions[past.point.site].operands) {
      const std::int64_t number = operand.index(past.point.loop_values.data());
      if (operand.kind == OperandKind::kDestination) past.value = register_contents(number);
      if (is_memory_write(operand.kind)) past.value = {1, 1, {cell(number)}};
    }
    steps.push_back(std::move(past));
  }
  if (failed) go_to(end + 1);
  return steps;
}

}  // namespace flashlab::toy
