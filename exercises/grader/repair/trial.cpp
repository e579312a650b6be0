#include "exercises/grader/repair/trial.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/variants.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/lanes.hpp"

namespace flashlab::exercises {
namespace {

/// The cost of assembling and binding a candidate again, expressed in steps on lanes.
constexpr std::uint64_t kBindingSteps = 3000;
/// The cost of a step on tiles.
constexpr std::uint64_t kTileSteps = 2;

/// On scalars: all inputs at once, in lanes.
class LaneTrial : public Trial {
 public:
  LaneTrial(const ProgramTask& task, const toy::BoundProgram& bound, const RepairSize& size)
      : lanes_(lay_out(*size.lanes, bound)),
        variants_(
            bound,
            [&task, &size](const std::shared_ptr<const toy::Program>& edited) {
              return bind_submission(task, edited, size.sized->size);
            },
            most_steps(task, bound)) {}

  bool is_right(const Edit& edit, std::uint64_t& steps) override {
    if (variants_.is_slow(edit)) steps += kBindingSteps;
    const toy::UnrolledProgram* variant = variants_.make(edit);
    if (variant == nullptr) return false;
    steps += variant->steps.size();
    dram_ = lanes_.dram;
    return !toy::run_lanes(*variant, dram_, registers_) && !first_wrong(lanes_, dram_);
  }

  std::size_t right_outputs(const std::vector<Edit>&, std::uint64_t&) override { return 0; }

 private:
  /// A single edit does not make a program much longer, so a few times its own steps are enough.
  static std::uint64_t most_steps(const ProgramTask& task, const toy::BoundProgram& bound) {
    const auto limit = static_cast<std::uint64_t>(task.limits.max_steps);
    const auto own = toy::unroll(bound, limit);
    return own ? std::min(limit, 4 * own->steps.size() + 100)
               : std::min<std::uint64_t>(limit, 5000);
  }

  LaneCase lanes_;
  Variants variants_;
  std::vector<toy::LaneValue> dram_, registers_;
};

/// On tiles, on several machines, or where the unchanged program does not bind: inputs one after another, each program
/// assembled and bound again. First those that the unchanged program fails on, because any harmless edit passes others.
class TileTrial : public Trial {
 public:
  TileTrial(const ProgramTask& task, std::shared_ptr<const toy::Program> program,
            const BoundSubmission* all, const RepairSize& size)
      : task_(task), program_(std::move(program)), sized_(*size.sized) {
    order_ = plainest_first(sized_.cases);
    if (all == nullptr) return;
    const auto executions =
        all->machines ? toy::count_machines(*all->machines) : toy::count_executions(all->bound);
    if (executions) own_steps_ = toy::count(all->one(), *executions, {}).steps.get_ui();
    if (toy::array_bytes_error(all->bound)) return;
    std::stable_partition(order_.begin(), order_.end(),
                          [&](std::size_t i) { return failure_in(*all, i).has_value(); });
  }

  bool is_right(const Edit& edit, std::uint64_t& steps) override {
    return right_outputs({edit}, order_.size(), steps) == task_.check.size();
  }

  /// Counts the outputs before the first that is wrong, in the order of the program's arrays.
  std::size_t right_outputs(const std::vector<Edit>& edits, std::uint64_t& steps) override {
    constexpr std::size_t kFewCases = 3;
    return right_outputs(edits, std::min(order_.size(), kFewCases), steps);
  }

 private:
  std::size_t right_outputs(const std::vector<Edit>& edits, std::size_t num_cases,
                            std::uint64_t& steps) {
    steps += kBindingSteps;
    const auto all = bind(edits);
    if (!all) return 0;
    std::size_t right = task_.check.size();
    for (std::size_t k = 0; k < num_cases; ++k) {
      steps += kTileSteps * own_steps_;
      const auto failure = failure_in(*all, order_[k]);
      if (!failure) continue;
      if (!failure->cell) return 0;
      right = std::min(right, outputs_before(all->bound, failure->cell->array));
      if (right == 0) return 0;
    }
    return right;
  }

  std::optional<Failure> failure_in(const BoundSubmission& all, std::size_t entry) const {
    return run_case(all.bound, sized_.cases[entry], task_.tolerance,
                    all.machines ? &*all.machines : nullptr);
  }

  std::optional<BoundSubmission> bind(const std::vector<Edit>& edits) const {
    std::shared_ptr<const toy::Program> edited = program_;
    for (const Edit& edit : edits) {
      auto applied = apply(*edited, edit);
      if (!applied) return std::nullopt;
      edited = std::make_shared<const toy::Program>(std::move(*applied));
    }
    auto all = bind_machines(task_, edited, sized_.size);
    if (!all || toy::array_bytes_error(all->bound)) return std::nullopt;
    return std::move(*all);
  }

  std::size_t outputs_before(const toy::BoundProgram& bound, std::size_t array) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < array; ++i) {
      const std::string& name = bound.arrays[i].name;
      count += std::find(task_.check.begin(), task_.check.end(), name) != task_.check.end() ? 1 : 0;
    }
    return count;
  }

  const ProgramTask& task_;
  const std::shared_ptr<const toy::Program> program_;
  const SizedCases& sized_;
  std::vector<std::size_t> order_;  // of the cases
  std::uint64_t own_steps_ = 0;     // of the unchanged program; an edit changes them little
};

}  // namespace

std::unique_ptr<Trial> make_trial(const ProgramTask& task,
                                  const std::shared_ptr<const toy::Program>& program,
                                  const RepairSize& size) {
  const auto all = bind_machines(task, program, size.sized->size);
  // An edited program may bind where this one names registers that it does not have.
  if (!all || all->machines || all->bound.tiled || size.lanes == nullptr)
    return std::make_unique<TileTrial>(task, program, all ? &*all : nullptr, size);
  return std::make_unique<LaneTrial>(task, all->bound, size);
}

bool is_right_at(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                 const RepairSize& size) {
  const auto all = bind_machines(task, program, size.sized->size);
  if (!all || toy::array_bytes_error(all->bound)) return false;
  if (!all->machines && !all->bound.tiled && size.lanes != nullptr) {
    const auto steps = toy::unroll(all->bound, static_cast<std::uint64_t>(task.limits.max_steps));
    if (!steps) return false;
    LaneCase lanes = lay_out(*size.lanes, all->bound);
    std::vector<toy::LaneValue> registers;
    return !toy::run_lanes(*steps, lanes.dram, registers) && !first_wrong(lanes, lanes.dram);
  }
  const std::vector<Case>& cases = size.sized->cases;
  return std::none_of(cases.begin(), cases.end(), [&](const Case& entry) {
    return run_case(all->bound, entry, task.tolerance, all->machines ? &*all->machines : nullptr)
        .has_value();
  });
}

}  // namespace flashlab::exercises
