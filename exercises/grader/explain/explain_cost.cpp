// Finds where a right program spends more than necessary.
#include <algorithm>
#include <map>
#include <utility>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/costly_bound.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/judge/dataflow.hpp"
#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::uint64_t kMostExplainedSteps = 20'000;
constexpr std::int32_t kNoCell = -1;

using Unrolled = toy::UnrolledProgram;

std::string suffice(std::int64_t count) {
  if (count == 0) return "none is needed";
  return std::to_string(count) + (count == 1 ? " suffices" : " suffice");
}

std::string times(std::int64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

/// The cell that a step loads or stores; below 0: none.
using CellOf = std::int32_t (*)(const toy::UnrolledStep&);

std::map<std::int32_t, std::int64_t> count_by_element(const toy::UnrolledProgram& program,
                                                      CellOf cell_of) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const toy::UnrolledStep& step : program.steps) {
    if (const std::int32_t element = cell_of(step); element >= 0) ++counts[element];
  }
  return counts;
}

/// What the counters that cost points count.
struct DearCounts {
  bool loads = false, stores = false, others = false;

  explicit DearCounts(const std::vector<CostLine>& costs) {
    for (const CostLine& cost : costs) {
      if (!cost.is_dear()) continue;
      const std::string& key = cost.key;
      const bool is_load = key.find("load") != std::string::npos;
      const bool is_store = key.find("store") != std::string::npos;
      const bool is_update = key.find("update") != std::string::npos;
      const bool is_traffic = key == "dram_bytes" || is_update;
      const bool is_time = !is_load && !is_store && !is_traffic;
      loads |= is_load || is_traffic || is_time;
      stores |= is_store || is_traffic || is_time;
      others |= is_time;
    }
  }
};

class CostExplanation {
 public:
  CostExplanation(const ProgramTask& task, const toy::SourceText& text, const Attempt& attempt,
                  const std::vector<CostLine>& costs)
      : dear_(costs),
        task_(task),
        text_(text),
        attempt_(attempt),
        bound_(*attempt.bound),
        unrolled_(*attempt.unrolled) {}

  std::vector<Finding> run() {
    const auto bound = bind_submission(task_, task_.solution, attempt_.sized->size);
    const auto solution =
        bound ? toy::unroll(*bound, kMostExplainedSteps) : toy::Result<Unrolled>();
    if (dear_.loads) needless_loads();
    if (solution && dear_.loads) repeated(read_element, "loaded", *bound, *solution);
    if (solution && dear_.stores) repeated(written_element, "stored", *bound, *solution);
    if (dear_.others) unused_results();
    if (solution && dear_.others) more_of_an_instruction(*solution);
    return std::move(findings_);
  }

 private:
  const toy::BoundInstruction& instruction(std::size_t step) const {
    return bound_.instructions[unrolled_.steps[step].site];
  }

  void say(std::size_t step, std::string what) {
    Finding finding;
    finding.line = instruction(step).span.line;
    finding.step = step + 1;
    finding.what = std::move(what);
    finding.inputs = to_string(attempt_.sized->size);
    append_source_line(finding, text_, finding.line);
    findings_.push_back(std::move(finding));
  }

  /// Loads of a cell that is still in a register: names the first one and the number of them.
  void needless_loads() {
    std::vector<std::int32_t> holds(static_cast<std::size_t>(unrolled_.num_registers), kNoCell);
    std::size_t first = 0;
    std::int64_t count = 0;
    std::int32_t holder = 0;
    for (std::size_t s = 0; s < unrolled_.steps.size(); ++s) {
      const toy::UnrolledStep& step = unrolled_.steps[s];
      const std::int32_t element = read_element(step), written = written_register(step);
      const auto same = element < 0 ? holds.end() : std::find(holds.begin(), holds.end(), element);
      if (same != holds.end() && ++count == 1) {
        first = s;
        holder = static_cast<std::int32_t>(same - holds.begin());
      }
      if (const std::int32_t stored = written_element(step); stored >= 0) {
        std::replace(holds.begin(), holds.end(), stored, kNoCell);
      }
      if (written < 0) continue;
      const std::int32_t copied =
          is_copy(step) ? holds[static_cast<std::size_t>(step.slots[0])] : kNoCell;
      holds[static_cast<std::size_t>(written)] = element >= 0 ? element : copied;
    }
    if (count == 0) return;
    const std::string cell = bound_.cell_name(read_element(unrolled_.steps[first]));
    say(first, "step " + std::to_string(first + 1) + " (line " +
                   std::to_string(instruction(first).span.line) + ") loads " + cell + ", which " +
                   bound_.register_name(holder) + " still holds" +
                   (count == 1 ? "" : "; " + std::to_string(count) + " loads are like that"));
  }

  /// The cell with the most loads, or stores, beyond those of the solution.
  void repeated(CellOf cell_of, const std::string& done, const toy::BoundProgram& bound,
                const Unrolled& solution) {
    std::map<std::string, std::int64_t> enough;
    const auto theirs = count_by_element(solution, cell_of);
    for (const toy::BoundArray& array : bound.arrays) {
      for (std::int64_t i = 0; i < array.size; ++i) {
        const auto found = theirs.find(static_cast<std::int32_t>(array.offset + i));
        enough[array.element_name(i)] = found == theirs.end() ? 0 : found->second;
      }
    }
    std::int64_t worst = 0, times_done = 0;
    std::int32_t element = kNoCell;
    for (const auto& [at, count] : count_by_element(unrolled_, cell_of)) {
      const std::int64_t excess = count - enough[bound_.cell_name(at)];
      if (excess <= worst) continue;
      worst = excess;
      element = at;
      times_done = count;
    }
    if (element == kNoCell) return;
    const std::string name = bound_.cell_name(element);
    say(step_at(element, cell_of),
        name + " is " + done + " " + times(times_done) + "; " + suffice(enough[name]));
  }

  /// The last load of a cell, or the first store: what follows overwrites it.
  std::size_t step_at(std::int32_t element, CellOf cell_of) const {
    std::size_t last = 0;
    for (std::size_t s = 0; s < unrolled_.steps.size(); ++s) {
      if (cell_of(unrolled_.steps[s]) != element) continue;
      if (cell_of == written_element) return s;
      last = s;
    }
    return last;
  }

  /// Results that nothing reads.
  void unused_results() {
    const Dataflow flow(unrolled_);
    for (std::size_t s = 0; s < unrolled_.steps.size(); ++s) {
      if (flow[s].used || written_register(unrolled_.steps[s]) < 0) continue;
      say(s, "nothing uses what step " + std::to_string(s + 1) + " (line " +
                 std::to_string(instruction(s).span.line) + ") puts into " +
                 bound_.register_name(written_register(unrolled_.steps[s])));
      return;
    }
  }

  /// The instruction with the most executions beyond those of the solution. Loads and stores are
  /// reported by cell instead.
  void more_of_an_instruction(const Unrolled& solution) {
    std::vector<std::int64_t> mine(toy::instruction_set().size()), theirs(mine.size());
    for (const toy::UnrolledStep& step : unrolled_.steps) ++mine[step.row];
    for (const toy::UnrolledStep& step : solution.steps) ++theirs[step.row];
    std::size_t worst = mine.size();
    for (std::size_t row = 0; row < mine.size(); ++row) {
      const toy::InstructionSpec& spec = toy::instruction_set()[row];
      if (mine[row] <= theirs[row] || spec.is_load() || spec.is_store()) continue;
      if (worst == mine.size() || mine[row] - theirs[row] > mine[worst] - theirs[worst])
        worst = row;
    }
    if (worst == mine.size()) return;
    say(excess_step(worst, mine[worst] - theirs[worst]),
        std::string(toy::instruction_set()[worst].mnemonic) + " is executed " + times(mine[worst]) +
            "; " + suffice(theirs[worst]));
  }

  /// The last step of the line that makes up the excess alone, else of the last line with this
  /// instruction.
  std::size_t excess_step(std::size_t row, std::int64_t excess) const {
    std::map<std::size_t, std::int64_t> executions;  // by site
    std::map<std::size_t, std::size_t> last;
    std::size_t step = 0;
    for (std::size_t s = 0; s < unrolled_.steps.size(); ++s) {
      if (unrolled_.steps[s].row != row) continue;
      ++executions[unrolled_.steps[s].site];
      last[unrolled_.steps[s].site] = step = s;
    }
    const auto is_excess = [&](const auto& entry) { return entry.second == excess; };
    if (std::ranges::count_if(executions, is_excess) != 1) return step;
    return last[std::ranges::find_if(executions, is_excess)->first];
  }

  const DearCounts dear_;
  const ProgramTask& task_;
  const toy::SourceText& text_;
  const Attempt& attempt_;
  const toy::BoundProgram& bound_;
  const toy::UnrolledProgram& unrolled_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> explain_cost(const ProgramTask& task, const toy::SourceText& text,
                                  const std::shared_ptr<const toy::Program>& program,
                                  const Attempt& attempt, const std::vector<CostLine>& costs) {
  if (!attempt.unrolled || attempt.unrolled->steps.size() > kMostExplainedSteps) return {};
  if (attempt.machines) return {};  // its registers have no names
  std::vector<Finding> lines = CostExplanation(task, text, attempt, costs).run();
  if (lines.empty()) return lines;
  if (auto bound = costly_bound(task, program, attempt)) {
    if (bound->is_all) lines.clear();
    lines.insert(lines.begin(), std::move(bound->finding));
  }
  return lines;
}

}  // namespace flashlab::exercises
