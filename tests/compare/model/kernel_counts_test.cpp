// What kernels count of themselves, typed from their programs.
#include <string_view>

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/tiles.hpp"
#include "compare/model/unit_cycles.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/model/round_gpu.hpp"

using namespace flashlab;
using namespace flashlab::compare;
using cuda::BlockOrder;

namespace {

AttentionProblem one_head(std::int64_t n, std::int64_t head_dim, DataType dtype,
                          Mask mask = Mask::kNone) {
  AttentionProblem problem;
  problem.batch = problem.num_heads = problem.num_kv_heads = 1;
  problem.seqlen_q = problem.seqlen_k = n;
  problem.head_dim = head_dim;
  problem.dtype = dtype;
  problem.mask = mask;
  return problem;
}

cuda::LaunchTiles launch_of(std::string_view variant, std::string_view kernel,
                            std::string_view name, const AttentionProblem& problem,
                            cuda::Products products = cuda::Products::kNative) {
  cuda::ExecutionOptions execution;
  execution.kernel = kernel;
  execution.products = products;
  for (const cuda::LaunchTiles& launch : cuda::kernel_tiles(variant, problem, execution).launches) {
    if (launch.name == name) return launch;
  }
  FAIL("no such launch");
  return {};
}

double instructions_of_warp(const cuda::BlockWork& work, const ElementFacts& elements) {
  const gpu::GpuSpec gpu = round_gpu();
  return unit_cycles(work, elements, gpu).issue * gpu.instructions_per_clock_per_sm /
         work.num_warps;
}

constexpr ElementFacts kFp32 = {4, 1, 256};

}  // namespace

TEST_CASE("online: the instructions of a warp for one key", "[compare]") {
  const auto work =
      *launch_of("online", "online", "online", one_head(1024, 64, DataType::kFloat32)).block_work;
  // Two rows with two columns in each lane. Row addresses 7, of columns 10, loads; the dot product,
  // five shuffles with sums, and one multiply-add for each column of O.
  const double rows = 2 * 7 + 4 * (10 + 1), products = 2 + 5 * 2 + 2;
  // Two exponentials, each by the hardware's one and 7 more. The scale, the maximum, the shift (2), two
  // differences, the sum (1), the loop (3 and 2), O times the factor (2).
  const double scores = 2 * (1 + 7) + 1 + 1 + 2 + 2 + 1 + 3 + 2 + 2;
  CHECK_THAT(instructions_of_warp(work, kFp32), within_rounding(rows + products + scores));
  // Each of four warps: the rows' strides, and for two columns of K and of V a stride and an address.
  CHECK(work.constant_loads == 4 * (2 + 2 * 4));
  // Two multiply-adds, five sums, the scale, the maximum, the shift (2), a difference, expf, O (2).
  CHECK(work.chained_instructions == 2 + 5 + 1 + 1 + 2 + 1 + 6 + 2);
}

TEST_CASE("three-pass: constants and chains of a warp for one key", "[compare]") {
  const auto work =
      *launch_of("three-pass", "three_pass", "three_pass", one_head(1024, 128, DataType::kFloat32))
           .block_work;
  // K three times and V: rows, and four columns in each lane.
  CHECK(work.constant_loads == 4 * (4 + 2 * 4 * 4));
  // Three scores of four multiply-adds and five sums, with their scales; the maximum; twice a difference and expf;
  // the sum; a division of 8, and O.
  CHECK(work.chained_instructions == 3 * (4 + 5 + 1) + 1 + 2 * (1 + 6) + 1 + 8 + 1);
}

TEST_CASE("split-kv: the instructions and the waits of a warp for its keys", "[compare]") {
  const auto work =
      *launch_of("split-kv", "split_kv", "split_kv", one_head(1024, 64, DataType::kFloat32))
           .block_work;
  // Two groups of 16 lanes with four keys each, and eight rows. A lane has four columns: of K's rows and of V's one
  // load each, with an address of a row (7), three conditions (9), zeros (2) and a sum (2).
  const double rows = 2 * 4 * (7 + 9 + 2 + 2 + 2);
  // Of a row and a key: four multiply-adds, a sum over 16 lanes, four multiply-adds for O; the sum, the scale, what is
  // visible (3 and 5), the maximum, a difference, expf, the sum.
  const double of_key = 4 + 4 * 2 + 4 + 1 + 1 + 3 + 5 + 1 + 1 + (1 + 7) + 1;
  // Of a row besides: the shift (2), a difference, expf, its factor for the sum and for four columns.
  const double of_row = 2 + 1 + (1 + 7) + 1 + 4;
  CHECK_THAT(instructions_of_warp(work, kFp32), within_rounding(rows + 8 * (4 * of_key + of_row)));
  CHECK(work.score_passes == 8 * (4 + 1));
  CHECK(work.shuffle_waits == 8 * 4 * 4);
  // Of a key: the products and their sum, four sums of shuffles, the score (2), the maximum; a difference, expf, the
  // sum. Of a row: the shift, a difference, expf, the factor of the sum.
  CHECK(work.chained_instructions == 8 * (4 * (5 + 4 + 2 + 1 + 1 + 6 + 1) + 2 + 1 + 6 + 1));
}

TEST_CASE("split-kv: what a block's warps merge at its end", "[compare]") {
  const auto work =
      *launch_of("split-kv", "split_kv", "split_kv", one_head(1024, 64, DataType::kFloat32))
           .block_work;
  // Of each of eight rows: a store of four columns; of eight groups maximum and sum, then a factor and a column.
  const double of_group = 4 + 2 + 2 * (1 + 8 + 1) + 1, of_column = 4 + 1 + 8 + 1;
  CHECK(work.end_instructions == 8 * (2 + 8 * (of_group + of_column) + 7 + 2));
  const auto mma = *launch_of("split-kv", "split_kv_mma_sm80", "split_kv_mma_sm80",
                              one_head(1024, 64, DataType::kBFloat16))
                        .block_work;
  // 16 rows of 64 columns: each of four warps stores 32 numbers of a lane, two at once; a thread merges eight numbers.
  CHECK(mma.end_instructions == 2 * 16 + 8 * (4 + 4 * (3 + 6 + 1 + 1 + 2) + 7 + 2));
}

TEST_CASE("the backward pass in fp32: the instructions and the waits of a warp", "[compare]") {
  const auto work = *launch_of("bwd-onepass", "bwd_onepass_fp32", "bwd_onepass_fp32_kernel",
                               one_head(1024, 64, DataType::kFloat32))
                         .block_work;
  // 64 x 64 pairs: a thread has 8 x 8 sums of S or of dP, then of dV or of dK, then 4 x 8 of dQ, all of depth 64.
  const double products = 2 * 64 * 64 + 32 * 64;
  // Loads of 16 bytes with addresses: of each of its rows and columns, for four of the depth.
  const double operands = 2 * (2 * (8 + 8) + (4 + 8)) * 64 / 4.0;
  // A thread has 64 scores of one kind: half of an exponential, half of three instructions, and half of twice four for
  // what is visible; P is stored, then loaded, then dS is stored, with addresses.
  const double scores = 64 / 2.0 * (1 + 3 + 2 * 4) + 64 / 2.0 * 2 * 3;
  // Q and dO are copied by 16 bytes, with four instructions for where; dQ is added by 16.
  const double copies = 2 * 64 * 64 * 4 / 512.0 / 4 * (1 + 4),
               additions = 64 * 64 * 4 / 512.0 / 4 * 2;
  // Divisions of whole numbers; statistics of 64 queries by two of four warps; the places of two tensors; four rows of
  // dQ with two times four columns; the loop.
  const double rest =
      2.5 * 40 + (2 * 15 + 20) * 2 / 4.0 + 2 * 17 + 4 * (3 + 7 + 2 * (2 + 2 + 4)) + 18;
  CHECK_THAT(instructions_of_warp(work, kFp32),
             within_rounding(products + operands + scores + copies + additions + rest));
  CHECK(work.waits_of_P == 8);
  CHECK(work.waits_of_dS == 8 + 64);
  CHECK(work.chained_instructions == 2.5 * 40);
}

TEST_CASE("wgmma's backward pass: the instructions of a warp for a pair of tiles", "[compare]") {
  const auto work =
      *launch_of("bwd-twopass", "bwd_twopass_wgmma_sm90", "bwd_twopass_dKdV_wgmma_sm90",
                 one_head(1024, 64, DataType::kBFloat16))
           .block_work;
  // 128 keys of two warpgroups, 64 queries. A thread has 64 x 64 / 128 = 32 scores: an exponential and
  // three more for each, and for two of them a conversion of P and one of dS.
  const double scores = 32 * (1 + 3) + 2 * 32 / 2.0;
  // S and dP: four steps of depth 16, with two places of two words. dV and dK: four, with one place.
  const double products = 2 * 4 * (1 + 4) + 2 * 4 * (1 + 2);
  // lse and delta for 8 queries at a time, with an address; Q and dO come and go; the loop; queries that see no
  // key, hidden pairs, the next tile.
  const double rest = 2 * 8 * 2 + 2 * 7 + 2 * 4 + 18 + (9 + 9 + 6 + 20);
  CHECK_THAT(instructions_of_warp(work, kBf16), within_rounding(scores + products + rest));
}

TEST_CASE("blocks that take pairs of tiles do so up to the kernel's longest pairs", "[compare]") {
  const auto order = [](std::int64_t n, std::int64_t head_dim) {
    return launch_of("flash2", "flash2_wgmma_sm90", "flash2_wgmma_sm90",
                     one_head(n, head_dim, DataType::kBFloat16, Mask::kCausalTopLeft))
        .block_work->order;
  };
  CHECK(order(1024, 64) == BlockOrder::kPairs);
  CHECK(order(2048, 64) == BlockOrder::kLongestFirst);
  CHECK(order(2048, 256) == BlockOrder::kPairs);
  CHECK(order(4096, 256) == BlockOrder::kLongestFirst);
  CHECK(order(512, 128) == BlockOrder::kLongestFirst);
}

TEST_CASE("both blocks of a pair load the queries, and send dS to each other", "[compare]") {
  const auto moved = launch_of("bwd-onepass", "bwd_onepass_pair_sm90", "bwd_onepass_pair_sm90",
                               one_head(256, 256, DataType::kBFloat16))
                         .moved.value();
  // 4 tiles of 64 queries and 2 of 128 keys: 8 pairs. Q and dO have 64 rows of 512 bytes, lse and delta
  // 64 numbers each; dS^T is 64 x 64 of 2 bytes in each direction.
  CHECK(moved.read ==
        8 * (2 * (2 * 64 * 512 + 2 * 64 * 4) + 2 * 64 * 64 * 2) + 2 * 256 * 512 + 256 * 512 / 2);
  CHECK(moved.written == 8 * (64 * 256 * 4 + 2 * 64 * 64 * 2) + 2 * 256 * 512);
  // Under a causal mask keys 128 … 255 are not seen by queries 0 … 127.
  const auto causal = launch_of("bwd-onepass", "bwd_onepass_pair_sm90", "bwd_onepass_pair_sm90",
                                one_head(256, 256, DataType::kBFloat16, Mask::kCausalTopLeft))
                          .moved.value();
  CHECK(moved.written - causal.written == 2 * (64 * 256 * 4 + 2 * 64 * 64 * 2));
}

TEST_CASE("with split numbers, each warpgroup adds its own dQ", "[compare]") {
  const auto moved = launch_of("bwd-onepass", "bwd_onepass_fp16x3_sm90", "bwd_onepass_fp16x3_sm90",
                               one_head(256, 64, DataType::kFloat32), cuda::Products::kFloat16x3)
                         .moved.value();
  // 8 pairs. Rows of 64 numbers in two parts are 256 bytes. Five statistics of each query, four of a tile.
  CHECK(moved.read == 8 * (2 * 64 * 256 + 4 * (5 * 64 + 4)) + 2 * 256 * 256);
  // Two sums of 64 x 64 floats for each; dK and dV by two instructions per sector.
  CHECK(moved.written == 8 * 2 * 64 * 64 * 4 + 2 * 2 * 256 * 64 * 4);
}

TEST_CASE("flash1: the instructions of a warp for a query and a tile of keys", "[compare]") {
  const auto work =
      *launch_of("flash1", "flash1", "flash1", one_head(1024, 64, DataType::kFloat32)).block_work;
  // A lane has one of 32 keys, and then two columns of O. Its key's row and Q's, 4 columns at a time: 16 loads
  // of 5 wavefronts as two instructions each, and V's; the row of Q, m and l go to shared memory.
  const double products = 64 + 32 * 2, loads = 2 * (16 * 5 + 32 * 2) / 2.0, stores = 2 * (2 + 2);
  // A maximum and a sum of 32 lanes, and 32 weights.
  const double shuffles = 2 * (5 + 5 + 32);
  // Two exponentials, by the hardware's and seven more; two divisions, by two of the hardware's and 12 more.
  const double exps = 2 * (1 + 7), divisions = 2 * (2 + 12);
  // The online softmax (3), the old weight; the keys of the query (30); rows of Q and twice of O, two columns
  // each; three loops.
  const double rest = 3 + 1 + 30 + 3 * (7 + 2 * 10) + 3 * 3;
  const double of_query = products + loads + stores + shuffles + exps + divisions + rest;
  CHECK_THAT(instructions_of_warp(work, kFp32), within_rounding(16 * of_query + 18));
  // Two columns of Q and of O in each lane, with a stride and an address.
  CHECK(work.constant_loads == 64 * (2 * 2 * 2));
  // One query after the other waits for rows of Q and O, an exponential, a maximum, a sum, and the weights of four keys
  // at a time; and for its products, the maximum and the sum (5 each), the shift (2), a difference, expf, O's sum over
  // keys, and a division.
  CHECK(work.cache_waits == 16 * 2);
  CHECK(work.shuffle_waits == 16 * (10 + 32 / 4));
  CHECK(work.chained_instructions == 16 * (64 + 10 + 2 + 1 + 6 + 32 + 8));
}

TEST_CASE("mma.sync's pass over keys at head_dim 256: the instructions of a warp", "[compare]") {
  const auto work = *launch_of("bwd-twopass", "bwd_twopass_mma_sm80", "bwd_twopass_dKdV_mma_sm80",
                               one_head(1024, 256, DataType::kBFloat16))
                         .block_work;
  // Eight warps: 16 of 64 keys each, 16 queries, half of the columns of dK and dV. S and dP: 16 steps of two
  // products; A and B are loaded by an instruction each, with an address. Their sums are set to zero.
  const double scores = 2 * (16 * 2 + 16 * (1 + 1) * 2 + 16 * 16 / 32.0 / 2);
  // dV and dK: one step of 16 products, eight loads of B, and four registers of A to convert.
  const double gradients = 2 * (16 + 8 * 2 + 4);
  // Eight scores in a lane: an exponential and three more. lse and delta for 8 queries at a time.
  const double weights = 8 * (1 + 3) + 2 * 2 * 2;
  // Facts about the tile and the scores, and copies of 16 bytes, with four instructions for where.
  const double facts = 2 * (18 + 2), copies = 2 * 16 * 512 / 512.0 / 8 * (1 + 4);
  // The loop; two tensors; what is visible, the row of a stage and six places from there; two products in two
  // rounds each; the statistics of 16 queries by one of eight warps.
  const double rest = 18 + 2 * 17 + 6 + (2 + 6) + 2 * 2 * 11 + (2 * 15 + 20) / 8.0;
  CHECK_THAT(instructions_of_warp(work, kBf16),
             within_rounding(scores + gradients + weights + facts + copies + rest));
}

TEST_CASE("flash2 in fp32: tiles with hidden pairs go key by key", "[compare]") {
  const auto work =
      *launch_of("flash2", "flash2_fp32", "flash2_fp32", one_head(1024, 64, DataType::kFloat32))
           .block_work;
  // A lane has 8 rows and 64 keys there: each row's weight is loaded by itself, and the key's row of V.
  CHECK(work.edge_waits == 64 * (8 + 1));
  // A score is hidden by 2; each of eight lanes asks again whether its row sees the key (16).
  CHECK(work.edge_instructions == 2 + 8 * 16);
  // A factor of O for each row and tile of 64 keys, in eight lanes.
  CHECK(work.exps_per_score == 1 + 8 / 64.0);
}

TEST_CASE("kernels that take rows have as many blocks as their registers allow", "[compare]") {
  const auto of = [](const cuda::LaunchTiles& launch) { return launch.row_work->blocks_per_sm; };
  const auto merge = [&](std::int64_t head_dim) {
    return of(launch_of("split-kv", "split_kv", "split_kv_merge",
                        one_head(1024, head_dim, DataType::kFloat32)));
  };
  // 65536 registers: 256 threads with 40, 48 and 64 of them.
  CHECK(merge(64) == 6);
  CHECK(merge(128) == 5);
  CHECK(merge(256) == 4);
  CHECK(of(launch_of("flash2", "flash2_fp16x3_sm90", "flash2_fp16x3_split",
                     one_head(1024, 64, DataType::kFloat32), cuda::Products::kFloat16x3)) ==
        65536 / (80 * 256));  // 74, of which there are multiples of 8
}

TEST_CASE("fused-softmax computes visible scores only, and sets the others to zero", "[compare]") {
  const auto work = [](Mask mask) {
    return *launch_of("fused-softmax", "fused_softmax", "fused_softmax",
                      one_head(3, 64, DataType::kBFloat16, mask))
                .row_work;
  };
  CHECK(work(Mask::kNone).computed_share == 1);
  CHECK(work(Mask::kNone).number_instructions == 0);
  CHECK(work(Mask::kCausalTopLeft).num_numbers == 6);
  CHECK_THAT(work(Mask::kCausalTopLeft).computed_share, within_rounding(6 / 9.0));
  CHECK_THAT(work(Mask::kCausalTopLeft).number_instructions, within_rounding(1.5 * 3 / 6));
}
