#include "cli/gpu/level_0_block.hpp"

#include <algorithm>
#include <cmath>

#include "generate/plan/operation_costs.hpp"
#include "generate/plan/steps.hpp"

namespace flashlab::cli {
namespace {

using generate::Action;
using generate::TileSize;

constexpr double kThreadsOfWarp = 32, kThreadsOfSm = 2048, kAllRegisters = 65536;

/// Clocks of an instruction, if its block is alone on a multiprocessor, and those in which it keeps others from
/// going on.
struct Clocks {
  double alone = 0, busy = 0;
  double shared = 0;  // of `busy`: by loads from shared memory
};
constexpr Clocks operator+(Clocks a, Clocks b) {
  return {a.alone + b.alone, a.busy + b.busy, a.shared + b.shared};
}
constexpr Clocks operator*(double times, Clocks a) {
  return {times * a.alone, times * a.busy, times * a.shared};
}

/// Of an instruction: its loop's beginning and the barrier at its end; and of each round, in which each thread of
/// 256 takes one number.
struct StepClocks {
  Clocks once, round;
};

// Measured: programs of one instruction in a loop, on tiles of 16 to 64 rows and columns, with one block and with four
// on each multiprocessor of an H200 (docs/results/one_instruction_h200.json, generate/bench/one_instruction.py).
constexpr StepClocks kAlike{{71, 35}, {75, 33}};  // MUL S, S, S
constexpr StepClocks kRepeating{{220, 120},
                                {140, 64}};  // SUB S, M, S: a column or a number is repeated
constexpr StepClocks kMasking{{86, 32}, {94, 62}};
constexpr StepClocks kStoring{{113, 40}, {90, 64}};
constexpr Clocks kMaximum{180, 60},
    kMaximumOfColumn{7.9, 2.05};  // ROWMAX; for each column, and a warp's rows
constexpr Clocks kSum{170, 65}, kSumOfColumn{4.8, 1.1};
constexpr Clocks kProduct{120, 120}, kProductRound{250, 0};  // MAC, besides what follows
constexpr double kWavefrontsOfTerm = 2.08;  // of a warp for each term of a product: two loads
/// At level 1, of a launch whose tiles are in shared memory: loads of a warp for 32 x 8 x 16 terms on tensor cores
/// (multiply_tiles() in tensor_products.cuh).
constexpr double kTensorLoads = 20, kTensorTerms = 32 * 8 * 16;
constexpr double kWarpsMeasured = 8, kUsualRegisters = 40;

class BlockOfLevel0 {
 public:
  BlockOfLevel0(const PlannedProgram& program, const generate::Launch& launch,
                const gpu::GpuSpec& gpu)
      : program_(program), launch_(launch), gpu_(gpu) {}

  compare::WholeBlock run() {
    Clocks sum;
    generate::for_each_instruction(
        program_.bound, launch_, [&](const toy::BoundInstruction& instruction) {
          const double times = program_.executions.times[instruction.site].get_d();
          if (times <= 0) return;
          const double of_block = std::max(1.0, times / static_cast<double>(launch_.blocks));
          const double work = program_.executions.work[instruction.site].get_d() / times;
          sum = sum + of_block * clocks_of(instruction, work);
        });
    const double warps = launch_.threads / kThreadsOfWarp;
    compare::WholeBlock block;
    block.busy = sum.busy;
    block.shared = sum.shared;
    block.alone = std::max(sum.alone, sum.busy);
    block.resident = static_cast<int>(std::max(
        1.0, std::min(std::floor(kThreadsOfSm / launch_.threads),
                      std::floor(kAllRegisters / (kUsualRegisters * warps * kThreadsOfWarp)))));
    return block;
  }

 private:
  /// The largest tile of an operand that is a register; otherwise {0, 0}.
  TileSize size_of(const toy::BoundOperand& operand) const {
    if (!toy::is_register(operand.kind)) return {};
    const toy::Interval allowed = program_.bound.allowed_registers(operand.register_name);
    for (const generate::RegisterPlace& place : launch_.registers) {
      if (allowed.low <= place.number && place.number <= allowed.high) return place.largest;
    }
    return {};
  }

  /// `count` numbers, each by a thread.
  Clocks of_rounds(const StepClocks& step, double count) const {
    const double rounds = std::ceil(count / launch_.threads),
                 warps = launch_.threads / kThreadsOfWarp;
    const double warp_rounds = std::ceil(count / kThreadsOfWarp);
    return {step.once.alone + rounds * step.round.alone,
            (step.once.busy * warps + step.round.busy * warp_rounds) / kWarpsMeasured};
  }

  /// Further instructions for each of `count` numbers, of which each needs the one before.
  Clocks of_instructions(double instructions, double count) const {
    return {std::ceil(count / launch_.threads) * instructions * gpu_.latency.instruction,
            std::ceil(count / kThreadsOfWarp) * instructions / gpu_.instructions_per_clock_per_sm};
  }

  static double instructions_of(toy::Operation operation) {
    if (operation == toy::Operation::kExponential) return generate::kCostOfSeries;
    const generate::OperationCost cost = generate::cost_of(operation);
    return cost.instructions + cost.specials;
  }

  Clocks clocks_of(const toy::BoundInstruction& instruction, double work) const {
    const generate::Step step = generate::action_of(instruction);
    const toy::BoundOperand& target = instruction.operands[generate::written_operand(instruction)];
    const TileSize size = size_of(target);
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, size.rows)),
               count = std::max(1.0, static_cast<double>(size.elements()));
    if (step.action == Action::kLoad) {
      const double widening =
          toy::is_narrow(program_.type) ? generate::cost_of_widening(program_.type) : 0;
      return Clocks{gpu_.latency.l2, 0} + of_rounds(kStoring, work) +
             of_instructions(widening, work);
    }
    if (step.action == Action::kStore || step.action == Action::kUpdate) {
      const double narrowing =
          toy::is_narrow(program_.type) ? generate::cost_of_narrowing(program_.type) : 0;
      return of_rounds(kStoring, work) + of_instructions(narrowing, work);
    }
    if (step.is_product()) return product(work, count);
    if (step.reduces()) {
      const bool is_sum = step.operation == toy::Operation::kRowSum;
      const double columns = work / rows + 1, warps = std::ceil(rows / kThreadsOfWarp);
      const Clocks of_column = is_sum ? kSumOfColumn : kMaximumOfColumn;
      return (is_sum ? kSum : kMaximum) +
             Clocks{columns * of_column.alone, columns * warps * of_column.busy};
    }
    if (step.masks()) return of_rounds(kMasking, count);
    const bool repeats = std::any_of(
        instruction.operands.begin(), instruction.operands.end(), [&](const auto& operand) {
          if (!toy::is_register_read(operand.kind)) return false;
          const TileSize read = size_of(operand);
          return read.elements() > 0 && read.elements() < size.elements();
        });
    const double more = step.action == Action::kOperation ? instructions_of(step.operation) - 1 : 0;
    return of_rounds(repeats ? kRepeating : kAlike, count) + of_instructions(more, count);
  }

  /// Each thread makes one sum of `work / count` products after the other.
  Clocks product(double work, double count) const {
    const double terms = work / count;
    const double busy = program_.plan.factors
                            ? work * kTensorLoads / kTensorTerms
                            : kWavefrontsOfTerm * terms * std::ceil(count / kThreadsOfWarp);
    return kProduct + Clocks{busy, busy, busy} + std::ceil(count / launch_.threads) * kProductRound;
  }

  const PlannedProgram& program_;
  const generate::Launch& launch_;
  const gpu::GpuSpec& gpu_;
};

}  // namespace

compare::WholeBlock level_0_block(const PlannedProgram& program, const generate::Launch& launch,
                                  const gpu::GpuSpec& gpu) {
  return BlockOfLevel0(program, launch, gpu).run();
}

}  // namespace flashlab::cli
