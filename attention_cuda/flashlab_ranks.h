/// Attention over several GPUs for C (C99) and for other languages that can call C, in
/// libflashlab_cuda. A rank is one GPU with a thread or a process; NCCL connects them.
///
///   flashlab_communicator* communicator;               // on every rank
///   flashlab_communicator_from_nccl(nccl_comm, 0, &communicator);
///   flashlab_sharded_problem problem = {1, 16, 16, 1 << 20, 1 << 20, 128, FLASHLAB_BFLOAT16,
///                                       FLASHLAB_SHARDING_ZIGZAG};
///   options.variant = "ring";
///   flashlab_sharded_call* call;
///   flashlab_sharded_call_create(communicator, &problem, &options, &call);
///   flashlab_sharded_forward(call, &tensors, workspace, flashlab_sharded_workspace_bytes(call));
///   flashlab_communicator_finish(communicator, options.stream);
///
/// Shards   each rank's tensors have the rows of its tokens (flashlab_shard_rows); K and V are
///          row-major. Contiguous: rank r has chunk r of as many chunks as ranks. Zigzag: chunks r
///          and 2 num_ranks - 1 - r of twice as many, which balances a causal mask. Chunk c of C has
///          tokens floor(c seqlen / C) to floor((c + 1) seqlen / C) - 1
/// Masks    all but packed sequences; key_lengths in host memory, not with causal-bottom-right
/// Errors   as flashlab.h; and FLASHLAB_ERROR_RANK: a rank ended or did not answer in time
#ifndef FLASHLAB_RANKS_H
#define FLASHLAB_RANKS_H

#include "attention_cuda/flashlab.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which tokens a rank has.
enum { FLASHLAB_SHARDING_CONTIGUOUS = 0, FLASHLAB_SHARDING_ZIGZAG = 1 };

/// A rank's connection to the others.
typedef struct flashlab_communicator flashlab_communicator;

/// Uses the caller's ncclComm_t, of the current device, until it is destroyed. timeout_ms: how long to
/// wait for another rank; 0: five minutes. Opens NCCL 2.18 or later: the process's own, or
/// libnccl.so.2, or $FLASHLAB_NCCL_LIBRARY.
FLASHLAB_API flashlab_status flashlab_communicator_from_nccl(void* nccl_comm, int64_t timeout_ms,
                                                             flashlab_communicator** communicator);

/// Writes an ncclUniqueId, 128 bytes, which one rank makes and gives to all.
FLASHLAB_API flashlab_status flashlab_nccl_id(unsigned char* id);
/// Joins a group of ranks, on the current device. Blocks until all have.
FLASHLAB_API flashlab_status flashlab_communicator_join_nccl(const unsigned char* id,
                                                             int32_t num_ranks, int32_t rank,
                                                             int64_t timeout_ms,
                                                             flashlab_communicator** communicator);

/// Blocks until the stream's work and all transfers have ended.
FLASHLAB_API flashlab_status flashlab_communicator_finish(flashlab_communicator* communicator,
                                                          void* stream);
/// Writes the address of a number that becomes 1 when this rank learns that another one has failed, or that
/// the transfers have. With options.stop_flag = *flag, kernels that are enqueued then end early, and
/// flashlab_communicator_finish, which watches the other ranks, returns FLASHLAB_ERROR_RANK soon. Without
/// it, enqueued kernels run to their end. The number lives as long as the communicator.
FLASHLAB_API flashlab_status flashlab_communicator_stop_flag(flashlab_communicator* communicator,
                                                             const int32_t** flag);
/// Null is ignored.
FLASHLAB_API void flashlab_communicator_destroy(flashlab_communicator* communicator);

/// The problem of all ranks together.
typedef struct flashlab_sharded_problem {
  int64_t batch, num_heads, num_kv_heads;
  int64_t seqlen_q, seqlen_k, head_dim;
  int32_t dtype;     ///< FLASHLAB_FLOAT32, …
  int32_t sharding;  ///< FLASHLAB_SHARDING_CONTIGUOUS, …
} flashlab_sharded_problem;

/// Returns the rows of a rank's shard of a sequence; -1 for arguments that are none.
FLASHLAB_API int64_t flashlab_shard_rows(int32_t sharding, int32_t num_ranks, int32_t rank,
                                         int64_t seqlen);

/// One pass of a rank, which can run any number of times.
typedef struct flashlab_sharded_call flashlab_sharded_call;

/// Collective: all ranks create it with the same problem and options (except the stream); if they
/// differ, all are told which rank and what. options->variant: "ring", "gather-kv", "bwd-ring" or
/// "bwd-gather-kv"; its workspace and states are ignored.
FLASHLAB_API flashlab_status flashlab_sharded_call_create(flashlab_communicator* communicator,
                                                          const flashlab_sharded_problem* problem,
                                                          const flashlab_options* options,
                                                          flashlab_sharded_call** call);
/// Null is ignored.
FLASHLAB_API void flashlab_sharded_call_destroy(flashlab_sharded_call* call);
/// Returns the device memory that the rank needs besides its tensors. If tokens of Q, O, dO or dQ are not a multiple
/// of 16 bytes apart, flashlab_sharded_backward may need more: its error says how much.
FLASHLAB_API uint64_t flashlab_sharded_workspace_bytes(const flashlab_sharded_call* call);

/// Enqueue the rank's part of a pass on the stream. Collective.
FLASHLAB_API flashlab_status flashlab_sharded_forward(flashlab_sharded_call* call,
                                                      const flashlab_forward_tensors* shard,
                                                      void* workspace, uint64_t workspace_bytes);
FLASHLAB_API flashlab_status flashlab_sharded_backward(flashlab_sharded_call* call,
                                                       const flashlab_backward_tensors* shard,
                                                       void* workspace, uint64_t workspace_bytes);

#ifdef __cplusplus
}
#endif

#endif  // FLASHLAB_RANKS_H
