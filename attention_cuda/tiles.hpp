// The launches of a call: each kernel's blocks, tiles, threads and shared memory, and the toy
// program and pass that count its work. No CUDA here: the numbers are those that the kernels are
// compiled with, and a machine without a GPU can request any of them.
//
// Tensors  contiguous, lse requested; copies of tensors that are not contiguous are left out
// Library  a product by cuBLAS: its tiles are unknown
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/block_work.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {

struct GpuLimits {
  int compute_capability = 90;  // 9.0
  int num_multiprocessors = 132;
  std::int64_t shared_memory_per_block_bytes = 227 << 10;  // maximum per block
};

/// Bytes between L2 and the multiprocessors.
struct MovedBytes {
  std::int64_t read = 0, written = 0;
  bool operator==(const MovedBytes&) const = default;
};

/// One launch of a call, or several successive launches of the same kernel.
struct LaunchTiles {
  std::string_view name;      // for KernelObserver: "bwd_twopass_dQ_mma_sm80", "S = Q K^T"
  bool is_library = false;    // true: tiles, threads and blocks are 0
  bool is_counted = true;     // the toy program contains this part of the algorithm
  std::string_view toy_pass;  // the pass that counts it; empty: the whole program
  int block_q = 0;            // the toy program's B; 0: any value counts the same
  int block_kv = 0;           // the toy program's Bk; 0: as for block_q
  int num_threads = 0;        // per block
  std::int64_t shared_bytes = 0;
  std::int64_t num_blocks = 0, num_launches = 1;  // num_blocks: per launch
  /// Query tiles or K/V tiles, if a block may take several of them, one after the other; otherwise 0.
  std::int64_t num_tiles_of_blocks = 0;
  /// True: a worker of the toy program is one kv head with all its query heads one after another,
  /// because a block processes them together. False: it is one query head.
  bool is_per_kv_head = false;
  /// Splits of the keys (a parameter of the program); 0: no such parameter.
  int num_splits = 0;
  /// Warps load the same data as other warps. L1 may serve some loads, so the loads are
  /// an upper bound.
  bool shares_loads = false;
  /// Arrays that the kernel loads and stores in the tensors' type; all others are fp32.
  std::vector<std::string_view> elements_loaded, elements_stored;
  /// The bytes of all heads, if the program cannot count them: it has no such step, or visits pairs
  /// that the kernel skips.
  std::optional<MovedBytes> moved;
  /// The work of a block inside its multiprocessor: at most one of them. Nothing: not described.
  std::optional<BlockWork> block_work;
  std::optional<RowWork> row_work;

  /// Whether a block takes a K/V tile and all queries that see it. Parts of the keys have blocks of queries.
  bool has_key_blocks() const { return is_per_kv_head && num_splits == 0; }
  /// Returns the tiles that are divided among the multiprocessors.
  std::int64_t num_tiles() const {
    return num_tiles_of_blocks > 0 ? num_tiles_of_blocks : num_blocks;
  }
};

struct KernelTiles {
  std::string_view stem, variant;
  std::string_view product_instruction;  // as in KernelListing
  std::string toy_program;               // "flash1_launches", "bwd_twopass_causal"
  std::vector<LaunchTiles> launches;
};

/// Returns the kernel for a call on such a GPU, and its launches in order, except those without
/// blocks. Uses only products, num_splits, kernel and round_statistics of `execution`.
/// Masks   a causal program is top left: its counts are right if seqlen_q = seqlen_k
/// Errors  ProblemError: no such variant; no suitable kernel, as find_listing
KernelTiles kernel_tiles(std::string_view variant, const AttentionProblem& problem,
                         const ExecutionOptions& execution = {}, const GpuLimits& gpu = {});

/// The name that stands for the variant that suits the problem and the GPU.
inline constexpr std::string_view kAutoVariant = "auto";

/// Returns the forward variant for a call that leaves the choice: split-kv if its busiest
/// multiprocessor has less to do than flash2's, as with few queries and long K; else flash2. Uses
/// only products and kernel of `execution`: a kernel determines its variant.
std::string_view forward_variant(const AttentionProblem& problem,
                                 const ExecutionOptions& execution = {}, const GpuLimits& gpu = {});

}  // namespace flashlab::cuda
