#include "compare/model/tile_time.hpp"

#include <algorithm>
#include <vector>

#include "attention_cuda/kernels/kernel_table.hpp"
#include "compare/model/prediction.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/model/round_gpu.hpp"

using namespace flashlab::compare;
using flashlab::cuda::BlockProduct;
using flashlab::cuda::BlockWork;
using flashlab::cuda::Operand;
using flashlab::cuda::ProductInstruction;

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
  CHECK_THAT(predicted().units_ms, within_rounding(without.units_ms));
  machine.bulk_additions = {8e9, true};
  CHECK_THAT(predicted().sums_ms, within_rounding(1.024));
  CHECK_THAT(predicted().units_ms, within_rounding(1.024));
  work.added_in_bulk_bytes = 0;
  work.added.bytes = 8192;
  const double few = predicted().units_ms;
  machine.additions = {8e13, true};
  CHECK(predicted().units_ms > few);
  CHECK(predicted().sums_ms > 0);
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
  CHECK_THAT(clock(0.3), within_rounding(1.6e9));  // the sheet's clock for tensor cores
  machine.products["bf16"] = {2048 * 10 * 1.5e9, true};
  CHECK_THAT(clock(1), within_rounding(1.5e9));
  CHECK_THAT(clock(0.5), within_rounding(1.75e9));
  CHECK_THAT(clock(0), within_rounding(2e9));
  machine.gpu.shared_clock_drop = 0.1;
  CHECK_THAT(clock(0.5), within_rounding(1.75e9 - 0.5 * 0.1 * 2e9));
  CHECK_THAT(clock_hz(machine, "bf16", "native", ProductInstruction::kWgmma, 0, 0.5),
             within_rounding(1.6e9));
  machine.gpu.shared_clock_drop = 0;
  machine.products["bf16"] = {2048 * 10 * 2.5e9, true};  // more than the highest clock allows
  CHECK_THAT(clock(1), within_rounding(2e9));
}

TEST_CASE("a block has as many tiles on the mask's edge as its side touches", "[compare]") {
  Step step;
  step.block_q = 128;
  step.block_kv = 64;
  CHECK_THAT(edge_pairs(step, false), within_rounding(2));
  CHECK_THAT(edge_pairs(step, true), within_rounding(1));
  step.block_q = 192;
  step.block_kv = 128;
  CHECK_THAT(edge_pairs(step, false), within_rounding(2));  // 0 … 191 touch two, as do 192 … 383
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
          const std::int64_t multiplied = product.rows * product.columns * product.depth,
                             wanted = scores * first.depth * (is_of_scores ? work.score_copies : 1);
          CHECK(multiplied >= wanted);  // three panels in two halves
          if (first.depth == head_dim) CHECK(multiplied == wanted);
          CHECK(product.num_parts() * product.part_rows * product.part_columns ==
                product.rows * product.columns);
        }
        ++num_described;
      }
    }
  }
  CHECK(num_described >= 30);
}

TEST_CASE("tiles on the mask's edge may wait, and tiles that nothing runs beside", "[compare]") {
  MachineModel machine = machine_model(round_gpu());
  machine.sm = {10 * 2e9 * 40, true};  // 40 bytes per clock and multiprocessor
  Step step;
  step.block_q = step.block_kv = 64;
  step.num_blocks = 10;
  step.shared_bytes = 150 << 10;
  step.work.product_flops = 10 * 4 * 2 * 64 * 64 * 32;  // four pairs each, one of them on the edge
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.edge_instructions = 0;
  const auto clocks = [&] {
    Prediction p;
    set_tile_time(step, work,
                  {.dtype = "bf16", .products = "native", .head_dim = 32, .is_causal = true},
                  machine, p);
    return p.units_ms * 1e-3 * 1.6e9;
  };
  const double before = clocks();
  work.edge_waits = 5;
  CHECK_THAT(clocks() - before, Catch::Matchers::WithinAbs(5 * 30, 1e-6));
  work.edge_waits = 0;
  work.edge_chained_instructions = 6;  // of 5 clocks, one of which is its slot
  CHECK_THAT(clocks() - before, Catch::Matchers::WithinAbs(6 * 4, 1e-6));
  work.edge_chained_instructions = 0;
  work.awaited_bytes = 4000;  // from L2, in each pair
  CHECK_THAT(clocks() - before, Catch::Matchers::WithinAbs(4 * (300 + 100), 1e-6));
}

TEST_CASE("tiles that reach beyond the sequences take as long as whole ones", "[compare]") {
  const MachineModel machine = machine_model(round_gpu());
  const BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const auto predicted = [&](std::int64_t n) {
    Step step;
    step.block_q = step.block_kv = 64;
    step.num_blocks = 10 * ((n + 63) / 64);  // of ten heads
    step.work.product_flops = 10 * n * n * 2 * 32;
    Prediction p;
    set_tile_time(
        step, work,
        {.dtype = "bf16", .products = "native", .head_dim = 32, .seqlen_q = n, .seqlen_k = n},
        machine, p);
    return p.units_ms;
  };
  CHECK_THAT(predicted(100), within_rounding(predicted(128)));
  CHECK(predicted(129) > 1.2 * predicted(128));
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

TEST_CASE("a launch of very many blocks takes no more memory, and as long per block", "[compare]") {
  const MachineModel machine = machine_model(round_gpu());
  const BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const auto clocks = [&](std::int64_t heads, bool is_causal) {
    Step step;
    step.block_q = step.block_kv = 64;
    step.num_blocks = heads * 16;  // of 1024 queries
    step.work.product_flops = step.num_blocks * 8 * 2 * 64 * 64 * 32;
    Prediction p;
    set_tile_time(step, work,
                  {.dtype = "bf16",
                   .products = "native",
                   .head_dim = 32,
                   .is_causal = is_causal,
                   .seqlen_q = 1024,
                   .seqlen_k = 1024},
                  machine, p);
    return p.units_ms;
  };
  for (const bool is_causal : {false, true}) {
    const double few = clocks(10'000, is_causal), many = clocks(10'000'000, is_causal);
    CHECK_THAT(many / few, Catch::Matchers::WithinRel(1000.0, 0.01));
  }
}

namespace {

/// Rows of 1536 numbers by 256 threads, 1000 for each multiprocessor: six for each thread.
struct Rows {
  MachineModel machine = machine_model(round_gpu());
  Step step;
  flashlab::cuda::RowWork work;

  Rows() {
    step.num_threads = 256;
    step.num_blocks = 10'000;
    work.num_numbers = 10'000 * 1536;
    work.accesses = 2;
    work.loads_in_turn = 0;
  }
  Prediction predicted(double dram_ms = 0) const {
    Prediction p;
    p.dram_ms = dram_ms;
    set_row_time(step, work, machine, p);
    return p;
  }
};

/// The milliseconds of 1000 blocks, one after the other.
double ms_of_blocks(double clocks) { return 1e3 * clocks * 1000 / 2e9; }

}  // namespace

TEST_CASE("rows take their instructions, their part of DRAM and the start of a block",
          "[compare]") {
  Rows rows;
  rows.work.start_instructions = 100;
  // Each number is loaded and stored, in rounds of four that take two instructions. Of six, two are left
  // over, with ten each. A loop starts with 18.
  const double issue = (1536 * (2 + 0.5) / 32.0 + 8 * (100 + 18 + 2 * 10)) / 4;
  CHECK_THAT(rows.predicted().issue_ms, within_rounding(ms_of_blocks(issue)));
  rows.work.loads_in_turn = 1;
  // Of one worker a share waits in the issue slots, and so on up to eight.
  double there = 0, round = 0;
  for (int n = 1; n <= 8; ++n) {
    round = 400 + 100 * 5 + issue * (1 + there);  // DRAM, and the start, each after the one before
    there = n * issue * (1 + there) / round;
  }
  CHECK_THAT(rows.predicted().units_ms, within_rounding(ms_of_blocks(round / 8)));
}

TEST_CASE("registers and shared memory limit the blocks of rows", "[compare]") {
  Rows rows;
  rows.work.loads_in_turn = 1;
  const auto warps = [&] { return rows.predicted().warps; };
  CHECK(warps() == 8 * 8 / 4.0);
  const double of_eight = rows.predicted().units_ms;
  rows.work.blocks_per_sm = 3;
  CHECK(warps() == 3 * 8 / 4.0);
  CHECK(rows.predicted().units_ms > of_eight);
  rows.step.shared_bytes = 99 << 10;
  CHECK(warps() == 2 * 8 / 4.0);
}

TEST_CASE("rows divide, and find their places, on the unit of exponentials", "[compare]") {
  Rows rows;
  rows.step.work.exps = rows.step.work.divisions = rows.step.work.elementwise_flops = 10'000 * 1536;
  rows.work.start_specials = 6;
  // An exponential and the two operations of a division for each number, six for each thread, 16 per clock.
  CHECK_THAT(rows.predicted().exp_ms, within_rounding(ms_of_blocks((3 * 1536 + 6 * 256) / 16.0)));
  const double all = rows.predicted().issue_ms;
  rows.work.num_numbers /= 2;
  rows.work.computed_share = 0.5;
  CHECK_THAT(rows.predicted().exp_ms,
             within_rounding(ms_of_blocks((0.5 * 3 * 1536 + 6 * 256) / 16.0)));
  // 768 loads, stores, exponentials (8) and divisions (14) fewer; on average 1.5 numbers are left over.
  const double fewer = 768 * (2 + 0.5 + 8 + 14) / 32.0 + 8 * (2 - 1.5) * 10;
  CHECK_THAT(all - rows.predicted().issue_ms, within_rounding(ms_of_blocks(fewer / 4)));
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
