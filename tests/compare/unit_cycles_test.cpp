#include "compare/model/unit_cycles.hpp"

#include <algorithm>
#include <vector>

#include "attention_cuda/kernels/kernel_table.hpp"
#include "compare/model/prediction.hpp"
#include "compare/model/tile_time.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab::compare;
using flashlab::cuda::BlockProduct;
using flashlab::cuda::BlockWork;
using flashlab::cuda::Operand;
using flashlab::cuda::ProductInstruction;

namespace {

auto near(double value) { return Catch::Matchers::WithinAbs(value, 1e-9); }

/// A GPU whose units do round numbers of things per clock.
GpuSpec round_gpu() {
  GpuSpec gpu;
  gpu.num_sms = 10;
  gpu.boost_clock_hz = 2e9;
  gpu.tensor_boost_clock_hz = 1.6e9;
  gpu.shared_memory_per_sm_bytes = 200 << 10;
  gpu.flops_per_s = {{"bf16", 4096 * 10 * 1.6e9}};
  gpu.exps_per_clock_per_sm = 16;
  gpu.additions_per_clock_per_sm = 128;
  gpu.shared_bytes_per_clock_per_sm = 128;
  gpu.instructions_per_clock_per_sm = 4;
  gpu.mma_share = 0.5;
  gpu.latency = {30, 40, 200, 20, 10, 50, 300, 400, 5};
  return gpu;
}

constexpr ElementFacts kBf16 = {2, 1, 2048};

/// One product [64, 64] of depth 32 by four warps of 16 rows, without scores.
BlockWork one_product(Operand a, Operand b) {
  BlockWork work;
  work.num_warps = 4;
  work.products = {{64, 64, 32, 16, 64, a, b}};
  return work;
}

UnitCycles cycles_of(const BlockWork& work) { return unit_cycles(work, kBf16, round_gpu()); }

}  // namespace

TEST_CASE("mma.sync takes the tensor cores' time for its FLOPs", "[compare]") {
  const UnitCycles cycles = cycles_of(one_product(Operand::kRegisters, Operand::kRegisters));
  CHECK(cycles.tensor_flops == 2 * 64 * 64 * 32);
  CHECK_THAT(cycles.tensor, near(2 * 64 * 64 * 32 / 2048.0));
}

TEST_CASE("each warp loads its own operands from shared memory", "[compare]") {
  const double none = cycles_of(one_product(Operand::kRegisters, Operand::kRegisters)).shared;
  CHECK(none == 0);
  // A: 16 x 32 numbers of 2 bytes for each of 4 warps; B: 64 x 32 for each of them.
  CHECK_THAT(cycles_of(one_product(Operand::kShared, Operand::kRegisters)).shared,
             near(4 * 16 * 32 * 2 / 128.0));
  CHECK_THAT(cycles_of(one_product(Operand::kShared, Operand::kSharedColumns)).shared,
             near((4 * 16 * 32 * 2 + 4 * 64 * 32 * 2) / 128.0));
}

TEST_CASE("a part of C at a time loads the other operand again", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kRegisters);
  work.products[0].part_columns = 16;
  CHECK_THAT(cycles_of(work).shared, near(4 * 4 * 16 * 32 * 2 / 128.0));
}

TEST_CASE("instructions: products, loads with addresses, scores", "[compare]") {
  // 4 x 8 x 2 products; ldmatrix for 4 x 2 fragments of A and 4 x 8 x 2 / 2 of B, each with an address;
  // 64 x 64 exponentials.
  const double products = 4 * 8 * 2, loads = 4 * 2 + 4 * 8 * 2 / 2, exps = 64 * 64 / 32;
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  CHECK_THAT(cycles_of(work).issue, near((products + 2 * loads + exps) / 4));
  work.score_instructions = 3;
  CHECK_THAT(cycles_of(work).issue, near((products + 2 * loads + 4 * exps) / 4));
  CHECK_THAT(cycles_of(work).exp, near(64 * 64 / 16.0));
  work.products[0].starts_at_zero = true;
  CHECK_THAT(cycles_of(work).issue, near((products + 2 * loads + 4 * exps + 64) / 4));
}

TEST_CASE("halves that take turns work on scores twice as long", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.halves_take_turns = true;
  CHECK_THAT(cycles_of(work).exp, near(2 * 64 * 64 / 16.0));
}

TEST_CASE("bytes besides operands use shared memory, copies only its slots", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.stored = {1024, 4};
  work.loaded = {2048, 16};
  CHECK_THAT(cycles_of(work).shared, near(3072 / 128.0));
  work.copied.bytes = 5120;  // 10 instructions of 512 bytes
  CHECK_THAT(cycles_of(work).shared, near(3072 / 128.0 + 10));
}

TEST_CASE("wgmma takes as long as the slower of products and operands", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kSharedColumns);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const ElementFacts fast = {2, 1, 4096};
  UnitCycles cycles = unit_cycles(work, fast, round_gpu());
  CHECK_THAT(cycles.operands, near(2 * 64 * 32 * 2 / 128.0));
  CHECK(cycles.shared == 0);
  CHECK_THAT(cycles.tensor, near(2 * 64 * 64 * 32 / 4096.0));
  work.products[0].columns = work.products[0].part_columns = 32;  // A is read for half of the FLOPs
  cycles = unit_cycles(work, fast, round_gpu());
  CHECK_THAT(cycles.tensor, near((64 + 32) * 32 * 2 / 128.0));
}

TEST_CASE("a warp waits for operands, sums, exponentials, shuffles and barriers", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  CHECK_THAT(cycles_of(work).wait, near(30 + 40 + 20));
  work.num_barriers = 2;
  work.row_shuffles = 3;
  CHECK_THAT(cycles_of(work).wait, near(30 + 40 + 20 + 2 * 50 + 3 * 10));
  work.products[0].depth_at_once = 16;
  CHECK_THAT(cycles_of(work).wait, near(2 * (30 + 40) + 20 + 2 * 50 + 3 * 10));
}

TEST_CASE("a warp waits for loads to registers where the caches have them", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double before = cycles_of(work).wait;
  work.cache_waits = 2;
  CHECK_THAT(cycles_of(work).wait - before, near(2 * 30));
  work.is_in_l2 = true;
  CHECK_THAT(cycles_of(work).wait - before, near(2 * 300));
}

TEST_CASE("shuffles that are independent are waited for together", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.row_shuffles = 12;
  const UnitCycles one_by_one = cycles_of(work);
  work.shuffles_at_once = 4;
  const UnitCycles together = cycles_of(work);
  CHECK_THAT(one_by_one.wait - together.wait, near(9 * 10));
  CHECK_THAT(together.issue, near(one_by_one.issue));
}

TEST_CASE("lanes that compute the same exponential each take their time", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const UnitCycles once = cycles_of(work);
  work.exps_per_score = 32;
  CHECK_THAT(cycles_of(work).exp, near(32 * once.exp));
  CHECK_THAT(cycles_of(work).issue - once.issue, near(31 * 64 * 64 / 32.0 / 4));
}

TEST_CASE("wgmma of numbers in two parts is three products, and their sums are added",
          "[compare]") {
  BlockWork work = one_product(Operand::kResults, Operand::kSharedColumns);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const ElementFacts whole = {2, 1, 4096}, parts = {2, 3, 4096};
  const UnitCycles one = unit_cycles(work, whole, round_gpu()),
                   three = unit_cycles(work, parts, round_gpu());
  CHECK_THAT(three.tensor, near(3 * one.tensor));
  CHECK_THAT(three.operands, near(3 * one.operands));
  // Two products more of 2 steps and 4 warps, each with two words of B's place; 5 instructions more for two of A's numbers; an addition
  // for each of C's.
  CHECK_THAT(three.issue - one.issue,
             near((2 * 2 * 4 * 3 + 5 * 64 * 32 / 32.0 / 2 + 64 * 64 / 32.0) / 4));
}

TEST_CASE("additions to global memory take L2's rate: in bulk beside, else as a unit",
          "[compare]") {
  MachineModel machine = machine_model(round_gpu());
  Step step;
  step.block_q = step.block_kv = 64;
  step.num_blocks = 10;
  step.work.product_flops = 10 * 100 * 2 * 64 * 64 * 32;  // 1000 pairs
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.added_in_bulk_bytes = 8192;
  const auto predicted = [&] {
    Prediction p;
    set_tile_time(step, work, {"bf16", "native", 32}, machine, p);
    return p;
  };
  const Prediction without = predicted();
  CHECK(without.sums_ms == 0);  // no data sheet has the rate
  machine.bulk_additions = {1e15, true};
  CHECK_THAT(predicted().units_ms, near(without.units_ms));
  machine.bulk_additions = {8e9, true};
  CHECK_THAT(predicted().sums_ms, near(1.024));
  CHECK_THAT(predicted().units_ms, near(1.024));
  work.added_in_bulk_bytes = 0;
  work.added.bytes = 8192;
  const double few = predicted().units_ms;
  machine.additions = {8e13, true};
  CHECK(predicted().units_ms > few);
  CHECK(predicted().sums_ms > 0);
}

TEST_CASE("a warpgroup waits as often as it has no product under way", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kSharedColumns);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const double once = cycles_of(work).wait;
  CHECK_THAT(once, near(200 + 20));  // and for an exponential
  work.drains = 3;
  CHECK_THAT(cycles_of(work).wait, near(once + 2 * 200));
}

TEST_CASE("one warp per scheduler adds its units up, many are bound by the slowest", "[compare]") {
  const UnitCycles cycles = {
      .tensor = 100, .shared = 50, .issue = 30, .exp = 20, .sums = 10, .wait = 40};
  CHECK_THAT(cycles_per_pair(cycles, 4, 1), near(250));
  CHECK_THAT(cycles_per_pair(cycles, 4, 1000), Catch::Matchers::WithinAbs(100, 0.1));
  const double squares = 100 * 100 + 50 * 50 + 30 * 30 + 20 * 20 + 10 * 10;
  CHECK_THAT(cycles_per_pair(cycles, 4, 2), near((250 + squares / 250) / 2));
}

TEST_CASE("a block of twice the warps shares the same work", "[compare]") {
  const UnitCycles cycles = {.tensor = 100, .shared = 50, .issue = 30, .exp = 20};
  CHECK_THAT(cycles_per_pair(cycles, 8, 1), near(cycles_per_pair(cycles, 4, 2)));
}

TEST_CASE("more blocks at once are never slower per pair", "[compare]") {
  const UnitCycles cycles = {.tensor = 90, .shared = 110, .issue = 70, .exp = 30, .wait = 55};
  double before = 1e9;
  for (int blocks = 1; blocks <= 16; ++blocks) {
    const double now = cycles_per_pair(cycles, 4, blocks);
    CHECK(now <= before);
    CHECK(now >= 110);
    before = now;
  }
}

TEST_CASE("shared memory and registers limit the blocks at once", "[compare]") {
  BlockWork work;
  work.blocks_per_sm = 3;
  Step step;
  step.shared_bytes = 50 << 10;
  CHECK(resident_blocks(work, step, round_gpu()) == 3);
  step.shared_bytes = 80 << 10;
  CHECK(resident_blocks(work, step, round_gpu()) == 2);
  step.shared_bytes = 99 << 10;  // and 1 KiB that each block takes besides
  CHECK(resident_blocks(work, step, round_gpu()) == 2);
  step.shared_bytes = 227 << 10;
  CHECK(resident_blocks(work, step, round_gpu()) == 1);
}

TEST_CASE("the clock falls with the tensor cores' work to that of the calibration", "[compare]") {
  MachineModel machine = machine_model(round_gpu());
  const auto clock = [&](double share) {
    return clock_hz(machine, "bf16", "native", ProductInstruction::kMma, share, 0.5);
  };
  CHECK_THAT(clock(0.3), near(1.6e9));  // the sheet's clock for tensor cores
  machine.products["bf16"] = {2048 * 10 * 1.5e9, true};
  CHECK_THAT(clock(1), near(1.5e9));
  CHECK_THAT(clock(0.5), near(1.75e9));
  CHECK_THAT(clock(0), near(2e9));
  machine.gpu.shared_clock_drop = 0.1;
  CHECK_THAT(clock(0.5), near(1.75e9 - 0.5 * 0.1 * 2e9));
  CHECK_THAT(clock_hz(machine, "bf16", "native", ProductInstruction::kWgmma, 0, 0.5), near(1.6e9));
  machine.gpu.shared_clock_drop = 0;
  machine.products["bf16"] = {2048 * 10 * 2.5e9, true};  // more than the highest clock allows
  CHECK_THAT(clock(1), near(2e9));
}

TEST_CASE("a block has as many tiles on the mask's edge as its side touches", "[compare]") {
  Step step;
  step.block_q = 128;
  step.block_kv = 64;
  CHECK_THAT(edge_pairs(step, false), near(2));
  CHECK_THAT(edge_pairs(step, true), near(1));
  step.block_q = 192;
  step.block_kv = 128;
  CHECK_THAT(edge_pairs(step, false), near(2));  // 0 … 191 touch two, as do 192 … 383
}

TEST_CASE("each product of a kernel multiplies its scores by head_dim", "[compare]") {
  using namespace flashlab;
  int num_described = 0;
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) {
    for (const int head_dim : {64, 128, 256}) {
      AttentionProblem problem;
      problem.batch = problem.num_heads = problem.num_kv_heads = 1;
      problem.seqlen_q = problem.seqlen_k = 1024;
      problem.head_dim = head_dim;
      problem.dtype = kernel.arithmetic.front().dtype;
      cuda::ExecutionOptions execution;
      execution.products = kernel.arithmetic.front().products;
      execution.kernel = kernel.stem;
      if (head_dim > kernel.max_head_dim) continue;
      for (const auto& launch : cuda::kernel_tiles(kernel.variant, problem, execution).launches) {
        if (!launch.block_work) continue;
        INFO(launch.name << ", head_dim " << head_dim);
        const BlockWork& work = *launch.block_work;
        const BlockProduct& first = work.products.front();
        const std::int64_t scores = first.rows * first.columns / work.score_copies;
        CHECK(first.depth >= head_dim);  // a kernel may pad it
        CHECK(32 * work.num_warps <= launch.num_threads);
        for (const BlockProduct& product : work.products) {
          const bool is_of_scores = product.depth == first.depth && product.rows == first.rows &&
                                    product.columns == first.columns;
          CHECK(product.rows * product.columns * product.depth ==
                scores * first.depth * (is_of_scores ? work.score_copies : 1));
          CHECK(product.num_parts() * product.part_rows * product.part_columns ==
                product.rows * product.columns);
        }
        ++num_described;
      }
    }
  }
  CHECK(num_described >= 30);
}

TEST_CASE("mma.sync takes its issue slots from the clocks of the tensor cores", "[compare]") {
  // 4 x 8 x 2 products of four warps: 16 clocks of the four schedulers.
  const UnitCycles cycles = cycles_of(one_product(Operand::kRegisters, Operand::kRegisters));
  CHECK_THAT(cycles.product_issue, near(4 * 8 * 2 / 4.0));
  UnitCycles without = cycles;
  without.issue -= cycles.product_issue;
  without.product_issue = 0;
  CHECK_THAT(cycles_per_pair(cycles, 4, 1), near(cycles_per_pair(without, 4, 1)));
  CHECK(
      cycles_per_pair(cycles, 4, 1) <
      cycles_per_pair(
          {.tensor = cycles.tensor, .issue = cycles.issue, .exp = cycles.exp, .wait = cycles.wait},
          4, 1));
}

TEST_CASE("a warp's instructions besides its tiles: each mbarrier, each arrival, the loop",
          "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const UnitCycles before = cycles_of(work);
  work.tile_instructions = 11;
  CHECK_THAT(cycles_of(work).issue - before.issue, near(4 * 11 / 4.0));
  work.mbarrier_waits = 3;  // 7 instructions, and the time of a load from shared memory
  CHECK_THAT(cycles_of(work).issue - before.issue, near(4 * (11 + 3 * 7) / 4.0));
  CHECK_THAT(cycles_of(work).wait - before.wait, near(3 * 30));
  work.mbarrier_arrivals = 2;
  CHECK_THAT(cycles_of(work).issue - before.issue, near(4 * (11 + 3 * 7 + 2 * 4) / 4.0));
}

TEST_CASE("wgmma takes two instructions for the place of each operand in shared memory",
          "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const double both = cycles_of(work).issue;
  work.products[0].a = Operand::kRegisters;
  CHECK_THAT(both - cycles_of(work).issue, near(2 * 4 * 2 / 4.0));  // of 2 steps and 4 warps
}

TEST_CASE("a copy takes four instructions for its places", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double before = cycles_of(work).issue;
  work.copied.bytes = 5120;  // 10 instructions of 512 bytes
  CHECK_THAT(cycles_of(work).issue - before, near(10 * (1 + 4) / 4.0));
}

TEST_CASE("start and end: places and first data once, results with all issue slots", "[compare]") {
  MachineModel machine = machine_model(round_gpu());
  machine.sm = {10 * 2e9 * 40, true};  // 40 bytes per clock and multiprocessor
  Step step;
  step.num_blocks = 20;  // two for each multiprocessor, one after the other
  step.work.product_flops = 20 * 2 * 64 * 64 * 32;  // a pair each
  step.shared_bytes = 150 << 10;
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const auto clocks = [&](bool takes_several) {
    Prediction p;
    set_tile_time(
        step, work,
        {.dtype = "bf16", .products = "native", .head_dim = 32, .takes_several = takes_several},
        machine, p);
    return p.units_ms * 1e-3 * 1.6e9;  // the clock without a calibration
  };
  const double before = clocks(false);
  work.start_instructions = 10;
  work.first_bytes = 4000;
  CHECK_THAT(clocks(false) - before, Catch::Matchers::WithinAbs(2 * (10 * 5 + 100), 1e-6));
  // With blocks that load ahead, the latency of DRAM is once less, too.
  CHECK_THAT(clocks(true) - before, Catch::Matchers::WithinAbs(10 * 5 + 100 - 400, 1e-6));
  work.start_instructions = 0;
  work.first_bytes = 0;
  work.end_instructions = 30;  // of four warps, on four schedulers
  CHECK_THAT(clocks(false) - before, Catch::Matchers::WithinAbs(2 * 30, 1e-6));
}

TEST_CASE("rows take their instructions, their part of DRAM and the start of a block",
          "[compare]") {
  MachineModel machine = machine_model(round_gpu());
  Step step;
  step.num_threads = 256;
  step.num_blocks = 10'000;  // 1000 per multiprocessor
  flashlab::cuda::RowWork work;
  work.num_numbers = 10'000 * 1024;
  work.start_instructions = 100;
  work.accesses = 2;
  work.loads_in_turn = 0;
  Prediction p;
  set_row_time(step, work, machine, p);
  // Each number is loaded or stored twice, with an address, in one loop; a loop starts with 8.
  const double issue = (1024 * (4 + 1) / 32.0 + 8 * (100 + 8)) / 4;
  CHECK_THAT(p.issue_ms, near(1e3 * issue * 1000 / 2e9));
  work.loads_in_turn = 1;
  p = {};
  p.dram_ms = p.issue_ms = 0;
  set_row_time(step, work, machine, p);
  // Of one worker a share waits in the issue slots, and so on up to eight.
  double there = 0, round = 0;
  for (int n = 1; n <= 8; ++n) {
    round = 400 + 100 * 5 + issue * (1 + there);  // DRAM, and the start, each after the one before
    there = n * issue * (1 + there) / round;
  }
  CHECK_THAT(p.units_ms, near(1e3 * round / 8 * 1000 / 2e9));
}

TEST_CASE("without a GPU's clocks, a launch is predicted from rates alone", "[compare]") {
  MachineModel machine = machine_model(round_gpu());
  Step step;
  step.num_blocks = 100;
  step.num_threads = 256;
  step.work.exps = 1'000'000;
  flashlab::cuda::LaunchTiles launch;
  launch.row_work = {100'000, 100, 2};
  CHECK(predict_launch(step, launch, machine, {"bf16", "native"}).warps > 0);
  machine.gpu.instructions_per_clock_per_sm = 0;
  const Prediction p = predict_launch(step, launch, machine, {"bf16", "native"});
  CHECK(p.warps == 0);
  CHECK(p.units_ms == p.overlap_ms);
}

TEST_CASE("between whole numbers of workers the time is linear", "[compare]") {
  const UnitCycles cycles = {.tensor = 100, .shared = 50, .wait = 40};
  const double two = cycles_per_pair(cycles, 4, 2), three = cycles_per_pair(cycles, 4, 3);
  CHECK(three < two);
  CHECK_THAT(cycles_per_pair(cycles, 4, 2.25), near(two + 0.25 * (three - two)));
}

TEST_CASE("three workers at two units, by hand", "[compare]") {
  const UnitCycles cycles = {.tensor = 2, .shared = 1};
  // One: R 3, q 2/3 and 1/3. Two: R 2 (5/3) + 4/3 = 14/3, q 10/7 and 4/7. Three: R 2 (17/7) + 11/7.
  CHECK_THAT(cycles_per_pair(cycles, 4, 3), near((34.0 / 7 + 11.0 / 7) / 3));
}
