#include "optimal/solve/along.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "optimal/problem/completion.hpp"
#include "optimal/problem/known_values.hpp"
#include "optimal/products/live_products.hpp"
#include "optimal/values/live_values.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace flashlab::optimal {
namespace {

using detail::KnownValue;
using detail::State;

constexpr std::uint64_t kMostAlongSteps = 10'000;
constexpr std::size_t kMostFormTerms = 20'000;

/// The contents of registers and DRAM after a step.
struct KnownProgress {
  std::vector<KnownValue> registers;
  std::map<std::int64_t, KnownValue> dram;  // by element; useful values that the program stored
  std::uint64_t finished = 0;               // one bit per output: whether its cell holds it
};

/// The computation's live sets, and those that are possible for a known progress.
class LiveSets {
 public:
  virtual ~LiveSets() = default;
  virtual detail::LiveSpace& space() = 0;
  /// Returns the possible live sets: one state for each choice among values that
  /// exclude one another.
  virtual std::vector<State> states(const KnownProgress& progress) = 0;
};

class ProductSets final : public LiveSets {
 public:
  ProductSets(const MatrixProduct& product, const AlongMachine& machine)
      : product_(product),
        machine_(machine),
        space_(product, {machine.registers, machine.operand_rule, machine.allow_spills,
                         product_costs(machine.costs)}) {}
  detail::LiveSpace& space() override { return space_; }

  std::vector<State> states(const KnownProgress& progress) override {
    std::vector<State> result{0};
    std::vector<std::vector<State>> sums(static_cast<std::size_t>(product_.num_outputs()));
    const auto add_sum = [&](int output, State sum) {
      auto& of_output = sums[static_cast<std::size_t>(output)];
      if (std::find(of_output.begin(), of_output.end(), sum) == of_output.end()) {
        of_output.push_back(sum);
      }
    };
    for (std::size_t i = 0; i < progress.registers.size(); ++i) {
      const KnownValue& value = progress.registers[i];
      const bool for_factor = machine_.operand_rule == toy::OperandRule::kPinned && i < 2;
      const bool can_multiply = machine_.operand_rule == toy::OperandRule::kAny || for_factor;
      if (value.input >= 0 && can_multiply) result.front() |= space_.input(value.input);
      if (value.output < 0) continue;
      add_sum(value.output, for_factor ? space_.sum_for_factor(value.output, value.terms)
                                       : space_.sum(value.output, value.terms));
    }
    for (const auto& [cell, value] : progress.dram) {
      if (value.output < 0 || !machine_.allow_spills) continue;
      add_sum(value.output, space_.sum_in_dram(value.output, value.terms));
    }
    for (int output = 0; output < product_.num_outputs(); ++output) {
      auto choices = sums[static_cast<std::size_t>(output)];
      if ((progress.finished >> output & 1) != 0) choices = {space_.finished(output)};
      if (choices.empty()) continue;
      std::vector<State> next;
      for (const State state : result) {
        for (const State choice : choices) next.push_back(state | choice);
      }
      result = std::move(next);
    }
    return result;
  }

 private:
  MatrixProduct product_;
  AlongMachine machine_;
  detail::LiveProducts space_;
};

class ValueSets final : public LiveSets {
 public:
  ValueSets(const ValueAlgebra& algebra, const AlongMachine& machine)
      : space_(algebra, {machine.registers, machine.costs, 0, {}}) {
    if (machine.allow_spills) {
      throw std::invalid_argument("only a product's partial sums are judged as spills");
    }
  }
  detail::LiveSpace& space() override { return space_; }

  std::vector<State> states(const KnownProgress& progress) override {
    std::vector<int> live;
    for (const KnownValue& held : progress.registers) {
      if (held.value >= 0) live.push_back(held.value);
    }
    return {space_.state(live, static_cast<std::uint32_t>(progress.finished))};
  }

 private:
  detail::LiveValues space_;
};

std::unique_ptr<LiveSets> live_sets(const Computation& computation, const AlongMachine& machine) {
  if (const MatrixProduct* product = computation.product()) {
    return std::make_unique<ProductSets>(*product, machine);
  }
  return std::make_unique<ValueSets>(*computation.algebra(), machine);
}

/// `what` names the array found, such as "c[2][2]"; the diagnostic adds the expected one.
toy::Diagnostic wrong_array(const std::string& what, const toy::BoundArray& expected,
                            toy::SourceSpan span) {
  std::string text = expected.role == toy::ArrayRole::kInput ? ".input " : ".output ";
  text += expected.name;
  for (const std::int64_t extent : expected.extents) text += "[" + std::to_string(extent) + "]";
  return {toy::Severity::kError, toy::Fault::kProgram, span, what, text, {}};
}

std::vector<toy::Diagnostic> check_arrays(const toy::BoundProgram& program,
                                          const toy::BoundProgram& expected) {
  std::vector<toy::Diagnostic> wrong;
  for (const toy::BoundArray& array : expected.arrays) {
    const auto same_name = [&](const toy::BoundArray& other) { return other.name == array.name; };
    const auto found = std::find_if(program.arrays.begin(), program.arrays.end(), same_name);
    if (found == program.arrays.end()) {
      wrong.push_back(wrong_array(
          "the program has no array '" + array.name + "' of this computation", array, {}));
    } else if (found->role != array.role || found->extents != array.extents) {
      wrong.push_back(wrong_array("'" + array.name + "' is not the array of this computation",
                                  array, found->span));
    }
  }
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    const auto same_name = [&](const toy::BoundArray& other) { return other.name == array.name; };
    if (std::any_of(expected.arrays.begin(), expected.arrays.end(), same_name)) continue;
    wrong.push_back({toy::Severity::kError,
                     toy::Fault::kProgram,
                     array.span,
                     "this computation has no array '" + array.name + "'",
                     "no other inputs than its own",
                     {}});
  }
  return wrong;
}

/// Follows the program's steps and records what they leave in registers and cells.
class Replay {
 public:
  Replay(const detail::KnownValues& known, const toy::BoundProgram& program)
      : known_(known), program_(program) {
    progress_.registers.resize(static_cast<std::size_t>(program.num_registers));
  }

  const KnownProgress& progress() const { return progress_; }

  /// Whether the cell holds its output.
  bool is_result(std::int64_t cell) const {
    const toy::BoundArray& array = program_.array_at(cell);
    const int output = known_.output_at(array.name, cell - array.offset);
    return output >= 0 && (progress_.finished >> output & 1) != 0;
  }

  void step(const toy::UnrolledStep& step, const toy::NormalForm& result) {
    const auto kinds = toy::instruction_set()[step.row].kinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == toy::OperandKind::kDestination) {
        progress_.registers[static_cast<std::size_t>(step.slots[i])] = known_.of(result);
      } else if (toy::is_memory_write(kinds[i])) {
        write(step.slots[i], known_.of(result));
      }
    }
  }

 private:
  void write(std::int64_t cell, const KnownValue& value) {
    progress_.dram.erase(cell);
    if (value.is_any()) progress_.dram[cell] = value;
    const toy::BoundArray& array = program_.array_at(cell);
    const int output = known_.output_at(array.name, cell - array.offset);
    if (output < 0) return;
    const std::uint64_t bit = std::uint64_t{1} << output;
    progress_.finished &= ~bit;
    if (known_.is_output(value, output)) progress_.finished |= bit;
  }

  const detail::KnownValues& known_;
  const toy::BoundProgram& program_;
  KnownProgress progress_;
};

/// Finds the remaining cost after a step, with one search for each distinct set of live states.
class Judge {
 public:
  Judge(LiveSets& sets, const SolveLimits& limits) : sets_(sets), limits_(limits) {}

  Remainder remaining(const KnownProgress& progress, std::size_t steps_left) {
    std::vector<State> states = sets_.states(progress);
    for (State& state : states) state = sets_.space().representative(state);
    std::sort(states.begin(), states.end());
    const auto [place, is_new] = known_.try_emplace(states);
    if (is_new) {
      SolveLimits share = limits_;
      share.max_seconds =
          std::max(0.0, limits_.max_seconds - clock_.seconds()) / static_cast<double>(steps_left);
      place->second = detail::cheapest_completion(sets_.space(), states, {share});
    }
    return place->second;
  }

 private:
  LiveSets& sets_;
  SolveLimits limits_;
  detail::SearchLimits clock_{limits_};
  std::map<std::vector<State>, Remainder> known_;
};

/// Computes how the step changes the total, if both totals are proved.
void compare(const Remainder& before, std::int64_t cost, AlongStep& step) {
  if (!before.is_proved || !step.remaining.is_proved) return;
  if (!before.is_possible || !step.remaining.is_possible) return;
  const std::int64_t change = cost + step.remaining.cycles - before.cycles;
  step.lost_cycles = std::max<std::int64_t>(0, change);
  step.is_outside = change < 0;
}

/// Returns an error for a load of a value that the program stored itself, on a
/// machine without spills.
std::optional<toy::Diagnostic> forbidden_load(const toy::UnrolledStep& step, const Replay& replay,
                                              const toy::BoundProgram& program) {
  const auto kinds = toy::instruction_set()[step.row].kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != toy::OperandKind::kMemorySource &&
        kinds[i] != toy::OperandKind::kMemoryUpdate) {
      continue;
    }
    const toy::BoundArray& array = program.array_at(step.slots[i]);
    if (array.role == toy::ArrayRole::kInput || replay.is_result(step.slots[i])) continue;
    return toy::Diagnostic{
        toy::Severity::kError,
        toy::Fault::kProgram,
        program.instructions[step.site].operands[i].span,
        "'" + array.name + "' is read back from DRAM, but only results may be read back",
        "loads of inputs and of results; or, for a product, --spills",
        {}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> Along::still_optimal() const {
  if (!optimum.is_proved || !optimum.is_possible) return std::nullopt;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const AlongStep& step = steps[i];
    if (step.total() == optimum.cycles && step.remaining.is_proved) continue;
    // A lower bound above the optimum also proves that the optimum is lost.
    if (step.total() && *step.total() <= optimum.cycles) return std::nullopt;
    return i;
  }
  return steps.size();
}

toy::Result<Along> judge_along(const Computation& computation, const AlongMachine& machine,
                               const toy::BoundProgram& program, const SolveLimits& limits) {
  const detail::KnownValues known(computation);
  if (auto wrong = check_arrays(program, known.program()); !wrong.empty()) return wrong;
  auto unrolled = toy::unroll(program, kMostAlongSteps);
  if (!unrolled) return unrolled.diagnostics;
  auto forms = toy::run_normal(program, *unrolled, kMostFormTerms);
  if (!forms) return forms.diagnostics;

  const auto sets = live_sets(computation, machine);
  Judge judge(*sets, limits);
  Replay replay(known, program);
  Along result;
  const std::size_t num_steps = unrolled->steps.size();
  result.optimum = judge.remaining(replay.progress(), num_steps + 1);
  Remainder before = result.optimum;
  std::int64_t cycles = 0;
  for (std::size_t i = 0; i < num_steps; ++i) {
    const toy::UnrolledStep& step = unrolled->steps[i];
    if (!machine.allow_spills) {
      if (auto wrong = forbidden_load(step, replay, program)) return *wrong;
    }
    const std::int64_t cost = machine.costs.cycles(step.row) + machine.costs.per_work(step.row);
    cycles += cost;
    replay.step(step, forms->results[i]);
    AlongStep judged{step.site, cycles, judge.remaining(replay.progress(), num_steps - i)};
    compare(before, cost, judged);
    before = judged.remaining;
    result.steps.push_back(judged);
  }
  result.is_finished = before.is_proved && before.is_possible && before.cycles == 0 &&
                       known.has_all(replay.progress().finished);
  return result;
}

}  // namespace flashlab::optimal
