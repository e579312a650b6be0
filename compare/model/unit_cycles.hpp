// The clocks that the units of a multiprocessor need for one pair of tiles, from the facts about a
// kernel (attention_cuda/block_work.hpp) and what the GPU does per clock.
//
//   tensor   products by mma.sync or wgmma. wgmma reads its operands meanwhile: it takes as long as
//            the slower of the two
//   shared   128 bytes per clock between shared memory and registers: operands of other products,
//            scores that warps exchange, shuffles. A copy that needs no registers takes one clock per
//            instruction. L1 is the same memory
//   issue    instructions of warps, one per clock and scheduler: products, loads and stores with one
//            more each for the address, conversions, work on scores
//            An arithmetic instruction of threads reads up to three registers, those of the same bank
//            one after the other: meanwhile its scheduler issues nothing
//   constants  loads from constant memory: strides and addresses, where only some lanes need them
//   exp      exponentials, reciprocals, conversions of whole numbers
//   sums     additions from registers to sums in global memory, which L2 executes; a multiprocessor has its
//            part of the rate that all of them get (tile_time.hpp)
//   wait     what a warp alone would wait for: the first operands of a round of products, sums that it uses
//            next, products of one sum that follow each other, the last exponential of its scores,
//            shuffles, barriers
#pragma once

#include <span>

#include "attention_cuda/block_work.hpp"
#include "gpu/sheets/gpu_specs.hpp"

namespace flashlab::compare {

struct UnitCycles {
  double tensor = 0, shared = 0, issue = 0, exp = 0, sums = 0;  // of a multiprocessor
  double wait = 0;                                              // of a warp
  double l1 = 0;                 // of the same memory as `shared`, and not in it
  double operands = 0;           // of shared memory, during wgmma: not in `shared`
  double operand_conflicts = 0;  // in which schedulers issue nothing: not in `issue`
  double constants = 0;
  double product_issue =
      0;  // of `issue`: mma.sync, whose slots are clocks of the tensor cores' time
  double tensor_flops = 0;

  double all_shared() const { return shared + operands; }
};

/// The numbers that are multiplied.
struct ElementFacts {
  int bytes = 2;                      // 4: fp32, by multiply-adds or as tf32
  int products_per_product = 1;       // 3: of values split in two
  double tensor_flops_per_clock = 0;  // of a multiprocessor, by the kernel's instruction
};

/// Returns the clocks of one block and pair of tiles.
UnitCycles unit_cycles(const cuda::BlockWork& work, const ElementFacts& elements,
                       const gpu::GpuSpec& gpu);

/// Returns what a warp waits for in a chain of instructions, each of which needs the result of the one before.
/// Its own issue slot is not part of it.
double chain_clocks(double instructions, const gpu::GpuSpec& gpu);

/// Returns the clocks per piece of work if `workers` share units, of each of which one piece takes
/// this much, and waits besides. With n workers, one of them finds at a unit those that are there on
/// average with n - 1 workers:
///
///   R(n) = w + sum of d (1 + q(n - 1))     q(n) = n d (1 + q(n - 1)) / R(n)     T = R(n) / n
///
/// d: what a piece takes of a unit, w: what it waits for, q: workers at a unit, q(0) = 0. One alone adds
/// up; many are bound by the slowest unit. (Mean value analysis of closed queueing networks: Reiser and
/// Lavenberg 1980.) Between whole numbers of workers it is linear.
double shared_units_cycles(std::span<const double> units, double wait, double workers);

/// The same for the warps of a scheduler as workers: the clocks of a multiprocessor per pair of tiles
/// if it has this many such blocks at once. Of fewer than four warps each has a scheduler to itself.
double cycles_per_pair(const UnitCycles& cycles, int num_warps, double num_blocks);

}  // namespace flashlab::compare
