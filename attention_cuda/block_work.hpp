// What a block does inside its multiprocessor for one pair of tiles, queries x keys: its products,
// their operands, its work on scores. These are facts about a kernel, as its tiles are. How long
// they take depends on the GPU (compare/model/unit_cycles.hpp). No CUDA here.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::cuda {

/// The instructions that make a kernel's products.
enum class ProductInstruction : std::uint8_t {
  kMultiplyAdd,  // of threads, in fp32
  kMma,          // of warps; both operands are in registers
  kWgmma         // of warpgroups; B is in shared memory, A there or in registers
};

/// Where an operand is before the product.
enum class Operand : std::uint8_t {
  kRegisters,     // loaded once for all pairs of tiles
  kResults,       // in registers, as results of another product
  kShared,        // a tile whose rows run along the depth
  kSharedColumns  // a tile whose columns run along the depth
};

/// C [rows, columns] += A [rows, depth] B [depth, columns], of a block and one pair of tiles.
struct BlockProduct {
  std::int64_t rows = 0, columns = 0, depth = 0;
  /// The part of C that a warp computes at once (kWgmma: a warpgroup; kMultiplyAdd: a thread).
  std::int64_t part_rows = 0, part_columns = 0;
  Operand a = Operand::kShared, b = Operand::kShared;
  bool starts_at_zero = false;  // C is set to zero before
  /// A warp loads operands for this part of the depth and of its columns, and waits for them. 0:
  /// for all of it.
  std::int64_t depth_at_once = 0, columns_at_once = 0;

  std::int64_t num_parts() const { return rows / part_rows * (columns / part_columns); }
};

/// Bytes that threads move between registers and memory, a lane `at_once` bytes per instruction.
struct MovedByLanes {
  std::int64_t bytes = 0;
  int at_once = 16;
};

/// The order in which blocks start that differ in length under a causal mask.
enum class BlockOrder : std::uint8_t {
  kHeadByHead,    // all blocks of a head, the longest first; then the next head
  kLongestFirst,  // the longest of all heads first
  kPairs          // a block takes a long tile and a short one: all are about as long
};

struct BlockWork {
  ProductInstruction instruction = ProductInstruction::kMma;
  int num_warps = 0;      // that compute
  int blocks_per_sm = 1;  // at most, by their registers
  std::vector<BlockProduct> products;
  int drains =
      1;  // kWgmma: so often a warpgroup has no product under way, and waits for the last one
  int products_per_product = 1;  // kWgmma. 3: of numbers that are sums of two parts

  // Scores
  double exps_per_score = 1;      // of lanes; more than one if several compute the same
  double score_instructions = 0;  // for each, besides the exponentials: multiply-adds, maxima, sums
  double edge_instructions =
      2;                  // the same, in tiles with hidden pairs only: a comparison, a selection
  double edge_waits = 0;  // of a warp there, for loads from shared memory, one after the other
  double edge_chained_instructions = 0;  // as chained_instructions, there only
  int score_copies = 1;                  // the warps that compute the same score
  int score_passes = 1;                  // the parts in which a warp takes its scores
  /// Half of the warps wait while the others make P, and then those while they make dS. A warp waits for this
  /// many loads from shared memory meanwhile, one after the other.
  bool halves_take_turns = false;
  int waits_of_P = 0, waits_of_dS = 0;
  int row_shuffles = 0;   // for each row of scores
  int row_lanes = 4;      // lanes that have parts of the same row
  int shuffle_waits = 0;  // of a warp, if not one for each of row_shuffles

  // Data other than operands
  MovedByLanes stored, loaded;           // between registers and shared memory
  std::int64_t loaded_alike = 0;         // loads of a warp's lanes, all of the same number
  MovedByLanes loaded_through_l1;        // from global memory to registers: L1 is the same memory
  std::int64_t constant_loads = 0;       // of warps, from constant memory: strides, addresses
  MovedByLanes added;                    // from registers to sums in global memory
  std::int64_t added_in_bulk_bytes = 0;  // from shared memory to sums in global memory
  MovedByLanes copied;                   // from global to shared memory, without registers
  std::int64_t awaited_bytes = 0;        // of those copied: a tile that nothing else is done beside
  int cache_waits = 0;    // for loads to registers, of which each warp needs the first result
  bool is_in_l2 = false;  // that L1 does not have
  std::int64_t first_bytes = 0;  // from global memory, before a block's first pair of tiles

  // Instructions of a warp that are not work on the tiles
  int mbarrier_waits = 0, mbarrier_arrivals = 0;  // for a pair of tiles
  double tile_specials = 0;       // for a pair of tiles, on the unit of exponentials
  double tile_instructions = 0;   // for a pair of tiles: loops, masks, what is left of the tiles
  double start_instructions = 0;  // before a block's first load, each after the one before
  double end_instructions = 0;    // after a block's last pair
  /// For a pair of tiles, those of a warp that wait for the one before: where a lane has one score at a time.
  double chained_instructions = 0;

  BlockOrder order = BlockOrder::kHeadByHead;
  int num_barriers = 0;  // of all warps that compute
};

/// The work of blocks that take a row of numbers each, thread by thread, besides the arithmetic that
/// the toy program counts.
struct RowWork {
  std::int64_t num_numbers = 0;    // of all rows
  double start_instructions = 0;   // of each warp, before its first number
  int accesses = 0;                // loads and stores for each number
  int exp_copies = 1;              // so often a block computes each exponential
  int reductions = 0;              // sums and maxima over all threads
  int loads_in_turn = 1;           // from DRAM; each waits for the one before
  int loops = 1;                   // over the row, number by number
  double number_instructions = 0;  // for each number, besides all this and what the program counts
  int blocks_per_sm = 8;           // at most, by their registers
  double computed_share = 1;       // of the arithmetic that the program counts: not of hidden pairs
  int start_specials = 0;  // of each warp, before its first number, on the unit of exponentials
};

}  // namespace flashlab::cuda
