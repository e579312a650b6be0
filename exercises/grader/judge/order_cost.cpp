#include "exercises/grader/judge/order_cost.hpp"

#include <algorithm>
#include <map>

#include "exercises/grader/judge/dataflow.hpp"
#include "optimal/products/load_schedule.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostOrderedSteps = 200'000;

using optimal::LabelledLoad;
using optimal::LoadKind;
using optimal::LoadSchedule;
using optimal::Saving;

class Labels {
 public:
  explicit Labels(const Attempt& attempt)
      : bound_(*attempt.bound), steps_(attempt.unrolled->steps) {}

  std::vector<LoadLine> by_line(const LoadSchedule& schedule) const {
    std::map<std::uint32_t, LoadLine> lines;
    for (const LabelledLoad& load : schedule.labels) {
      LoadLine& line = lines[line_of(load.step)];
      switch (load.kind) {
        case LoadKind::kCompulsory:
          ++line.compulsory;
          break;
        case LoadKind::kForced:
          ++line.forced;
          break;
        case LoadKind::kAvoidable:
          if (line.avoidable == 0) line.why = why(load);
          ++line.avoidable;
          break;
      }
    }
    std::vector<LoadLine> all;
    for (auto& [number, line] : lines) {
      line.line = number;
      all.push_back(std::move(line));
    }
    return all;
  }

 private:
  std::uint32_t line_of(std::uint32_t step) const {
    return bound_.instructions[steps_[step].site].span.line;
  }

  std::string loaded_cell(std::uint32_t step) const {
    return bound_.cell_name(steps_[step].slots[0]);
  }

  /// "b[0][0] was in R1 until line 17 loaded b[0][1] over it".
  std::string why(const LabelledLoad& load) const {
    const std::string cell = loaded_cell(load.step);
    switch (load.saving) {
      case Saving::kNone:
        return {};
      case Saving::kThere:
        return cell + " is in " + bound_.register_name(load.register_number) + " already";
      case Saving::kUnused:
        return "nothing that is stored needs " + cell + " here";
      case Saving::kKept: {
        const bool by_load = toy::instruction_set()[steps_[load.overwritten_at].row].is_load();
        return cell + " was in " + bound_.register_name(load.register_number) + " until line " +
               std::to_string(line_of(load.overwritten_at)) +
               (by_load ? " loaded " + loaded_cell(load.overwritten_at) : " put a result") +
               " over it";
      }
    }
    return {};
  }

  const toy::BoundProgram& bound_;
  const std::vector<toy::UnrolledStep>& steps_;
};

/// The cycles of the order with its optimal loads, of copies, and of unused results.
OrderCost cost_of(const Attempt& attempt, const LoadSchedule& schedule) {
  static const toy::CostTable costs;
  std::int64_t kept = 0, copies = 0, unused = 0, a_load = 0;
  const auto& steps = attempt.unrolled->steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::int64_t cycles = costs.cycles(steps[s].row);
    if (toy::instruction_set()[steps[s].row].is_load()) {
      a_load = cycles;
    } else {
      (schedule.in_order[s] != 0 ? kept : is_copy(steps[s]) ? copies : unused) += cycles;
    }
  }
  OrderCost cost;
  cost.cycles = kept + schedule.best_loads * a_load;
  cost.loads = schedule.best_loads;
  cost.copy_cycles = copies;
  cost.unused_cycles = unused;
  return cost;
}

}  // namespace

OrderAnalysis analyse_order(const ProgramTask& task, const Attempt& attempt) {
  OrderAnalysis analysis;
  if (!attempt.unrolled) {
    analysis.unknown = "only programs on scalars are analysed";
    return analysis;
  }
  if (attempt.machines) {
    analysis.unknown = "only programs of one machine are analysed";
    return analysis;
  }
  if (attempt.unrolled->steps.size() > kMostOrderedSteps) {
    analysis.unknown =
        "the program takes more than " + std::to_string(kMostOrderedSteps) + " steps";
    return analysis;
  }
  optimal::ScheduleMachine machine;
  machine.operand_rule = task.operands;
  if (!task.registers.empty()) machine.registers = attempt.bound->num_registers;
  const LoadSchedule schedule = best_loads(*attempt.bound, *attempt.unrolled, machine);
  analysis.unknown = schedule.unknown;
  if (!analysis.unknown.empty()) return analysis;
  analysis.cost = cost_of(attempt, schedule);
  analysis.loads = Labels(attempt).by_line(schedule);
  return analysis;
}

bool is_scored(const Exercise& exercise, const Size& size) {
  if (size == exercise.program.sizes.back()) return true;
  const ProvenSize* proof = exercise.proven == nullptr ? nullptr : exercise.proven->at(size);
  return proof != nullptr && proof->verdict != ProofVerdict::kNotSearched;
}

SizeScore score_of(const Exercise& exercise, const Attempt& attempt, const OrderAnalysis& order) {
  SizeScore score;
  score.size = attempt.sized->size;
  score.cycles = attempt.counters.cycles;
  score.loads = attempt.counters.loads;
  if (order.unknown.empty()) score.order = order.cost;
  if (exercise.proven == nullptr) return score;
  if (const ProvenSize* proof = exercise.proven->at(score.size)) {
    score.proof = *proof;
    score.proof->program.clear();
  }
  return score;
}

}  // namespace flashlab::exercises
