// Predicts the time of a launch from the work of its blocks inside their multiprocessors.
//
//   clocks  pairs of tiles x clocks per pair (unit_cycles.hpp). Blocks run in waves: as many at once as
//           fit a multiprocessor, in the last wave fewer. Under a causal mask the long blocks start
//           first, and the last wave is not counted
//   start   a block waits for its first data once: the latency of DRAM, and the time in which they
//           come to its multiprocessor
//   edges   tiles on the edge of the mask take more instructions
//   sums    L2 adds to sums in global memory at its own rate. Bulk additions run beside all this, as
//           loads come; those from registers are instructions that warps wait to issue
//   clock   the more the tensor cores have to do, the lower: linear from the highest clock, without
//           products, to the one at which the calibration's products ran; and lower with the loads of
//           operands for mma.sync
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "compare/model/unit_cycles.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// The problem of a launch, as far as the time depends on it.
struct TileTimeRequest {
  std::string_view dtype, products;  // as in Row
  std::int64_t head_dim = 0;
  bool is_causal = false;
  bool has_key_blocks = false;              // a block takes a K/V tile and all queries that see it
  std::int64_t seqlen_q = 0, seqlen_k = 0;  // 0: unknown; then all blocks count as equally long
  bool takes_several = false;               // a block takes one tile after the other
  /// Of the blocks of one problem, in their order, if they differ: pairs of tiles in proportion. Empty: as the mask says.
  std::span<const double> lengths = {};
};

/// Returns the pairs of tiles of one block with both visible and hidden scores under a causal mask.
double edge_pairs(const Step& step, bool has_key_blocks);

/// Returns how many such blocks a multiprocessor has at once.
int resident_blocks(const cuda::BlockWork& work, const Step& step, const gpu::GpuSpec& gpu);

/// Returns the clock, in Hz, at which tensor cores (or multiply-adds) and, beside mma.sync, shared memory
/// are busy for these shares of the time. Without a calibration of these products it is the data sheet's.
double clock_hz(const MachineModel& machine, std::string_view dtype, std::string_view products,
                cuda::ProductInstruction instruction, double tensor_share, double shared_share);

/// Sets the members of a prediction that depend on the block's work: units_ms, and what it is made of.
/// `prediction` has the times of loads, stores and launches.
/// Errors  std::invalid_argument: the GPU has no rate for these products
void set_tile_time(const Step& step, const cuda::BlockWork& work, const TileTimeRequest& request,
                   const MachineModel& machine, Prediction& prediction);

/// The same for blocks that take a row each. The blocks of a multiprocessor share its issue slots,
/// its exponentials and its part of DRAM.
void set_row_time(const Step& step, const cuda::RowWork& work, const MachineModel& machine,
                  Prediction& prediction);

/// A block whose warps do one thing after the other, and all of it together.
struct WholeBlock {
  double alone = 0;   // clocks, if it has a multiprocessor to itself
  double busy = 0;    // of these, the clocks in which it keeps others from going on
  double shared = 0;  // of these, by loads from shared memory; the rest are issue slots
  int resident = 1;   // blocks that a multiprocessor has room for, apart from shared memory
  std::span<const double> lengths = {};  // as in TileTimeRequest
};

/// The same for blocks of which only this is known, on average.
void set_block_time(const Step& step, const WholeBlock& block, const MachineModel& machine,
                    Prediction& prediction);

}  // namespace flashlab::compare
