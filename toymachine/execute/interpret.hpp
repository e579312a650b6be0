// The interpreter, for any value type and observer. Code that uses only numbers
// includes interpreter.hpp.
//
// Visits the nest's nodes in order. Operands are slots, which hold a register number or a cell.
// When a loop starts its next iteration, a constant is added to each slot, so that an instruction
// is a single indirect call. Innermost loops on plain numbers run in strips (strip_plan.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/execute.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/execute/run_errors.hpp"
#include "toymachine/execute/strip_runner.hpp"

namespace flashlab::toy::detail {

template <class Value, class Observer>
class Interpreter {
 public:
  using Traits = ValueTraits<Value>;
  using Cell = typename Traits::Cell;

  Interpreter(const BoundProgram& program, std::span<Cell> dram, Observer& observer)
      : program_(program), dram_(dram), observer_(observer) {
    const auto count = static_cast<std::size_t>(program.num_registers);
    registers_.reserve(count + program.constants.size());
    for (std::size_t i = 0; i < count; ++i) registers_.push_back(Traits::unwritten());
    for (const double value : program.constants) registers_.push_back(Traits::constant(value));
    if constexpr (Traits::kTiles) work_.assign(program.instructions.size(), 0);
    loop_values_.assign(program.loops.size(), 0);
    last_values_.assign(program.loops.size(), 0);
    careful_.assign(program.loops.size(), false);
    increments_.resize(program.loops.size());
    direct_.resize(program.loops.size());
    block_runs_.assign(program.nodes.size(), 0);
    hot_.resize(program.instructions.size());
    for (const BoundInstruction& instruction : program.instructions) prepare(instruction);
    if constexpr (kStrips) prepare_strips();
  }

  Result<Execution> run() {
    const auto num_nodes = static_cast<std::uint32_t>(program_.nodes.size());
    std::uint32_t at = 0;
    while (at < num_nodes && !error_ && !stopped_) {
      const Node& node = program_.nodes[at];
      switch (node.kind) {
        case Node::Kind::kBlock:
          run_block(at, node);
          ++at;
          break;
        case Node::Kind::kLoopBegin:
          at = begin_loop(at, node);
          break;
        case Node::Kind::kLoopEnd:
          at = end_loop(at, node);
          break;
        case Node::Kind::kLabel:
          label(node);
          ++at;
          break;
      }
    }
    if (error_) return std::move(*error_);
    return result();
  }

 private:
  static constexpr bool kStrips = !Observer::kPerStep && std::is_floating_point_v<Value>;
  static constexpr std::int64_t kIterationsBetweenChecks = 256;  // a power of two
  static constexpr std::int64_t kTileWorkPerCheck = 32;          // units of work in 10 ns
  static constexpr std::int64_t kFewestLanes =
      16;  // for fewer, the setup of a strip costs too much

  struct Hot {
    Execute<Value> execute = nullptr;
    Slots<Value> slots;
    std::int8_t narrow_store = -1;  // operand that is a cell of bf16 or fp16, if any
  };
  struct Increment {
    std::int64_t* slot = nullptr;
    std::int64_t delta = 0;
  };
  struct Strips {
    StripRunner<Value> runner;
    std::vector<std::int64_t> cells, strides;
  };

  void prepare(const BoundInstruction& instruction) {
    Hot& hot = hot_[instruction.site];
    hot.execute = kExecute<Value>[instruction.row];
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const Affine& index = instruction.operands[i].index;
      hot.slots.at[i] = index.constant;
      const bool stores = is_memory_write(instruction.operands[i].kind);
      if (stores && is_narrow(program_.arrays[instruction.operands[i].array].element_type)) {
        hot.narrow_store = static_cast<std::int8_t>(i);
      }
      if (instruction.loop == kNoLoop) continue;
      const std::int64_t step = program_.loops[instruction.loop].step;
      const std::int64_t delta = index.coefficient(instruction.loop) * step;
      if (delta != 0) increments_[instruction.loop].push_back({&hot.slots.at[i], delta});
    }
    if constexpr (Traits::kTiles) hot.slots.prepare(program_, instruction);
    if (instruction.loop != kNoLoop) direct_[instruction.loop].push_back(instruction.site);
  }

  void prepare_strips() {
    strips_.resize(program_.loops.size());
    for (std::uint32_t i = 0; i < program_.nodes.size(); ++i) {
      if (program_.nodes[i].kind != Node::Kind::kLoopBegin) continue;
      const std::uint32_t loop = program_.nodes[i].loop;
      if (program_.loops[loop].trips.high < kFewestLanes) continue;
      auto plan = make_strip_plan(program_, i);
      if (!plan) continue;
      Strips strips{StripRunner<Value>(program_, std::move(*plan)), {}, {}};
      for (const StripInstruction& entry : strips.runner.plan().body) {
        const auto& operand =
            program_.instructions[entry.instruction].operands[entry.memory_operand];
        const bool memory = entry.is_load || entry.is_store;
        strips.strides.push_back(
            memory ? operand.index.coefficient(loop) * program_.loops[loop].step : 0);
      }
      strips.cells.resize(strips.strides.size());
      strips_[loop].emplace(std::move(strips));
    }
  }

  // Loops ---------------------------------------------------------------------------------------

  std::uint32_t begin_loop(std::uint32_t at, const Node& node) {
    const BoundLoop& loop = program_.loops[node.loop];
    const std::int64_t first = loop.lower(loop_values_.data());
    const std::int64_t end = loop.upper(loop_values_.data());
    if (!count_iteration()) return at;
    if (first >= end) return node.partner + 1;
    const std::int64_t trips = (end - first - 1) / loop.step + 1;
    loop_values_[node.loop] = first;
    last_values_[node.loop] = first + (trips - 1) * loop.step;
    enter(node.loop);
    if constexpr (kStrips) {
      if (strips_[node.loop] && trips >= kFewestLanes && !careful_[node.loop]) {
        return run_strips(at, node, trips);
      }
    }
    return at + 1;
  }

  std::uint32_t end_loop(std::uint32_t at, const Node& node) {
    std::int64_t& value = loop_values_[node.loop];
    if (value == last_values_[node.loop]) return at + 1;
    if (!count_iteration()) return at;
    value += program_.loops[node.loop].step;
    for (const Increment& increment : increments_[node.loop]) *increment.slot += increment.delta;
    return node.partner + 1;
  }

  /// An empty loop executes no step, so iterations have a budget of their own.
  bool count_iteration() {
    if ((++iterations_ & (kIterationsBetweenChecks - 1)) == 0)
      check_budget(kIterationsBetweenChecks);
    if (iterations_ <= program_.limits.max_steps) return true;
    error_ =
        steps_error(program_.limits, "the loops make more than " +
                                         std::to_string(program_.limits.max_steps) + " iterations");
    return false;
  }

  /// Sets the slots of the loop's own instructions for the current loop values, and checks
  /// whether all indices of this execution are in range. Indices are affine, so checking both
  /// ends is enough.
  void enter(std::uint32_t loop) {
    bool careful = false;
    for (const std::uint32_t site : direct_[loop]) {
      const BoundInstruction& instruction = program_.instructions[site];
      for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        const BoundOperand& operand = instruction.operands[i];
        hot_[site].slots.at[i] = operand.index(loop_values_.data());
        if (!operand.proven_in_range) careful |= !in_range_at_both_ends(loop, operand);
      }
    }
    careful_[loop] = careful;
  }

  bool in_range_at_both_ends(std::uint32_t loop, const BoundOperand& operand) {
    const std::int64_t first = loop_values_[loop];
    bool inside = in_range(operand);
    loop_values_[loop] = last_values_[loop];
    inside &= in_range(operand);
    loop_values_[loop] = first;
    return inside;
  }

  bool in_range(const BoundOperand& operand) const {
    const auto between = [](std::int64_t value, std::int64_t size) {
      return value >= 0 && value < size;
    };
    if (operand.kind == OperandKind::kOffset) return true;
    if (is_register(operand.kind)) {
      const Interval allowed = program_.allowed_registers(operand.register_name);
      const std::int64_t number = operand.index(loop_values_.data());
      return number >= allowed.low && number <= allowed.high;
    }
    const BoundArray& array = program_.arrays[operand.array];
    for (std::size_t axis = 0; axis < operand.axes.size(); ++axis) {
      if (!between(operand.axes[axis](loop_values_.data()), array.counts[axis])) return false;
    }
    return true;
  }

  std::uint32_t run_strips(std::uint32_t at, const Node& node, std::int64_t trips) {
    Strips& strips = *strips_[node.loop];
    const auto& body = strips.runner.plan().body;
    const std::uint64_t length = body.size();
    for (std::size_t i = 0; i < body.size(); ++i) {
      strips.cells[i] = hot_[body[i].instruction].slots.at[body[i].memory_operand];
    }
    const std::uint64_t allowed =
        (static_cast<std::uint64_t>(program_.limits.max_steps) - steps_) / length;
    const std::int64_t wanted =
        static_cast<std::uint64_t>(trips) > allowed ? static_cast<std::int64_t>(allowed) : trips;
    const std::int64_t done = strips.runner.run(wanted, registers_.data(), dram_.data(),
                                                strips.cells.data(), strips.strides.data());
    for (std::uint32_t inside = at + 1; inside < node.partner; ++inside) {
      block_runs_[inside] += static_cast<std::uint64_t>(done);
    }
    steps_ += static_cast<std::uint64_t>(done) * length;
    iterations_ += done;
    if (done == trips) return node.partner + 1;
    loop_values_[node.loop] += done * program_.loops[node.loop].step;
    enter(node.loop);  // the rest runs step by step, up to the failing step
    return at + 1;
  }

  // Steps ---------------------------------------------------------------------------------------

  void run_block(std::uint32_t at, const Node& node) {
    const std::uint32_t loop = program_.instructions[node.first].loop;
    const bool careful = loop != kNoLoop && careful_[loop];
    const std::uint64_t length = node.last - node.first;
    if (steps_ + length > static_cast<std::uint64_t>(program_.limits.max_steps)) {
      error_ =
          steps_error(program_.limits, "the program takes more than " +
                                           std::to_string(program_.limits.max_steps) + " steps");
      return;
    }
    for (std::uint32_t site = node.first; site < node.last; ++site) {
      if (careful && !check_ranges(site)) return;
      Hot& hot = hot_[site];
      if constexpr (Traits::kTiles) hot.slots.locate(loop_values_.data());
      Status status = hot.execute(hot.slots, registers_.data(), dram_.data());
      if constexpr (Traits::kTiles) {
        work_[site] += static_cast<std::uint64_t>(hot.slots.work);
        check_budget(1 + hot.slots.work / kTileWorkPerCheck);
      } else {
        if (hot.narrow_store >= 0 && status == Status::kOk) status = round_cell(site);
      }
      if (status != Status::kOk) [[unlikely]] {
        return fail(site, status);
      }
      ++steps_;
      if constexpr (Observer::kPerStep) {
        if (!observe(site)) return stop(at, site);
      }
    }
    ++block_runs_[at];
  }

  /// A cell of a narrow type holds only values of that type; a value that is too
  /// large becomes +inf.
  Status round_cell(std::uint32_t site) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): there is a narrow store, so it is not negative
    const auto position = static_cast<std::size_t>(hot_[site].narrow_store);
    const BoundOperand& operand = program_.instructions[site].operands[position];
    Value& cell = dram_[static_cast<std::size_t>(hot_[site].slots.at[position])];
    cell = static_cast<Value>(
        round_to(program_.arrays[operand.array].element_type, Traits::number(cell)));
    return Traits::is_legal(cell) ? Status::kOk : Status::kIllegal;
  }

  /// The registers without the constants after them.
  std::span<Value> visible_registers() {
    return std::span<Value>(registers_).first(static_cast<std::size_t>(program_.num_registers));
  }

  RunPlace place(std::uint32_t site) const {
    return {&program_, &program_.instructions[site], steps_ + 1, loop_values_.data()};
  }

  bool check_ranges(std::uint32_t site) {
    const BoundInstruction& instruction = program_.instructions[site];
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      if (instruction.operands[i].proven_in_range || in_range(instruction.operands[i])) continue;
      error_ = range_error(place(site), i);
      return false;
    }
    return true;
  }

  void fail(std::uint32_t site, Status status) {
    if constexpr (Traits::kTiles) {
      error_ = hot_[site].slots.error(status, place(site));
    } else {
      fail_on_scalars(site, status);
    }
  }

  void fail_on_scalars(std::uint32_t site, Status status) {
    const BoundInstruction& instruction = program_.instructions[site];
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const OperandKind kind = instruction.operands[i].kind;
      if (kind == OperandKind::kOffset) continue;
      const auto slot = static_cast<std::size_t>(hot_[site].slots.at[i]);
      const Value& value = is_memory(kind) ? dram_[slot] : registers_[slot];
      const bool writes = kind == OperandKind::kDestination || is_memory_write(kind);
      if (status == Status::kIllegal && writes) {
        error_ = illegal_error(place(site), Traits::number(value));
        return;
      }
      if (status != Status::kUnwritten || !is_read(kind)) continue;
      if (Traits::is_written(value)) continue;
      error_ = unwritten_error(place(site), i);
      return;
    }
  }

  bool observe(std::uint32_t site) {
    Step step;
    step.number = steps_;
    step.instruction = &program_.instructions[site];
    step.loop_values = loop_values_.data();
    step.operands = hot_[site].slots.at;
    if constexpr (Traits::kTiles) step.work = hot_[site].slots.work;
    return observer_.after(step, visible_registers(), dram_);
  }

  /// An observer ended the run inside a block; the instructions before that point count.
  void stop(std::uint32_t at, std::uint32_t site) {
    stopped_ = true;
    partial_first_ = program_.nodes[at].first;
    partial_last_ = site + 1;
  }

  void label(const Node& node) {
    if constexpr (Observer::kPerStep) {
      const BoundLabel& entry = program_.labels[node.first];
      const std::int64_t number = entry.register_index(loop_values_.data());
      const Interval allowed = program_.allowed_registers(entry.register_name);
      if (number < allowed.low || number > allowed.high) {
        error_ = Diagnostic{Severity::kError,
                            Fault::kProgram,
                            entry.name->span,
                            program_.missing_register(number, entry.register_name),
                            program_.existing_registers(entry.register_name),
                            {}};
        return;
      }
      observer_.label(entry, number, loop_values_.data(), visible_registers());
    }
  }

  Execution result() const {
    Execution execution;
    execution.steps = steps_;
    execution.stopped = stopped_;
    std::vector<Count> times(program_.instructions.size(), 0);
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      if (node.kind != Node::Kind::kBlock) continue;
      for (std::uint32_t site = node.first; site < node.last; ++site) {
        times[site] = static_cast<unsigned long>(block_runs_[i]);
      }
    }
    for (std::uint32_t site = partial_first_; site < partial_last_; ++site) times[site] += 1;
    execution.executions = scalar_executions(program_, std::move(times));
    if constexpr (Traits::kTiles) {
      for (std::size_t site = 0; site < work_.size(); ++site) {
        execution.executions.work[site] = static_cast<unsigned long>(work_[site]);
      }
    }
    return execution;
  }

  const BoundProgram& program_;
  std::span<Cell> dram_;
  Observer& observer_;
  std::vector<Value> registers_;
  std::vector<Hot> hot_;                            // by site
  std::vector<std::vector<Increment>> increments_;  // by loop
  std::vector<std::vector<std::uint32_t>> direct_;  // sites directly in a loop
  std::vector<std::int64_t> loop_values_, last_values_;
  std::vector<char> careful_;              // by loop: some index of this execution is out of range
  std::vector<std::uint64_t> block_runs_;  // by node
  std::vector<std::uint64_t> work_;        // by site, if elements are tiles
  std::vector<std::optional<Strips>> strips_;  // by loop
  std::optional<Diagnostic> error_;
  std::uint64_t steps_ = 0;
  std::int64_t iterations_ = 0;
  std::uint32_t partial_first_ = 0, partial_last_ = 0;
  bool stopped_ = false;
};

template <class Value, class Observer>
Result<Execution> interpret(const BoundProgram& program,
                            std::span<typename ValueTraits<Value>::Cell> dram, Observer& observer) {
  return Interpreter<Value, Observer>(program, dram, observer).run();
}

}  // namespace flashlab::toy::detail
