#include "compare/model/unit_cycles.hpp"

#include <algorithm>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/compare/model/round_gpu.hpp"

using namespace flashlab::compare;
using flashlab::cuda::BlockProduct;
using flashlab::cuda::BlockWork;
using flashlab::cuda::Operand;
using flashlab::cuda::ProductInstruction;

namespace {

UnitCycles cycles_of(const BlockWork& work) { return unit_cycles(work, kBf16, round_gpu()); }

}  // namespace

TEST_CASE("mma.sync takes the tensor cores' time for its FLOPs", "[compare]") {
  const UnitCycles cycles = cycles_of(one_product(Operand::kRegisters, Operand::kRegisters));
  CHECK(cycles.tensor_flops == 2 * 64 * 64 * 32);
  CHECK_THAT(cycles.tensor, within_rounding(2 * 64 * 64 * 32 / 2048.0));
}

TEST_CASE("each warp loads its own operands from shared memory", "[compare]") {
  const double none = cycles_of(one_product(Operand::kRegisters, Operand::kRegisters)).shared;
  CHECK(none == 0);
  // A: 16 x 32 numbers of 2 bytes for each of 4 warps; B: 64 x 32 for each of them.
  CHECK_THAT(cycles_of(one_product(Operand::kShared, Operand::kRegisters)).shared,
             within_rounding(4 * 16 * 32 * 2 / 128.0));
  CHECK_THAT(cycles_of(one_product(Operand::kShared, Operand::kSharedColumns)).shared,
             within_rounding((4 * 16 * 32 * 2 + 4 * 64 * 32 * 2) / 128.0));
}

TEST_CASE("a part of C at a time loads the other operand again", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kRegisters);
  work.products[0].part_columns = 16;
  CHECK_THAT(cycles_of(work).shared, within_rounding(4 * 4 * 16 * 32 * 2 / 128.0));
}

TEST_CASE("instructions: products, loads with addresses, scores", "[compare]") {
  // 4 x 8 x 2 products; ldmatrix for 4 x 2 fragments of A and 4 x 8 x 2 / 2 of B, each with an address;
  // 64 x 64 exponentials.
  const double products = 4 * 8 * 2, loads = 4 * 2 + 4 * 8 * 2 / 2.0, exps = 64 * 64 / 32.0;
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  CHECK_THAT(cycles_of(work).issue, within_rounding((products + 2 * loads + exps) / 4));
  work.score_instructions = 3;
  CHECK_THAT(cycles_of(work).issue, within_rounding((products + 2 * loads + 4 * exps) / 4));
  CHECK_THAT(cycles_of(work).exp, within_rounding(64 * 64 / 16.0));
  work.products[0].starts_at_zero = true;
  CHECK_THAT(cycles_of(work).issue, within_rounding((products + 2 * loads + 4 * exps + 64) / 4));
}

TEST_CASE("halves that take turns wait for each other", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.score_instructions = 3;
  const UnitCycles together = cycles_of(work);
  work.halves_take_turns = true;
  const UnitCycles in_turn = cycles_of(work);
  CHECK_THAT(in_turn.exp, within_rounding(together.exp));
  CHECK_THAT(in_turn.issue, within_rounding(together.issue));
  // Exponentials on two of the four schedulers, at half of the rate; or three instructions for each score, of
  // two warps on two schedulers. A warp waits for one or the other.
  const double of_P = 64 * 64 / 8.0, of_dS = 3 * 64 * 64 / 32.0 / 2;
  CHECK_THAT(in_turn.wait - together.wait, within_rounding((of_P + of_dS) / 2));
  work.waits_of_P = 2;  // each warp waits for its own loads, and for those of the other half
  work.waits_of_dS = 5;
  CHECK_THAT(cycles_of(work).wait - in_turn.wait, within_rounding((2 + 5) * 30));
}

TEST_CASE("a load of one number for a whole warp is a slot of shared memory", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double issue = cycles_of(work).issue;
  work.loaded_alike = 10;
  CHECK_THAT(cycles_of(work).shared, within_rounding(10));
  CHECK_THAT(cycles_of(work).issue - issue, within_rounding(2 * 10 / 4.0));  // with an address
}

TEST_CASE("loads through L1 take shared memory's time, but its counter does not see them",
          "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double before = cycles_per_pair(cycles_of(work), 4, 1);
  work.loaded_through_l1 = {1280, 4};
  const UnitCycles cycles = cycles_of(work);
  CHECK(cycles.shared == 0);
  CHECK_THAT(cycles.l1, within_rounding(10));
  // Ten instructions with addresses of four schedulers, and ten slots.
  CHECK_THAT(cycles_per_pair(cycles, 4, 1) - before, within_rounding(2 * 10 / 4.0 + 10));
}

TEST_CASE("constants have a unit of their own, and are no instructions of their own", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const UnitCycles before = cycles_of(work);
  work.constant_loads = 10;
  const UnitCycles cycles = cycles_of(work);
  CHECK(cycles.shared + cycles.l1 == 0);
  CHECK_THAT(cycles.constants,
             within_rounding(10 * 6 / 4.0));                // six clocks of one of four schedulers
  CHECK_THAT(cycles.issue, within_rounding(before.issue));  // addresses count them
  CHECK_THAT(cycles_per_pair(cycles, 4, 1) - cycles_per_pair(before, 4, 1), within_rounding(15));
}

TEST_CASE("operands of threads' arithmetic share the banks of registers", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  CHECK(cycles_of(work).operand_conflicts == 0);  // mma.sync
  work.instruction = ProductInstruction::kMultiplyAdd;
  work.products[0].part_columns = 8;
  const UnitCycles cycles = cycles_of(work);
  CHECK_THAT(cycles.operand_conflicts, within_rounding(cycles.issue / 4));
  UnitCycles without = cycles;
  without.operand_conflicts = 0;
  CHECK_THAT(cycles_per_pair(cycles, 4, 1) - cycles_per_pair(without, 4, 1),
             within_rounding(cycles.issue / 4));
  CHECK_THAT(cycles_per_pair(cycles, 4, 1000),
             Catch::Matchers::WithinAbs(1.25 * cycles.issue, 0.1));  // the slowest unit
}

TEST_CASE("a warp waits for each instruction of a chain, besides its issue slot", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const UnitCycles before = cycles_of(work);
  work.chained_instructions = 7;  // of 5 clocks each, one of which is the slot
  CHECK_THAT(cycles_of(work).wait - before.wait, within_rounding(7 * 4));
  CHECK_THAT(cycles_of(work).issue, within_rounding(before.issue));
  flashlab::gpu::GpuSpec unknown = round_gpu();
  unknown.latency.instruction = 0;  // no data sheet has it
  CHECK(chain_clocks(7, unknown) == 0);
}

TEST_CASE("divisions of whole numbers take the unit of exponentials", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double before = cycles_of(work).exp;
  work.tile_specials = 3;
  CHECK_THAT(cycles_of(work).exp - before, within_rounding(3 * 4 * 32 / 16.0));
}

TEST_CASE("bytes besides operands use shared memory, copies only its slots", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.stored = {1024, 4};
  work.loaded = {2048, 16};
  CHECK_THAT(cycles_of(work).shared, within_rounding(3072 / 128.0));
  work.copied.bytes = 5120;  // 10 instructions of 512 bytes
  CHECK_THAT(cycles_of(work).shared, within_rounding(3072 / 128.0 + 10));
}

TEST_CASE("wgmma takes as long as the slower of products and operands", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kSharedColumns);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const ElementFacts fast = {2, 1, 4096};
  UnitCycles cycles = unit_cycles(work, fast, round_gpu());
  CHECK_THAT(cycles.operands, within_rounding(2 * 64 * 32 * 2 / 128.0));
  CHECK(cycles.shared == 0);
  CHECK_THAT(cycles.tensor, within_rounding(2 * 64 * 64 * 32 / 4096.0));
  work.products[0].columns = work.products[0].part_columns = 32;  // A is read for half of the FLOPs
  cycles = unit_cycles(work, fast, round_gpu());
  CHECK_THAT(cycles.tensor, within_rounding((64 + 32) * 32 * 2 / 128.0));
}

TEST_CASE("a warp waits for operands, sums, exponentials, shuffles and barriers", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  work.products[0].starts_at_zero = true;  // its sums are used next
  CHECK_THAT(cycles_of(work).wait, within_rounding(30 + 40 + 20));
  work.num_barriers = 2;
  work.row_shuffles = 3;
  CHECK_THAT(cycles_of(work).wait, within_rounding(30 + 40 + 20 + 2 * 50 + 3 * 10));
  work.products[0].depth_at_once = 16;  // the first sums end while the second operands come
  CHECK_THAT(cycles_of(work).wait, within_rounding(2 * 30 + 40 + 20 + 2 * 50 + 3 * 10));
}

TEST_CASE("sums that a warp goes on adding to are not waited for", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  CHECK_THAT(cycles_of(work).wait, within_rounding(30 + 20));
  work.products[0].starts_at_zero = true;
  work.products.push_back(work.products[0]);  // the first one's sums end during the second
  CHECK_THAT(cycles_of(work).wait, within_rounding(2 * 30 + 40 + 20));
}

TEST_CASE("sums of split products are added, and waited for, in each round", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  work.products[0].depth_at_once = 8;  // four rounds of one product of tf32, in three parts
  const ElementFacts split = {4, 3, 1024};
  CHECK_THAT(unit_cycles(work, split, round_gpu()).wait, within_rounding(4 * (30 + 40) + 20));
}

TEST_CASE("products of one sum wait for each other, unless there are others meanwhile",
          "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.products[0].part_columns = 8;  // one sum at a time, of two products in turn
  // A product takes 8 clocks of a scheduler's tensor core, and 40 until its sum is there. There are 8 parts.
  CHECK_THAT(cycles_of(work).wait, within_rounding(8 * (30 + 40 - 8) + 20));
  work.products[0].part_columns = 32;
  CHECK_THAT(cycles_of(work).wait, within_rounding(2 * (30 + 40 - 4 * 8) + 20));
  work.products[0].part_columns = 64;  // eight sums, 64 clocks
  CHECK_THAT(cycles_of(work).wait, within_rounding(30 + 20));
}

TEST_CASE("a warp waits for loads to registers where the caches have them", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double before = cycles_of(work).wait;
  work.cache_waits = 2;
  CHECK_THAT(cycles_of(work).wait - before, within_rounding(2 * 30));
  work.is_in_l2 = true;
  CHECK_THAT(cycles_of(work).wait - before, within_rounding(2 * 300));
}

TEST_CASE("shuffles that are independent are waited for together", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  work.row_shuffles = 12;
  const UnitCycles one_by_one = cycles_of(work);
  work.shuffle_waits = 3;
  const UnitCycles together = cycles_of(work);
  CHECK_THAT(one_by_one.wait - together.wait, within_rounding(9 * 10));
  CHECK_THAT(together.issue, within_rounding(one_by_one.issue));
}

TEST_CASE("lanes that compute the same exponential each take their time", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const UnitCycles once = cycles_of(work);
  work.exps_per_score = 32;
  CHECK_THAT(cycles_of(work).exp, within_rounding(32 * once.exp));
  CHECK_THAT(cycles_of(work).issue - once.issue, within_rounding(31 * 64 * 64 / 32.0 / 4));
}

TEST_CASE("wgmma of numbers in two parts is three products, and their sums are added",
          "[compare]") {
  BlockWork work = one_product(Operand::kResults, Operand::kSharedColumns);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const ElementFacts whole = {2, 1, 4096}, parts = {2, 3, 4096};
  const UnitCycles one = unit_cycles(work, whole, round_gpu()),
                   three = unit_cycles(work, parts, round_gpu());
  CHECK_THAT(three.tensor, within_rounding(3 * one.tensor));
  CHECK_THAT(three.operands, within_rounding(3 * one.operands));
  // Two products more of 2 steps and 4 warps, each with two words of B's place; 5 instructions more for two of A's numbers; an addition
  // for each of C's.
  CHECK_THAT(three.issue - one.issue,
             within_rounding((2 * 2 * 4 * 3 + 5 * 64 * 32 / 32.0 / 2 + 64 * 64 / 32.0) / 4));
}

TEST_CASE("a warpgroup waits as often as it has no product under way", "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kSharedColumns);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const double once = cycles_of(work).wait;
  CHECK_THAT(once, within_rounding(200 + 20));  // and for an exponential
  work.drains = 3;
  CHECK_THAT(cycles_of(work).wait, within_rounding(once + 2 * 200));
}

TEST_CASE("one warp per scheduler adds its units up, many are bound by the slowest", "[compare]") {
  const UnitCycles cycles = {
      .tensor = 100, .shared = 50, .issue = 30, .exp = 20, .sums = 10, .wait = 40};
  CHECK_THAT(cycles_per_pair(cycles, 4, 1), within_rounding(250));
  CHECK_THAT(cycles_per_pair(cycles, 4, 1000), Catch::Matchers::WithinAbs(100, 0.1));
  const double squares = 100 * 100 + 50 * 50 + 30 * 30 + 20 * 20 + 10 * 10;
  CHECK_THAT(cycles_per_pair(cycles, 4, 2), within_rounding((250 + squares / 250) / 2));
}

TEST_CASE("a warp alone has a quarter of what schedulers have, and all of shared memory",
          "[compare]") {
  CHECK_THAT(cycles_per_pair({.tensor = 100}, 1, 1), within_rounding(400));
  CHECK_THAT(cycles_per_pair({.issue = 100}, 2, 1), within_rounding(200));
  CHECK_THAT(cycles_per_pair({.shared = 100}, 1, 1), within_rounding(100));
  const UnitCycles cycles = {.tensor = 25, .shared = 20, .wait = 60};
  CHECK_THAT(cycles_per_pair(cycles, 1, 1), within_rounding(100 + 20 + 60));
  // Two blocks have two schedulers, and the shared memory in turns.
  CHECK_THAT(cycles_per_pair(cycles, 1, 2), within_rounding((100 + 2 * 20 + 60) / 2.));
}

TEST_CASE("a block of twice the warps shares the same work", "[compare]") {
  const UnitCycles cycles = {.tensor = 100, .shared = 50, .issue = 30, .exp = 20};
  CHECK_THAT(cycles_per_pair(cycles, 8, 1), within_rounding(cycles_per_pair(cycles, 4, 2)));
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

TEST_CASE("mma.sync takes its issue slots from the clocks of the tensor cores", "[compare]") {
  // 4 x 8 x 2 products of four warps: 16 clocks of the four schedulers.
  const UnitCycles cycles = cycles_of(one_product(Operand::kRegisters, Operand::kRegisters));
  CHECK_THAT(cycles.product_issue, within_rounding(4 * 8 * 2 / 4.0));
  UnitCycles without = cycles;
  without.issue -= cycles.product_issue;
  without.product_issue = 0;
  CHECK_THAT(cycles_per_pair(cycles, 4, 1), within_rounding(cycles_per_pair(without, 4, 1)));
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
  CHECK_THAT(cycles_of(work).issue - before.issue, within_rounding(4 * 11 / 4.0));
  work.mbarrier_waits = 3;  // 7 instructions, and the time of a load from shared memory
  CHECK_THAT(cycles_of(work).issue - before.issue, within_rounding(4 * (11 + 3 * 7) / 4.0));
  CHECK_THAT(cycles_of(work).wait - before.wait, within_rounding(3 * 30));
  work.mbarrier_arrivals = 2;
  CHECK_THAT(cycles_of(work).issue - before.issue, within_rounding(4 * (11 + 3 * 7 + 2 * 4) / 4.0));
}

TEST_CASE("wgmma takes two instructions for the place of each operand in shared memory",
          "[compare]") {
  BlockWork work = one_product(Operand::kShared, Operand::kShared);
  work.instruction = ProductInstruction::kWgmma;
  work.products[0].part_rows = 64;
  const double both = cycles_of(work).issue;
  work.products[0].a = Operand::kRegisters;
  CHECK_THAT(both - cycles_of(work).issue,
             within_rounding(2 * 4 * 2 / 4.0));  // of 2 steps and 4 warps
}

TEST_CASE("a copy takes four instructions for its places", "[compare]") {
  BlockWork work = one_product(Operand::kRegisters, Operand::kRegisters);
  const double before = cycles_of(work).issue;
  work.copied.bytes = 5120;  // 10 instructions of 512 bytes
  CHECK_THAT(cycles_of(work).issue - before, within_rounding(10 * (1 + 4) / 4.0));
}

TEST_CASE("between whole numbers of workers the time is linear", "[compare]") {
  const UnitCycles cycles = {.tensor = 100, .shared = 50, .wait = 40};
  const double two = cycles_per_pair(cycles, 4, 2), three = cycles_per_pair(cycles, 4, 3);
  CHECK(three < two);
  CHECK_THAT(cycles_per_pair(cycles, 4, 2.25), within_rounding(two + 0.25 * (three - two)));
}

TEST_CASE("three workers at two units, by hand", "[compare]") {
  const UnitCycles cycles = {.tensor = 2, .shared = 1};
  // One: R 3, q 2/3 and 1/3. Two: R 2 (5/3) + 4/3 = 14/3, q 10/7 and 4/7. Three: R 2 (17/7) + 11/7.
  CHECK_THAT(cycles_per_pair(cycles, 4, 3), within_rounding((34.0 / 7 + 11.0 / 7) / 3));
}
