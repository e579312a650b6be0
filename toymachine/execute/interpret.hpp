// The interpreter, for any value type and observer. Code that uses only numbers
// includes interpreter.hpp.
//
// Visits the nest's nodes in order. Operands are slots, which hold a register number or a cell.
// When a loop starts its next iteration, a constant is added to each slot, so that an instruction
// is a single indirect call. Innermost loops on plain numbers run in strips (strip_plan.hpp).
//
// A run can pause between any two instructions, be saved, and go on from a saved state (replay/).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "toymachine/bind/wrapping.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/exchange.hpp"
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

  /// `links`: of a machine among several; with them, a run also pauses where it waits for another
  /// machine.
  Interpreter(const BoundProgram& program, std::span<Cell> dram, Observer& observer,
              Links<Cell>* links = nullptr)
      : program_(program), dram_(dram), observer_(observer), links_(links) {
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
    iterations_to_strips_.assign(program.loops.size(), 0);
    block_runs_.assign(program.nodes.size(), 0);
    hot_.resize(program.instructions.size());
    for (const BoundInstruction& instruction : program.instructions) prepare(instruction);
    if constexpr (kStrips) prepare_strips();
  }

  Result<Execution> run() {
    run_to(UINT64_MAX);
    if (error_) return std::move(*error_);
    return result();
  }

  // Pausing -------------------------------------------------------------------------------------

  /// Goes on until `step` instructions were executed in all, or to an earlier stop: the end, an
  /// error, or the observer's wish.
  void run_to(std::uint64_t step) {
    pause_at_ = step;
    const auto num_nodes = static_cast<std::uint32_t>(program_.nodes.size());
    while (at_ < num_nodes && !error_ && !stopped_) {
      const Node& node = program_.nodes[at_];
      switch (node.kind) {
        case Node::Kind::kBlock:
          if (steps_ >= pause_at_) return;
          run_block(at_, node);
          break;
        case Node::Kind::kLoopBegin:
          at_ = begin_loop(at_, node);
          break;
        case Node::Kind::kLoopEnd:
          at_ = end_loop(at_, node);
          break;
        case Node::Kind::kLabel:
          label(node);
          ++at_;
          break;
      }
    }
  }

  std::uint64_t steps() const { return steps_; }
  bool stopped() const { return stopped_; }
  bool finished() const { return at_ >= program_.nodes.size(); }
  const std::optional<Diagnostic>& error() const { return error_; }
  /// The instruction that is executed next, or that failed; the number of instructions at the end.
  std::uint32_t next_site() const {
    if (at_ >= program_.nodes.size()) {
      return static_cast<std::uint32_t>(program_.instructions.size());
    }
    return std::max(program_.nodes[at_].first, next_site_);
  }
  std::span<const std::int64_t> loop_values() const { return loop_values_; }
  std::span<const Value> registers() const {
    return {registers_.data(), static_cast<std::size_t>(program_.num_registers)};
  }

  /// A paused run, without its DRAM.
  struct Saved {
    std::uint32_t at = 0, next_site = 0;
    std::uint64_t steps = 0;
    std::int64_t iterations = 0;
    std::vector<std::int64_t> loop_values, last_values;
    std::vector<std::uint64_t> block_runs, work;
    std::vector<Value> registers;
  };
  Saved save() const {
    Saved saved{at_,          next_site_,  steps_, iterations_, loop_values_,
                last_values_, block_runs_, work_,  {}};
    saved.registers.reserve(registers().size());
    for (const Value& value : registers()) saved.registers.push_back(Traits::copy(value));
    return saved;
  }
  /// The DRAM must be as it was when the run was saved, at the same address.
  void restore(const Saved& saved) {
    error_.reset();
    at_ = saved.at;
    next_site_ = saved.next_site;
    steps_ = saved.steps;
    iterations_ = saved.iterations;
    loop_values_ = saved.loop_values;
    last_values_ = saved.last_values;
    block_runs_ = saved.block_runs;
    work_ = saved.work;
    for (std::size_t i = 0; i < saved.registers.size(); ++i) {
      registers_[i] = Traits::copy(saved.registers[i]);
    }
    std::fill(iterations_to_strips_.begin(), iterations_to_strips_.end(), 1);
    const std::uint32_t site = next_site();
    if (site >= program_.instructions.size()) return;
    for (std::uint32_t loop = program_.instructions[site].loop; loop != kNoLoop;
         loop = program_.loops[loop].parent) {
      enter(loop);
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
    if (at_ < program_.nodes.size()) {  // inside of a block, the instructions before that point
      for (std::uint32_t site = program_.nodes[at_].first; site < next_site_; ++site) {
        times[site] += 1;
      }
    }
    execution.executions = scalar_executions(program_, std::move(times));
    if constexpr (Traits::kTiles) {
      for (std::size_t site = 0; site < work_.size(); ++site) {
        execution.executions.work[site] = static_cast<unsigned long>(work_[site]);
      }
    }
    return execution;
  }

 private:
  static constexpr bool kStrips = !Observer::kPerStep && std::is_floating_point_v<Value>;
  static constexpr bool kWatches = requires { Observer::kWatches; };
  /// After a strip was refused, these run step by step before the next attempt.
  static constexpr std::int64_t kIterationsToStrips = 512;
  static constexpr std::int64_t kIterationsBetweenChecks = 256;  // a power of two
  static constexpr std::int64_t kTileWorkPerCheck = 32;          // units of work in 10 ns
  static constexpr std::int64_t kFewestLanes =
      16;  // for fewer, the setup of a strip costs too much

  struct Hot {
    Execute<Value> execute = nullptr;
    Slots<Value> slots;
    std::int8_t store = -1;         // operand that is a cell and written, if any
    std::int8_t narrow_store = -1;  // the same, of bf16 or fp16
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
      if (stores) hot.store = static_cast<std::int8_t>(i);
      if (stores && is_narrow(program_.arrays[instruction.operands[i].array].element_type)) {
        hot.narrow_store = static_cast<std::int8_t>(i);
      }
      if (instruction.loop == kNoLoop) continue;
      const std::int64_t step = program_.loops[instruction.loop].step;
      const std::int64_t delta = wrapped_product(index.coefficient(instruction.loop), step);
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
            memory ? wrapped_product(operand.index.coefficient(loop), program_.loops[loop].step)
                   : 0);
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
      if (in_strips(node.loop, trips)) return run_strips(at, node, trips);
    }
    return at + 1;
  }

  bool in_strips(std::uint32_t loop, std::int64_t trips) const {
    return strips_[loop] && trips >= kFewestLanes && !careful_[loop];
  }

  std::uint32_t end_loop(std::uint32_t at, const Node& node) {
    std::int64_t& value = loop_values_[node.loop];
    if (value == last_values_[node.loop]) return at + 1;
    if (!count_iteration()) return at;
    value += program_.loops[node.loop].step;
    for (const Increment& increment : increments_[node.loop]) *increment.slot += increment.delta;
    if constexpr (kStrips) {
      std::int64_t& waiting = iterations_to_strips_[node.loop];
      if (waiting > 0 && --waiting == 0) {
        const std::int64_t trips =
            (last_values_[node.loop] - value) / program_.loops[node.loop].step + 1;
        if (in_strips(node.loop, trips)) {
          return run_strips(node.partner, program_.nodes[node.partner], trips);
        }
      }
    }
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
    if (operand.kind == OperandKind::kOffset || is_machine(operand.kind)) return true;
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
    const std::uint64_t most =
        std::min(static_cast<std::uint64_t>(program_.limits.max_steps), pause_at_);
    const std::uint64_t allowed = (most - steps_) / length;
    const std::int64_t wanted =
        static_cast<std::uint64_t>(trips) > allowed ? static_cast<std::int64_t>(allowed) : trips;
    const std::int64_t done =
        strips.runner.run(wanted, registers_.data(), dram_.data(), strips.cells.data(),
                          strips.strides.data(), [&](std::size_t lanes) {
                            if constexpr (kWatches) {
                              return observer_.accepts(strips.runner, lanes, registers_.data());
                            } else {
                              return true;
                            }
                          });
    if constexpr (kWatches) {
      for (const std::uint32_t store : strips.runner.plan().stores) {
        const std::int64_t stride = strips.strides[store], distance = stride * (done - 1);
        const std::int64_t first = strips.cells[store] + std::min<std::int64_t>(distance, 0);
        if (done > 0) observer_.stores(first, std::abs(distance) + 1);
      }
    }
    for (std::uint32_t inside = at + 1; inside < node.partner; ++inside) {
      block_runs_[inside] += static_cast<std::uint64_t>(done);
    }
    steps_ += static_cast<std::uint64_t>(done) * length;
    iterations_ += done;
    if (done == trips) return node.partner + 1;
    loop_values_[node.loop] += done * program_.loops[node.loop].step;
    enter(node.loop);  // the next iterations run step by step, up to the failing step if any
    iterations_to_strips_[node.loop] = kIterationsToStrips;
    return at + 1;
  }

  // Steps ---------------------------------------------------------------------------------------

  void run_block(std::uint32_t at, const Node& node) {
    const std::uint32_t loop = program_.instructions[node.first].loop;
    const bool careful = loop != kNoLoop && careful_[loop];
    const std::uint32_t first = std::max(node.first, next_site_);
    const std::uint64_t length = node.last - first;
    if (steps_ + length > static_cast<std::uint64_t>(program_.limits.max_steps)) {
      error_ =
          steps_error(program_.limits, "the program takes more than " +
                                           std::to_string(program_.limits.max_steps) + " steps");
      return;
    }
    const std::uint32_t last = length > pause_at_ - steps_
                                   ? first + static_cast<std::uint32_t>(pause_at_ - steps_)
                                   : node.last;
    for (std::uint32_t site = first; site < last; ++site) {
      next_site_ = site;
      if constexpr (kWatches) {
        if (observer_.stops_before(site, registers_.data())) return pause();
      }
      if (careful && !check_ranges(site)) return;
      Hot& hot = hot_[site];
      if constexpr (Traits::kTiles) hot.slots.locate(loop_values_.data());
      if constexpr (kWatches) {
        if (hot.store >= 0) report_store(hot);
      }
      Status status = hot.execute(hot.slots, registers_.data(), dram_.data());
      if constexpr (Traits::kTiles) {
        work_[site] += static_cast<std::uint64_t>(hot.slots.work);
        check_budget(1 + hot.slots.work / kTileWorkPerCheck);
      } else {
        if (hot.narrow_store >= 0 && status == Status::kOk) status = round_cell(site);
      }
      if (status != Status::kOk) [[unlikely]] {
        if (status == Status::kLink) status = exchange(site);
        if (status == Status::kWaits) return pause();
        if (error_) return;
        if (status != Status::kOk) return fail(site, status);
      }
      ++steps_;
      if constexpr (Observer::kPerStep) {
        if (!observe(site)) stopped_ = true;
      }
      if constexpr (kWatches) {
        if (observer_.stops_after(site, registers_.data())) pause();
      }
      if (stopped_ || steps_ >= pause_at_) return leave_block(at, site + 1);
    }
    leave_block(at, last);
  }

  void pause() { pause_at_ = steps_; }

  /// Sends or receives a message. A wait leaves everything as it was, to be tried again.
  Status exchange(std::uint32_t site) {
    Exchange<Value> exchange{place(site), dram_.data(), links_, {}};
    const Status status = exchange(hot_[site].slots, step_at(site, steps_ + 1));
    error_ = std::move(exchange.error);
    if constexpr (Traits::kTiles) {
      if (status == Status::kOk) work_[site] += static_cast<std::uint64_t>(hot_[site].slots.work);
    }
    return status;
  }

  /// The instructions of the block before `site` were executed.
  void leave_block(std::uint32_t at, std::uint32_t site) {
    next_site_ = site;
    if (site < program_.nodes[at].last) return;
    next_site_ = 0;
    ++block_runs_[at];
    at_ = at + 1;
  }

  /// Tells the observer which cells the instruction may change.
  void report_store(const Hot& hot) {
    const std::int64_t first = hot.slots.at[static_cast<unsigned char>(hot.store)];
    std::int64_t count = 1;
    if constexpr (Traits::kTiles) {
      count = (hot.slots.cell.rows - 1) * hot.slots.stride + hot.slots.cell.cols;
    }
    observer_.stores(first, count);
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
      if (kind == OperandKind::kOffset || is_machine(kind)) continue;
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
    return observer_.after(step_at(site, steps_), visible_registers(), dram_);
  }

  Step step_at(std::uint32_t site, std::uint64_t number) const {
    Step step;
    step.number = number;
    step.instruction = &program_.instructions[site];
    step.loop_values = loop_values_.data();
    step.operands = hot_[site].slots.at;
    if constexpr (Traits::kTiles) step.work = hot_[site].slots.work;
    return step;
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

  const BoundProgram& program_;
  std::span<Cell> dram_;
  Observer& observer_;
  Links<Cell>* links_;
  std::vector<Value> registers_;
  std::vector<Hot> hot_;                            // by site
  std::vector<std::vector<Increment>> increments_;  // by loop
  std::vector<std::vector<std::uint32_t>> direct_;  // sites directly in a loop
  std::vector<std::int64_t> loop_values_, last_values_;
  std::vector<char> careful_;              // by loop: some index of this execution is out of range
  std::vector<std::uint64_t> block_runs_;  // by node
  std::vector<std::uint64_t> work_;        // by site, if elements are tiles
  std::vector<std::optional<Strips>> strips_;       // by loop
  std::vector<std::int64_t> iterations_to_strips_;  // by loop; 0: not in strips
  std::optional<Diagnostic> error_;
  std::uint64_t steps_ = 0;
  std::int64_t iterations_ = 0;
  std::uint64_t pause_at_ = UINT64_MAX;
  std::uint32_t at_ = 0;         // node
  std::uint32_t next_site_ = 0;  // in a block that is not finished; otherwise 0
  bool stopped_ = false;
};

template <class Value, class Observer>
Result<Execution> interpret(const BoundProgram& program,
                            std::span<typename ValueTraits<Value>::Cell> dram, Observer& observer) {
  return Interpreter<Value, Observer>(program, dram, observer).run();
}

}  // namespace flashlab::toy::detail
