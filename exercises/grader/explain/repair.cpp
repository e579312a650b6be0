#include "exercises/grader/explain/repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "exercises/grader/explain/variants.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/execute/lanes.hpp"

namespace flashlab::exercises {
namespace {

/// The cost of assembling and binding a candidate again, expressed in steps.
constexpr std::uint64_t kBindingSteps = 3000;

/// Runs a program's variants at one size and checks their results.
class Trial {
 public:
  Trial(const ProgramTask& task, const toy::BoundProgram& bound, const RepairSize& size)
      : lanes_(lay_out(*size.lanes, bound)),
        variants_(
            bound,
            [&task, &size](const std::shared_ptr<const toy::Program>& edited) {
              return bind_submission(task, edited, *size.size);
            },
            most_steps(task, bound)) {}

  /// Adds the number of executed steps to `steps`.
  bool is_right(const Edit& edit, std::uint64_t& steps) {
    if (variants_.is_slow(edit)) steps += kBindingSteps;
    const toy::UnrolledProgram* variant = variants_.make(edit);
    if (variant == nullptr) return false;
    steps += variant->steps.size();
    dram_ = lanes_.dram;
    return !toy::run_lanes(*variant, dram_, registers_) && !first_wrong(lanes_, dram_);
  }

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

/// The maximum number of words, place by place, that another line shares with this one.
int likeness(const toy::SourceText& source, const std::vector<std::string>& line,
             std::uint32_t except) {
  int best = 0;
  for (std::uint32_t other = 1; other <= source.num_lines(); ++other) {
    if (other == except) continue;
    const std::vector<std::string> there = words(source.line(other));
    if (there.size() != line.size() || line.empty() || there[0] != line[0]) continue;
    int same = 0;
    for (std::size_t i = 0; i < line.size(); ++i) same += there[i] == line[i] ? 1 : 0;
    best = std::max(best, same);
  }
  return best;
}

class Search {
 public:
  Search(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
         const std::vector<RepairSize>& sizes, std::size_t failing, const RepairBudget& budget)
      : task_(task), program_(program), sizes_(sizes), failing_(failing), budget_(budget) {
    trials_.resize(sizes.size());
  }

  Repairs run() {
    const auto bound = bind_submission(task_, program_, *sizes_[failing_].size);
    if (!bound || bound->tiled) return {};
    trials_[failing_] = std::make_unique<Trial>(task_, *bound, sizes_[failing_]);
    for (Edit& edit : enumerate_edits(*program_, edit_options(task_, bound->num_registers))) {
      if (!consider(std::move(edit))) return finished();
    }
    if (!result_.repairs.empty()) return finished();  // a wrong line is likelier than a missing one
    for (Edit& edit : enumerate_insertions(*program_, task_.solution.get())) {
      if (!consider(std::move(edit))) return finished();
    }
    return finished();
  }

 private:
  /// Returns false if the budget is spent.
  bool consider(Edit edit) {
    if (result_.candidates >= budget_.max_candidates || result_.steps >= budget_.max_steps) {
      result_.complete = false;
      return false;
    }
    ++result_.candidates;
    if (trials_[failing_]->is_right(edit, result_.steps) && is_right_elsewhere(edit)) {
      result_.repairs.push_back({std::move(edit)});
    }
    return true;
  }

  bool is_right_elsewhere(const Edit& edit) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (i == failing_) continue;
      if (trials_[i] == nullptr) {
        const auto bound = bind_submission(task_, program_, *sizes_[i].size);
        if (!bound || bound->tiled) return false;
        trials_[i] = std::make_unique<Trial>(task_, *bound, sizes_[i]);
      }
      if (!trials_[i]->is_right(edit, result_.steps)) return false;
    }
    return true;
  }

  /// Chooses the line that most repairs change. Ties: the line whose repair looks most like other
  /// lines, then the later line.
  Repairs finished() {
    std::map<std::uint32_t, std::pair<std::size_t, int>> votes;  // number of repairs, best likeness
    for (const Repair& repair : result_.repairs) {
      const bool inserts = repair.edit.kind == EditKind::kInsert;
      auto& [count, likeness] = votes.try_emplace(repair.edit.line, 0, -100).first->second;
      count += inserts ? 0 : 1;  // a line that helps in many places does not show where
      likeness = std::max(likeness, inserts ? neighbours(repair.edit) : gain(repair.edit));
    }
    std::pair<std::size_t, int> most{0, -100};
    for (const auto& [line, vote] : votes) {
      if (vote >= most) {
        result_.line = line;
        most = vote;
      }
    }
    std::stable_partition(result_.repairs.begin(), result_.repairs.end(),
                          [&](const Repair& repair) { return repair.edit.line == result_.line; });
    return std::move(result_);
  }

  /// How many of the two lines beside the inserted one are also beside it in the solution.
  int neighbours(const Edit& edit) const {
    const toy::SourceText &mine = *program_->source, &model = *task_.solution->source;
    const std::uint32_t above = edit.behind ? edit.line : next_statement(mine, edit.line, -1);
    const std::uint32_t below = edit.behind ? next_statement(mine, edit.line, 1) : edit.line;
    int best = 0;
    for (std::uint32_t line = 1; line <= model.num_lines(); ++line) {
      if (words(model.line(line)) != words(edit.text)) continue;
      const auto same = [&](std::uint32_t here, int step) {
        const std::uint32_t there = next_statement(model, line, step);
        return words(model.line(there)) == words(mine.line(here)) ? 1 : 0;
      };
      best = std::max(best, same(above, -1) + same(below, 1));
    }
    return best;
  }

  /// The increase of the line's likeness to other lines of the program by the edit.
  int gain(const Edit& edit) const {
    if (!edit.instruction) return 0;
    const toy::SourceText& source = *program_->source;
    return likeness(source, words(edit.text), edit.line) -
           likeness(source, words(source.line(edit.line)), edit.line);
  }
  const ProgramTask& task_;
  const std::shared_ptr<const toy::Program>& program_;
  const std::vector<RepairSize>& sizes_;
  const std::size_t failing_;
  const RepairBudget& budget_;
  std::vector<std::unique_ptr<Trial>> trials_;  // by size; created at first use
  Repairs result_;
};

}  // namespace

EditOptions edit_options(const ProgramTask& task, std::int64_t num_registers) {
  EditOptions options;
  options.num_registers = num_registers;
  options.pinned = task.operands == toy::OperandRule::kPinned;
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    if (toy::instruction_set()[row].in(task.level)) options.rows.push_back(row);
  }
  for (const std::size_t row : task.extra_instructions) {
    if (std::find(options.rows.begin(), options.rows.end(), row) == options.rows.end()) {
      options.rows.push_back(row);
    }
  }
  return options;
}

Repairs find_repairs(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                     const std::vector<RepairSize>& sizes, std::size_t failing,
                     const RepairBudget& budget) {
  return Search(task, program, sizes, failing, budget).run();
}

}  // namespace flashlab::exercises
