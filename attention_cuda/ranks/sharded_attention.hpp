// Attention over several GPUs: each rank holds a shard of the queries and of the keys.
//
//   ShardedCall call("ring", {whole, {Sharding::kZigzag, 4}}, communicator, execution);
//   call.forward(shards, workspace, call.workspace_bytes());     // on every rank
//   communicator.finish(execution.stream);
//
// Shards   Q, O, dO, dQ, lse have the rows of the rank's queries (attention/ranks/shards.hpp), K, V, dK,
//          dV those of its keys; otherwise as in attention/problem.hpp. K and V are row-major, because
//          they are sent
// Masks    all but packed sequences; key lengths in host memory, not with causal-bottom-right
// Bits     those of one GPU that takes the same keys in the same order: a rank's program has the order.
//          In the backward pass parts of dK and dV are rounded to the tensors' type and summed in fp32.
//          So are those of dQ, unless the kernel keeps its own sum over all calls (kept_dQ.hpp).
//          bwd-onepass itself adds in order of arrival unless `deterministic` is set
// Errors   ProblemError: as one GPU; or that the ranks disagree, on each of them, before any kernel
//          starts. RankFailure: a rank ended or did not answer. CudaError
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/ranks/rank_programs.hpp"
#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {

struct KernelRow;

class ShardedCall {
 public:
  /// Collective: each rank constructs it with the same arguments, apart from the stream. The kernel of
  /// `execution` is the one for each call of a rank: by default flash2's or bwd-onepass's best one. Its
  /// workspace, its states and what it says of dQ in several calls are ignored.
  ShardedCall(std::string_view variant, const ShardedProblem& problem, Communicator& communicator,
              const ExecutionOptions& execution = {});
  /// The same. If `make_problem` throws ProblemError on one rank, all ranks throw.
  using MakeProblem = std::function<ShardedProblem(int num_ranks)>;
  ShardedCall(std::string_view variant, const MakeProblem& make_problem, Communicator& communicator,
              const ExecutionOptions& execution = {});

  /// Device memory that this rank needs besides the tensors. For tensors that the fastest kernel cannot
  /// address, backward() may need more, and then says how much.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// This rank's operations.
  const RankProgram& program() const { return program_; }
  /// The variant of each of its calls: "flash2".
  std::string_view local_variant() const { return local_variant_; }

  /// Enqueues the rank's part on the stream. Blocks the host only while another rank has not come as
  /// far. Collective; a call that throws makes all ranks throw.
  void forward(const ForwardTensors& shard, void* workspace, std::size_t workspace_bytes);
  void backward(const BackwardTensors& shard, void* workspace, std::size_t workspace_bytes);

 private:
  template <class Tensors>
  void run(Pass pass, const Tensors& shard, void* workspace, std::size_t workspace_bytes);
  void check_execution() const;

  ShardedProblem problem_;
  Communicator& communicator_;
  ExecutionOptions execution_;
  Pass pass_ = Pass::kForward;
  std::string local_variant_;           // of each call of a rank
  const KernelRow* keeping_ = nullptr;  // sums dQ over all calls
  RankProgram program_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace flashlab::cuda
