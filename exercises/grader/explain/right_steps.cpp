#include "exercises/grader/explain/right_steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/submission/statement_lines.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kCasesBeside = 6;
constexpr double kSameNumber = 1e-4;  // beside the larger of two numbers

bool is_same_number(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b || (std::isnan(a) && std::isnan(b));
  return std::abs(a - b) <= kSameNumber * std::max({std::abs(a), std::abs(b), 1e-30});
}

/// The lines that both programs have, where no line between them is missing or new.
std::map<std::uint32_t, std::uint32_t> equal_lines(const toy::SourceText& mine,
                                                   const toy::SourceText& right) {
  std::map<std::uint32_t, std::uint32_t> found;
  const auto all = line_differences(mine, right);
  if (!all) return found;
  const auto numbers = [](const toy::SourceText& text, const auto& is_left_out) {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
      if (!words(text.line(line)).empty() && !is_left_out(line)) lines.push_back(line);
    }
    return lines;
  };
  const auto differs = [&](std::vector<std::uint32_t> LineDifference::*side) {
    return [&, side](std::uint32_t line) {
      return std::any_of(all->begin(), all->end(), [&](const LineDifference& one) {
        const auto& lines = one.*side;
        return std::find(lines.begin(), lines.end(), line) != lines.end();
      });
    };
  };
  const auto here = numbers(mine, differs(&LineDifference::mine));
  const auto there = numbers(right, differs(&LineDifference::other));
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) found[here[i]] = there[i];
  return found;
}

}  // namespace

std::shared_ptr<const toy::Program> right_program(const FailedAttempt& failed,
                                                  const Repairs& repairs) {
  if (repairs.departures) return repairs.departures->model;
  for (const Repair& repair : repairs.repairs) {
    if (repair.edit.line != repairs.line && repair.edit.other_line != repairs.line) continue;
    // Two products that both lack a ^T: others may be missing.
    if (repair.edit.kind == EditKind::kTransposition && !repair.further.empty()) return nullptr;
    auto repaired = repaired_program(*failed.program, repair);
    return repaired ? std::make_shared<const toy::Program>(std::move(*repaired)) : nullptr;
  }
  return nullptr;
}

std::optional<RightSteps> RightSteps::find(const FailedAttempt& failed, const Repairs& repairs) {
  if (failed.attempt.machines || failed.attempt.counters.steps > kMostValueSteps) return {};
  const auto program = right_program(failed, repairs);
  if (program == nullptr) return {};
  const SizedCases& sized = *failed.attempt.sized;
  const auto mine = bound_alone(failed.task, failed.program, sized.size);
  const auto right = bound_alone(failed.task, program, sized.size);
  if (!mine || !right) return {};
  std::vector<ValueRun> my_runs, right_runs;
  for (const Case& entry : sized.cases) {
    if (my_runs.size() == kCasesBeside) break;
    auto my_run = run_values(*mine, entry), right_run = run_values(*right, entry);
    if (!my_run || !right_run) continue;
    my_runs.push_back(std::move(*my_run));
    right_runs.push_back(std::move(*right_run));
  }
  if (my_runs.empty()) return {};
  return RightSteps(std::move(my_runs), std::move(right_runs),
                    equal_lines(*failed.program->source, *program->source));
}

std::size_t RightSteps::counterpart(std::size_t run, std::size_t step) const {
  const ValueRun &mine = mine_[run], &right = right_[run];
  const std::uint32_t site = mine.values.steps[step].site;
  const auto line = lines_.find(mine.line(site));
  if (line == lines_.end()) return SIZE_MAX;
  auto times = std::count_if(mine.values.steps.begin(),
                             mine.values.steps.begin() + static_cast<std::ptrdiff_t>(step),
                             [&](const toy::StepValue& value) { return value.site == site; });
  for (std::size_t s = 0; s < right.values.steps.size(); ++s) {
    if (right.line(right.values.steps[s].site) == line->second && times-- == 0) return s;
  }
  return SIZE_MAX;
}

template <class Holds>
std::optional<bool> RightSteps::in_all_cases(std::size_t step, const Holds& holds) const {
  std::optional<bool> all;
  for (std::size_t run = 0; run < mine_.size(); ++run) {
    if (step >= mine_[run].values.steps.size()) continue;  // an error before it
    const toy::StepValue& mine = mine_[run].values.steps[step];
    const std::size_t at = counterpart(run, step);
    if (at == SIZE_MAX || mine.is_stored) continue;
    const toy::StepValue& right = right_[run].values.steps[at];
    const auto a = mine_[run].values.of(mine), b = right_[run].values.of(right);
    const bool is_here = mine.rows == right.rows && mine.cols == right.cols &&
                         std::equal(a.begin(), a.end(), b.begin(), b.end(), holds);
    all = all.value_or(true) && is_here;
  }
  return all;
}

bool RightSteps::is_right(std::size_t step) const {
  return in_all_cases(step, [](float a, float b) { return is_same_number(a, b); }).value_or(false);
}

bool RightSteps::is_exchanged(std::size_t step) const {
  if (is_right(step)) return false;
  const bool is_negative = in_all_cases(step, [](float a, float b) {
                             return is_same_number(a, -static_cast<double>(b));
                           }).value_or(true);
  return is_negative || in_all_cases(step, [](float a, float b) {
                          return is_same_number(static_cast<double>(a) * b, 1);
                        }).value_or(true);
}

}  // namespace flashlab::exercises
