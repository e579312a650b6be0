#include "cli/compare/explained.hpp"

#include <algorithm>
#include <cmath>

#include "cli/compare/text.hpp"
#include "compare/report/unit_shares.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr double kNotableShare = 0.05;  // of a row's predicted time
constexpr std::size_t kNameWidth = 15, kMostBar = 50;

std::string filled_up(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

/// "  shared memory  predicted  62 %  ######".
std::string bar_line(const std::string& name, const std::string& kind, double share,
                     const Terminal& terminal) {
  const std::string number = percent_text(share);
  const std::string head = "  " + filled_up(name, kNameWidth) + filled_up(kind, 11) +
                           std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number +
                           "  ";
  const std::size_t space = terminal.width > head.size() ? terminal.width - head.size() : 1;
  const double length =
      std::clamp(share, 0.0, 1.0) * static_cast<double>(std::min(space, kMostBar));
  const auto marks = static_cast<std::size_t>(std::lround(length));
  if (marks == 0) return head.substr(0, head.find_last_not_of(' ') + 1) + "\n";
  return head + std::string(marks, '#') + "\n";
}

std::string step_heading(const compare::Step& step) {
  const compare::Prediction& p = step.predicted;
  std::string text = printable(step.name) + ": predicted " + time_text(compare::predicted_ms(p));
  if (step.measured && step.measured->median_ms) {
    text += ", measured " + time_text(*step.measured->median_ms);
  }
  if (p.warps > 0) {
    text += "; " + short_text(p.warps) + " warps per scheduler at " + fixed_text(p.clock_ghz, 2) +
            " GHz";
  }
  return text;
}

std::string explained_step(const compare::Step& step, const Terminal& terminal) {
  std::string text;
  for (const std::string& line : wrap(step_heading(step), terminal.width)) text += line + "\n";
  for (const compare::UnitShare& unit : compare::unit_shares(step)) {
    text += bar_line(std::string(unit.name), "predicted", unit.share, terminal);
    if (unit.measured_percent) {
      text += bar_line("", "measured", *unit.measured_percent / 100, terminal);
    }
  }
  const double waiting = step.predicted.wait_ms / compare::predicted_ms(step.predicted);
  if (step.predicted.warps > 0) text += bar_line("waits", "predicted", waiting, terminal);
  for (const std::string& line : wrap(compare::binding_sentence(step), terminal.width - 2)) {
    text += "  " + line + "\n";
  }
  return text;
}

/// The model predicts cycles; a clock that it does not expect changes the time alone. Empty: no clock.
std::string clock_sentence(const compare::Row& row) {
  const auto in_time = compare::time_ratio(row);
  if (!in_time || !row.measured->clock_ghz || row.predicted.clock_ghz <= 0) return {};
  const double in_cycles = *in_time * row.predicted.clock_ghz / *row.measured->clock_ghz;
  return "measured at " + fixed_text(*row.measured->clock_ghz, 2) +
         " GHz; predicted over measured: " + fixed_text(*in_time, 2) + " in time, " +
         fixed_text(in_cycles, 2) + " in cycles";
}

}  // namespace

std::string explained_row(const compare::Row& row, const Terminal& terminal) {
  std::string text;
  for (const std::string& line : wrap(printable(key_of(row)), terminal.width)) text += line + "\n";
  if (compare::does_not_fit(row)) return text + wrapped(printable(row.failure), terminal.width);
  if (const std::string clock = clock_sentence(row); !clock.empty()) {
    for (const std::string& line : wrap(clock, terminal.width)) text += line + "\n";
  }
  for (const compare::Step& step : row.steps) {
    const double share =
        compare::predicted_ms(step.predicted) / compare::predicted_ms(row.predicted);
    if (share >= kNotableShare) text += "\n" + explained_step(step, terminal);
  }
  if (const std::string all = compare::binding_sentence(row); !all.empty()) {
    text += "\n" + wrapped(all, terminal.width);
  }
  return text;
}

}  // namespace flashlab::cli
