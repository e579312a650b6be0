// What a call launches: each kernel's blocks, tiles, threads and shared memory, and which part of
// which toy program counts its work. No CUDA here: the numbers are those that the kernels are
// compiled from, and a machine without a GPU can ask for any.
//
// Tensors  without gaps, lse wanted; what copies tensors with gaps is left out
// Library  a product by cuBLAS: its tiles are not known
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {

struct GpuLimits {
  int compute_capability = 90;  // 9.0
  int num_multiprocessors = 132;
  std::int64_t shared_memory_per_block_bytes = 227 << 10;  // the most that a block can ask for
};

/// Bytes over the boundary of the multiprocessors.
struct MovedBytes {
  std::int64_t read = 0, written = 0;
  bool operator==(const MovedBytes&) const = default;
};

/// One launch of a call, or several of the same kernel one after the other.
struct LaunchTiles {
  std::string_view name;      // as KernelObserver is told: "bwd_twopass_dQ_mma_sm80", "S = Q K^T"
  bool is_library = false;    // tiles, threads and blocks are 0
  bool is_counted = true;     // the toy program has this part of the algorithm
  std::string_view toy_pass;  // the pass that counts it; empty: the program is one pass
  int block_q = 0;            // the B to count with; 0: any, as for
  int block_kv = 0;           // Bk
  int num_threads = 0;        // of a block
  std::int64_t shared_bytes = 0;
  std::int64_t num_blocks = 0, num_launches = 1;  // blocks of one launch
  /// What a worker of the program is here: nothing but a kv head's queries, all its query heads'
  /// after one another, where a block serves them together; else a query head.
  bool is_per_kv_head = false;
  /// Splits of the keys (the program's parameter); 0: it has none.
  int num_splits = 0;
  /// Warps load what their neighbours load too: L1 may answer, so the loads are an upper bound.
  bool shares_loads = false;
  /// Arrays of the program that it loads, stores in the tensors' type; all others are fp32.
  std::vector<std::string_view> elements_loaded, elements_stored;
  /// All heads' bytes, where the program does not say: it has no such step, or visits pairs that
  /// the kernel leaves out.
  std::optional<MovedBytes> moved;
};

struct KernelTiles {
  std::string_view stem, variant;
  std::string toy_program;  // "flash1_launches", "bwd_twopass_causal"
  std::vector<LaunchTiles> launches;
};

/// The kernel that a call takes on such a GPU, and its launches in their order; those without
/// blocks are left out. Of `execution` only products, num_splits, kernel and round_statistics
/// count. Masks   a causal program is top left: what it counts is right where seqlen_q = seqlen_k
/// Errors  ProblemError: no such variant; no kernel that can, by find_listing
KernelTiles kernel_tiles(std::string_view variant, const AttentionProblem& problem,
                         const ExecutionOptions& execution = {}, const GpuLimits& gpu = {});

}  // namespace flashlab::cuda
