// When the blocks of a launch run. Each multiprocessor has room for some blocks. The next one, in the
// order of the launch, starts where a block has ended. Blocks of one multiprocessor share its units.
//
//   start  a block waits for its place, then for its first data; the others have the units meanwhile
//   pairs  k blocks that compute at once take clocks_per_pair[k - 1] per pair of tiles, and get on alike
//   end    a block finishes its results; the others have the units again
//
// No closed formula: blocks differ in length under a causal mask, and few blocks leave multiprocessors
// idle at the end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention_cuda/block_work.hpp"

namespace flashlab::compare {

struct BlockQueue {
  std::vector<double> pairs;  // of tiles; of each block, in the order in which blocks start
  double start = 0, end = 0;  // clocks of each block
  /// A block of the kernel takes one of these after the other, and loads ahead: it waits for its first
  /// data only once.
  bool loads_ahead = false;
};

/// Returns the clock at which the last block has ended. A multiprocessor has at most
/// clocks_per_pair.size() blocks at once.
double finish_clock(const BlockQueue& queue, std::span<const double> clocks_per_pair,
                    std::int64_t num_sms);

/// The blocks of a head, and the tiles that they visit.
struct HeadBlocks {
  std::int64_t rows = 0, others = 0;  // queries and keys of a head, or keys and queries
  int length = 0, other_length = 0;   // of a block's tile, and of the tiles that it visits
  bool has_keys = false;              // a block has keys, and visits the queries that see them
};

/// Returns the pairs of tiles of each block of all heads under a causal mask, in their order.
std::vector<double> causal_pairs(const HeadBlocks& blocks, std::int64_t num_heads,
                                 cuda::BlockOrder order);

/// Returns how much the blocks of a head compute for each score that it has: more than 1 if the last tiles
/// reach beyond its queries or keys. They are computed as whole tiles.
double computed_per_score(const HeadBlocks& blocks, bool is_causal);

}  // namespace flashlab::compare
