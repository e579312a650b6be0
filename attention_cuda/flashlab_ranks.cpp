// Implements the C functions for several GPUs with the C++ ones. No exception leaves them.
#include "attention_cuda/flashlab_ranks.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "attention_cuda/detail/c_arguments.hpp"
#include "attention_cuda/ranks/nccl_communicator.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"

struct flashlab_communicator {
  std::unique_ptr<flashlab::cuda::Communicator> communicator;
};
struct flashlab_sharded_call {
  std::unique_ptr<flashlab::cuda::ShardedCall> call;
};

namespace flashlab::cuda {
namespace {

/// An argument that a call writes or changes.
template <class Value>
Value& changed(const char* name, Value* argument) {
  if (argument == nullptr) throw ProblemError(name, "null", "a place for the result");
  return *argument;
}

std::chrono::milliseconds timeout_of(std::int64_t timeout_ms) {
  constexpr std::int64_t kMostMs = std::int64_t{1} << 40;
  if (timeout_ms < 0 || timeout_ms > kMostMs) {
    throw ProblemError("timeout_ms", std::to_string(timeout_ms), "0 … " + std::to_string(kMostMs));
  }
  return timeout_ms == 0 ? kNcclTimeout : std::chrono::milliseconds(timeout_ms);
}

Sharding sharding_of(std::int32_t sharding) {
  return numbered("sharding", sharding, {Sharding::kContiguous, Sharding::kZigzag});
}

ShardedProblem sharded_problem(const flashlab_sharded_problem& problem,
                               const flashlab_options& options, int num_ranks) {
  AttentionProblem sizes;
  sizes.batch = problem.batch;
  sizes.num_heads = problem.num_heads;
  sizes.num_kv_heads = problem.num_kv_heads;
  sizes.seqlen_q = problem.seqlen_q;
  sizes.seqlen_k = problem.seqlen_k;
  sizes.head_dim = problem.head_dim;
  sizes.dtype = dtype_of("dtype", problem.dtype);
  return {whole_problem(sizes, attention_options(options)),
          {sharding_of(problem.sharding), num_ranks}};
}

}  // namespace
}  // namespace flashlab::cuda

using namespace flashlab::cuda;

flashlab_status flashlab_communicator_from_nccl(void* nccl_comm, int64_t timeout_ms,
                                                flashlab_communicator** communicator) {
  return guarded([&] {
    given("nccl_comm", static_cast<NcclComm>(nccl_comm));
    changed("communicator", communicator) = new flashlab_communicator{
        use_nccl(static_cast<NcclComm>(nccl_comm), timeout_of(timeout_ms))};
  });
}

flashlab_status flashlab_nccl_id(unsigned char* id) {
  return guarded([&] {
    changed("id", id);
    const NcclId made = make_nccl_id();
    std::copy(made.bytes.begin(), made.bytes.end(), id);
  });
}

flashlab_status flashlab_communicator_join_nccl(const unsigned char* id, int32_t num_ranks,
                                                int32_t rank, int64_t timeout_ms,
                                                flashlab_communicator** communicator) {
  return guarded([&] {
    given("id", id);
    if (num_ranks < 1 || rank < 0 || rank >= num_ranks) {
      throw flashlab::ProblemError("rank", std::to_string(rank),
                                   "0 … num_ranks - 1, of " + std::to_string(num_ranks));
    }
    NcclId made;
    std::copy(id, id + made.bytes.size(), made.bytes.begin());
    changed("communicator", communicator) =
        new flashlab_communicator{join_nccl(made, num_ranks, rank, timeout_of(timeout_ms))};
  });
}

flashlab_status flashlab_communicator_finish(flashlab_communicator* communicator, void* stream) {
  return guarded([&] {
    given("communicator", communicator);
    communicator->communicator->finish(static_cast<Stream>(stream));
  });
}

flashlab_status flashlab_communicator_stop_flag(flashlab_communicator* communicator,
                                                const int32_t** flag) {
  return guarded([&] {
    given("communicator", communicator);
    changed("flag", flag) = communicator->communicator->stop_flag();
  });
}

void flashlab_communicator_destroy(flashlab_communicator* communicator) { delete communicator; }

int64_t flashlab_shard_rows(int32_t sharding, int32_t num_ranks, int32_t rank, int64_t seqlen) {
  constexpr int64_t kMostTokens = int64_t{1} << 40;
  if (sharding < FLASHLAB_SHARDING_CONTIGUOUS || sharding > FLASHLAB_SHARDING_ZIGZAG) return -1;
  if (num_ranks < 1 || rank < 0 || rank >= num_ranks) return -1;
  if (seqlen < 0 || seqlen > kMostTokens) return -1;
  return flashlab::Shards{sharding_of(sharding), num_ranks}.num_rows(rank, seqlen);
}

flashlab_status flashlab_sharded_call_create(flashlab_communicator* communicator,
                                             const flashlab_sharded_problem* problem,
                                             const flashlab_options* options,
                                             flashlab_sharded_call** call) {
  return guarded([&] {
    given("communicator", communicator);
    Communicator& ranks = *communicator->communicator;
    changed("call", call);
    // What is wrong with one rank's arguments, all ranks are told.
    const flashlab_options all = options == nullptr ? flashlab_options{} : *options;
    const auto make_problem = [&](int num_ranks) {
      return sharded_problem(given("problem", problem), known(options), num_ranks);
    };
    *call = new flashlab_sharded_call{
        std::make_unique<ShardedCall>(all.variant == nullptr ? "null" : all.variant, make_problem,
                                      ranks, execution_options(all))};
  });
}

void flashlab_sharded_call_destroy(flashlab_sharded_call* call) { delete call; }

uint64_t flashlab_sharded_workspace_bytes(const flashlab_sharded_call* call) {
  return call == nullptr ? 0 : call->call->workspace_bytes();
}

flashlab_status flashlab_sharded_forward(flashlab_sharded_call* call,
                                         const flashlab_forward_tensors* shard, void* workspace,
                                         uint64_t workspace_bytes) {
  return guarded([&] {
    given("call", call);
    call->call->forward(views_of(given("shard", shard)), workspace, workspace_bytes);
  });
}

flashlab_status flashlab_sharded_backward(flashlab_sharded_call* call,
                                          const flashlab_backward_tensors* shard, void* workspace,
                                          uint64_t workspace_bytes) {
  return guarded([&] {
    given("call", call);
    call->call->backward(views_of(given("shard", shard)), workspace, workspace_bytes);
  });
}
