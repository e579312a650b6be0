#include "exercises/grader/explain/wrong_value.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "exercises/grader/explain/crossed_sizes.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/value_runs.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kComparedCases = 6;
constexpr std::size_t kMostWork = 200'000;  // steps of trials: 10 to 20 ms
/// Sums in another order differ by less, beside the largest number of a tile.
constexpr double kSameValue = 1e-4;

bool is_same(float a, float b, double scale) {
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(static_cast<double>(a) - b) <= kSameValue * scale;
}

double largest(std::span<const float> numbers) {
  double most = 1e-30;
  for (const float number : numbers) {
    if (std::isfinite(number)) most = std::max(most, std::abs(static_cast<double>(number)));
  }
  return most;
}

bool is_same_tile(std::span<const float> a, std::span<const float> b) {
  const double scale = std::max(largest(a), largest(b));
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](float x, float y) { return is_same(x, y, scale); });
}

/// The runs of both programs on a few cases, the failing one first.
struct ComparedRuns {
  std::vector<ValueRun> mine, solution;
};

class ValueSearch {
 public:
  ValueSearch(const FailedAttempt& failed, const Case& entry, ComparedRuns runs)
      : failed_(failed),
        entry_(entry),
        runs_(std::move(runs)),
        mine_(runs_.mine.front()),
        solution_(runs_.solution.front()),
        own_(steps_by_site(mine_)),
        right_(steps_by_site(solution_)) {}

  std::optional<WrongValue> find() {
    std::vector<std::uint32_t> tried;
    std::optional<WrongValue> first;
    for (std::size_t s = 0; s < mine_.values.steps.size(); ++s) {
      const toy::StepValue& step = mine_.values.steps[s];
      if (step.is_stored || step.rows == 0 || is_known(s)) continue;
      if (!first) first = described(s, nullptr, 0);
      if (std::find(tried.begin(), tried.end(), step.site) != tried.end()) continue;
      tried.push_back(step.site);
      auto found = replaced(step.site);
      if (!found) found = replaced_before(s);
      if (!found) continue;
      found->is_first = tried.size() == 1;
      // If nothing else uses what was computed before, that may be wrong as well.
      if (!found->is_first && is_dead(first->step - 1, found->line)) return first;
      return earliest(std::move(*found));
    }
    return first;
  }

 private:
  /// Whether the values of the step's line reach DRAM only through the other line.
  bool is_dead(std::size_t from, std::uint32_t through) const {
    std::set<std::int64_t> tainted;
    const std::uint32_t site = mine_.values.steps[from].site;
    for (std::size_t s = from; s < mine_.values.steps.size(); ++s) {
      const toy::StepValue& step = mine_.values.steps[s];
      const bool reads = std::any_of(step.reads.begin(), step.reads.end(),
                                     [&](std::int64_t place) { return tainted.contains(place); });
      if (step.is_stored) {
        if (reads) return false;
      } else if ((reads || step.site == site) && mine_.line(step.site) != through) {
        tainted.insert(step.place);
      } else {
        tainted.erase(step.place);
      }
    }
    return true;
  }

  /// A step before it may have a value of the solution by chance, as x[0] in the place of 1.
  WrongValue earliest(WrongValue found) {
    while (auto before = replaced_before(found.step - 1)) {
      before->is_first = found.is_first;
      found = std::move(*before);
    }
    return found;
  }

  /// The values of a line that writes an operand of the step, at an earlier step.
  std::optional<WrongValue> replaced_before(std::size_t step) {
    for (const std::int64_t place : mine_.values.steps[step].reads) {
      const std::size_t writer = last_write(place, step);
      if (writer == SIZE_MAX || is_load(mine_.values.steps[writer])) continue;
      auto before = replaced(mine_.values.steps[writer].site);
      if (before && before->step <= step) return before;
    }
    return std::nullopt;
  }

  /// The last step before `step` that writes the register; SIZE_MAX: none.
  std::size_t last_write(std::int64_t place, std::size_t step) const {
    while (place >= 0 && step-- > 0) {
      const toy::StepValue& value = mine_.values.steps[step];
      if (!value.is_stored && value.rows > 0 && value.place == place) return step;
    }
    return SIZE_MAX;
  }

  bool is_load(const toy::StepValue& step) const {
    return toy::instruction_set()[mine_.bound.instructions[step.site].row].is_load();
  }

  /// Whether a step of the solution has this step's value in all cases. In one alone, e^0 is 1.
  bool is_known(std::size_t s) const {
    if (is_load(mine_.values.steps[s])) return true;  // what is made of a wrong cell is wrong
    for (std::size_t theirs = 0; theirs < solution_.values.steps.size(); ++theirs) {
      if (is_same_everywhere(s, theirs)) return true;
    }
    return false;
  }

  bool is_same_everywhere(std::size_t mine, std::size_t theirs) const {
    if (solution_.values.steps[theirs].is_stored) return false;
    for (std::size_t k = 0; k < runs_.mine.size(); ++k) {
      const toy::StepValues &a = runs_.mine[k].values, &b = runs_.solution[k].values;
      if (mine >= a.steps.size()) continue;  // an error before it
      const toy::StepValue &one = a.steps[mine], &other = b.steps[theirs];
      if (one.rows != other.rows || one.cols != other.cols) return false;
      if (!is_same_tile(a.of(one), b.of(other))) return false;
    }
    return true;
  }

  /// Tries the values of every line of the solution that is executed as often. Takes the one that
  /// changes least.
  std::optional<WrongValue> replaced(std::uint32_t site) {
    const std::vector<std::size_t>& own = own_.at(site);
    std::optional<WrongValue> best;
    std::size_t fewest = SIZE_MAX;
    for (const auto& [theirs, steps] : right_) {
      if (mine_.is_whole ? steps.size() != own.size() : steps.size() < own.size()) continue;
      work_ += mine_.values.steps.size();
      if (work_ > kMostWork) return best;
      const toy::Replacement replacement{site, &solution_.values, steps};
      if (!is_right_with(failed_.task, mine_.bound, entry_, replacement)) continue;
      std::size_t changed = 0, at = SIZE_MAX;
      for (std::size_t k = 0; k < own.size(); ++k) {
        if (is_equal(own[k], steps[k])) continue;
        if (++changed == 1) at = k;
      }
      if (changed == 0 || changed >= fewest || !is_right_everywhere(site, theirs)) continue;
      fewest = changed;
      best = described(own[at], &solution_.values.steps[steps[at]], theirs);
      best->solution_step = steps[at] + 1;
    }
    return best;
  }

  bool is_equal(std::size_t mine, std::size_t theirs) const {
    const toy::StepValue &a = mine_.values.steps[mine], &b = solution_.values.steps[theirs];
    return a.rows == b.rows && a.cols == b.cols &&
           is_same_tile(mine_.values.of(a), solution_.values.of(b));
  }

  /// At the failing size, at two others, if there are some, and at those where the parameters are as
  /// unequal as they may be: an index that has the range of another parameter fails there.
  bool is_right_everywhere(std::uint32_t site, std::uint32_t theirs) {
    const std::uint32_t line = mine_.line(site), solution_line = solution_.line(theirs);
    const SizedCases* const here = failed_.attempt.sized;
    if (!values_at(*here).is_right(line, solution_line)) return false;
    std::size_t others = 0;
    for (std::size_t i = failed_.sizes.size(); i-- > 0 && others < 2;) {
      const SizedCases* const sized = failed_.sizes[i].sized;
      if (sized == here) continue;
      if (!values_at(*sized).is_right(line, solution_line)) return false;
      ++others;
    }
    if (!crossed_) crossed_ = crossed_cases(failed_.task);
    return std::all_of(crossed_->begin(), crossed_->end(), [&](const SizedCases& sized) {
      return values_at(sized).is_right(line, solution_line);
    });
  }

  ValuesAt& values_at(const SizedCases& sized) {
    std::unique_ptr<ValuesAt>& values = values_at_[&sized];
    if (values == nullptr) {
      values = std::make_unique<ValuesAt>(failed_.task, failed_.program, sized);
    }
    return *values;
  }

  WrongValue described(std::size_t mine, const toy::StepValue* should_be,
                       std::uint32_t solution_site) const {
    const toy::StepValue& step = mine_.values.steps[mine];
    WrongValue wrong;
    wrong.line = mine_.line(step.site);
    wrong.step = mine + 1;
    wrong.name = mine_.bound.register_name(step.place);
    wrong.shape = {step.rows, step.cols};
    const std::span<const float> own = mine_.values.of(step);
    wrong.value = own.front();
    if (should_be == nullptr) return wrong;
    wrong.solution_line = solution_.line(solution_site);
    wrong.should_have = {should_be->rows, should_be->cols};
    if (!(wrong.shape == wrong.should_have)) return wrong;
    const std::span<const float> right = solution_.values.of(*should_be);
    const double scale = std::max(largest(own), largest(right));
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (is_same(own[i], right[i], scale)) continue;
      wrong.row = static_cast<std::int64_t>(i) / step.cols;
      wrong.col = static_cast<std::int64_t>(i) % step.cols;
      wrong.value = own[i];
      wrong.should_be = right[i];
      break;
    }
    return wrong;
  }

  const FailedAttempt& failed_;
  const Case& entry_;
  const ComparedRuns runs_;
  const ValueRun &mine_, &solution_;  // on the failing case
  const std::map<std::uint32_t, std::vector<std::size_t>> own_,
      right_;             // steps that write registers
  std::size_t work_ = 0;  // in steps of trials
  std::optional<std::vector<SizedCases>> crossed_;
  std::map<const SizedCases*, std::unique_ptr<ValuesAt>> values_at_;
};

}  // namespace

std::optional<WrongValue> find_wrong_value(const FailedAttempt& failed) {
  if (failed.attempt.machines || failed.attempt.counters.steps > kMostValueSteps) {
    return std::nullopt;
  }
  const SizedCases& sized = *failed.attempt.sized;
  auto mine = bound_alone(failed.task, failed.program, sized.size);
  auto solution = bound_alone(failed.task, failed.task.solution, sized.size);
  if (!mine || !solution) return std::nullopt;
  ComparedRuns runs;
  std::vector<std::size_t> order = plainest_first(sized.cases);
  const auto failing = failed.attempt.failure ? failed.attempt.failure->entry : order.front();
  order.insert(order.begin(), failing);
  for (const std::size_t i : order) {
    if (runs.mine.size() == kComparedCases || (i == failing && !runs.mine.empty())) continue;
    auto my_run = run_values(*mine, sized.cases[i]);
    auto right_run = run_values(*solution, sized.cases[i]);
    const bool is_compared = my_run && right_run && right_run->is_whole;
    if (i == failing && !is_compared) return std::nullopt;
    if (!is_compared) continue;
    runs.mine.push_back(std::move(*my_run));
    runs.solution.push_back(std::move(*right_run));
  }
  return ValueSearch(failed, sized.cases[failing], std::move(runs)).find();
}

bool is_right_with_values(const ProgramTask& task,
                          const std::shared_ptr<const toy::Program>& program, std::uint32_t line,
                          std::uint32_t solution_line, const SizedCases& sized) {
  return ValuesAt(task, program, sized).is_right(line, solution_line);
}

WrongTile wrong_tile(const FailedAttempt& failed) {
  if (failed.attempt.machines || !failed.attempt.failure || !failed.attempt.failure->cell)
    return {};
  if (failed.attempt.counters.steps > kMostValueSteps) return {};
  const WrongOutput& cell = *failed.attempt.failure->cell;
  const SizedCases& sized = *failed.attempt.sized;
  auto bound = bound_alone(failed.task, failed.program, sized.size);
  if (!bound) return {};
  const toy::BoundArray array = bound->arrays[cell.array];
  const auto run = run_values(std::move(*bound), sized.cases[failed.attempt.failure->entry]);
  if (!run) return {};
  // The tile's first element, and its name by tiles.
  std::int64_t rest = cell.element, first = array.offset, stride = array.size;
  std::string name = array.name;
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    stride /= array.extents[axis];
    const std::int64_t tile = rest / stride / array.tile[axis];
    rest %= stride;
    first += tile * array.tile[axis] * stride;
    name += "[" + std::to_string(tile) + "]";
  }
  for (std::size_t s = run->values.steps.size(); s-- > 0;) {
    const toy::StepValue& value = run->values.steps[s];
    if (!value.is_stored || value.place != first) continue;
    WrongTile tile;
    tile.step = s + 1;
    tile.line = run->line(value.site);
    tile.text = "it lies in tile " + name + ", which " + "step " + std::to_string(tile.step) +
                " (line " + std::to_string(tile.line) + ")" + " stores";
    return tile;
  }
  return {};
}

}  // namespace flashlab::exercises
