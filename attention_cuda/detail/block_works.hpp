// Parts of kernels' BlockWork that several of them share.
#pragma once

#include <cstdint>

#include "attention_cuda/block_work.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

/// What shared memory moves in one clock: 32 banks of 4 bytes.
inline constexpr std::int64_t kWavefrontBytes = 128;

/// For each score of an online softmax: the multiply-add in its exponent, the maximum, the sum.
inline constexpr double kOnlineSoftmaxInstructions = 3;
/// For each score of a backward pass: the multiply-add in its exponent, dP - delta, its product with P.
inline constexpr double kScoreGradientInstructions = 3;

/// Besides the exponential of the hardware: expf to the last bit but one, and a division.
inline constexpr double kInstructionsOfExpf = 7, kInstructionsOfDivision = 8;
/// Of expf, those that wait for the one before, besides the exponential itself.
inline constexpr double kChainOfExpf = 6;
/// A division's operations on the unit of exponentials: a reciprocal, and whether both numbers are in range.
inline constexpr double kSpecialsOfDivision = 2;

/// The address of a row whose stride is known at run time: a product of 64 bits (3), a sum (2), a shift (2).
/// Each load adds its column in 64 bits: an instruction more than a sum of 32.
inline constexpr double kInstructionsOfRowAddress = 7;

/// The address of a number in such a row whose columns have a stride as well: the column in 64 bits (1), its
/// product with the stride (3) and the sum (1), the address by a shift and a sum (2), both strides and the
/// tensor's address from constant memory (2); and a zero, for columns that the row does not have (1).
inline constexpr double kInstructionsOfColumnAddress = 10;

/// Instructions of a warp before its first number: the row's address; from the block's number to batch
/// entry, head and row by two divisions and two remainders (device/places.cuh); a key range besides.
inline constexpr double kInstructionsOfRow = 25, kInstructionsOfPlace = 80,
                        kInstructionsOfRange = 30;

/// After a block's last pair of tiles: each sum is multiplied, converted if it has 16 bits, and stored with
/// its neighbour.
inline void store_sums(BlockWork& work, std::int64_t num_sums, int element_bytes) {
  const double of_pair = 2 + (element_bytes == 2 ? 1 : 0) + 2;  // two products; the store's address
  work.end_instructions = static_cast<double>(num_sums) / 2 / 32 / work.num_warps * of_pair;
}

/// For each pair of tiles: the next tile, its stage and parity (3 each), whether it is on the mask's edge or
/// the last one (two comparisons each, with a sum and a branch), and the loop's branch.
inline constexpr double kInstructionsOfTile = 18;

/// Of a division by a whole number, on the unit of exponentials: the divisor as a float, its reciprocal, and
/// back to a whole number. A place takes two of them, with their remainders.
inline constexpr int kSpecialsOfDivider = 3, kSpecialsOfPlace = 2 * kSpecialsOfDivider;

/// The same in instructions, with the remainder.
inline constexpr double kInstructionsOfDivider = kInstructionsOfPlace / 2;

/// The work of rows, each of whose warps finds its batch entry, head and row.
inline RowWork with_place(RowWork work) {
  work.start_instructions += kInstructionsOfPlace;
  work.start_specials = kSpecialsOfPlace;
  return work;
}

/// Of a warp that copies the tiles of two tensors: where their rows begin and end, of 64 bits. And of the place
/// of an operand in a swizzled tile: row, chunk, base.
inline constexpr double kInstructionsOfTwoTiles = 2 * (kInstructionsOfRowAddress + 7 + 3),
                        kInstructionsOfTilePlace = 10;

/// lse and delta, each by a load for 8 queries: of two numbers by each lane, though many load the same ones.
inline MovedByLanes loaded_statistics(std::int64_t num_warps, std::int64_t num_queries) {
  constexpr int kLanes = 32, kPairBytes = 8;
  return {num_warps * num_queries / 8 * 2 * kLanes * kPairBytes, kPairBytes};
}

inline BlockWork work_of_warps(ProductInstruction instruction, int num_warps, int blocks_per_sm) {
  BlockWork work;
  work.tile_instructions = kInstructionsOfTile;
  work.start_instructions = kInstructionsOfPlace + kInstructionsOfRange;
  work.instruction = instruction;
  work.num_warps = num_warps;
  work.blocks_per_sm = blocks_per_sm;
  return work;
}
inline BlockWork mma_work(int num_warps, int blocks_per_sm) {
  return work_of_warps(ProductInstruction::kMma, num_warps, blocks_per_sm);
}
inline BlockWork multiply_add_work(int num_warps, int blocks_per_sm) {
  return work_of_warps(ProductInstruction::kMultiplyAdd, num_warps, blocks_per_sm);
}
/// Warpgroups of four warps; one block fills a multiprocessor.
inline BlockWork wgmma_work(int num_warpgroups) {
  return work_of_warps(ProductInstruction::kWgmma, 4 * num_warpgroups, 1);
}

/// Values in two parts take twice the registers. So a warp loads operands for one step of the depth
/// and 32 columns at once (device/warp_products.cuh).
inline void load_as_split(BlockWork& work, const TilesRequest& request) {
  if (request.execution.products != Products::kTensorFloat32x3) return;
  for (BlockProduct& product : work.products) {
    product.depth_at_once = 8;
    product.columns_at_once = 32;
  }
}

}  // namespace flashlab::cuda
