#include "attention_cuda/ranks/sharded_attention.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "attention_cuda/detail/gradient_sums.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/agreement.hpp"
#include "attention_cuda/ranks/kept_dQ.hpp"
#include "attention_cuda/ranks/rank_memory.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

std::string variant_of_kernel(const ExecutionOptions& execution, Pass pass) {
  for (const KernelListing& kernel : kernel_listings()) {
    if (kernel.stem == execution.kernel) return std::string(kernel.variant);
  }
  return pass == Pass::kForward ? "flash2" : "bwd-onepass";
}

/// A state for questions about kernels, which do not look at its memory.
ForwardState any_state() {
  static float number = 0;
  const TensorView tensor = view(&number, {1});
  return {tensor, tensor, tensor};
}

/// Returns the workspace of the largest call. Throws ProblemError if no kernel can run one.
std::size_t kernel_workspace_bytes(std::string_view variant, const ShardedProblem& problem,
                                   const RankProgram& program, const ExecutionOptions& execution) {
  std::size_t most = 0;
  for (const RankOperation& operation : program) {
    if (operation.kind != RankOperation::Kind::kAttend) continue;
    ExecutionOptions asked = execution;
    ShardCall call = operation.call;
    if (execution.keeps_dQ) {
      asked.first_query = call.queries.first;
      call = from_first_query(call);
    }
    if (operation.has_state_in) asked.state_in = any_state();
    if (operation.has_state_out) asked.state_out = any_state();
    most = std::max(most,
                    workspace_bytes(variant, problem.problem_of(call, operation.key_rank), asked));
  }
  return most;
}

struct ShardTensor {
  const char* name;
  const TensorView& view;
  std::int64_t num_heads, num_rows;
  bool is_sent = false;
};

void check_shard(const ShardTensor& tensor, const ShardedProblem& problem, int rank) {
  const AttentionProblem& whole = problem.whole;
  const std::vector<std::int64_t> expected = {whole.batch, tensor.num_heads, tensor.num_rows,
                                              whole.head_dim};
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::string result = "[";
    for (const std::int64_t size : shape) {
      result += (result == "[" ? "" : ", ") + std::to_string(size);
    }
    return result + "]";
  };
  if (tensor.view.shape != expected) {
    throw ProblemError(tensor.name, "shape " + text(tensor.view.shape),
                       text(expected) + ", the shard of rank " + std::to_string(rank));
  }
  if (tensor.view.dtype != whole.dtype) {
    throw ProblemError(tensor.name, to_string(tensor.view.dtype), to_string(whole.dtype));
  }
  if (tensor.is_sent && tensor.view.strides != row_major(expected)) {
    throw ProblemError(tensor.name, "strides " + text(tensor.view.strides),
                       text(row_major(expected)) + ": it is sent to other ranks");
  }
}

/// Runs the operations of a rank.
class ProgramRun {
 public:
  ProgramRun(const ShardedProblem& problem, Communicator& communicator,
             const ExecutionOptions& execution, std::string_view variant, const RankMemory& memory)
      : problem_(problem),
        communicator_(communicator),
        execution_(execution),
        variant_(variant),
        memory_(memory),
        call_{problem.whole, execution, nullptr, nullptr} {}

  void run(const RankProgram& program, const ForwardTensors& shard) {
    own_ = {shard.K, shard.V};
    attend_ = [this, &shard](const RankOperation& operation) { forward(operation, shard); };
    run(program);
  }
  void run(const RankProgram& program, const BackwardTensors& shard) {
    own_ = {shard.K, shard.V};
    attend_ = [this, &shard](const RankOperation& operation) { backward(operation, shard); };
    results_ = {shard.dK, shard.dV};
    dQ_ = shard.dQ;
    if (memory_.has_dQ_sum()) {
      set_to_zero(memory_.dQ_sum());
    } else {
      num_left_ = std::ranges::count(program, Kind::kAttend, &RankOperation::kind);
    }
    run(program);
  }

 private:
  using Kind = RankOperation::Kind;

  void run(const RankProgram& program) {
    for (const RankOperation& operation : program) {
      const KeyTensors to = tensors_of(operation.buffer, operation.key_rank);
      switch (operation.kind) {
        case Kind::kStart:
          start(operation);
          break;
        case Kind::kWait:
          communicator_.wait(operation.exchange, execution_.stream);
          break;
        case Kind::kAttend:
          attend_(operation);
          break;
        case Kind::kClear:
          set_to_zero(to.K);
          set_to_zero(to.V);
          break;
        case Kind::kAdd: {
          const KeyTensors parts = memory_.key_parts(operation.call);
          if (memory_.has_dQ_sum()) {
            add_gradient(call_, memory_.dQ_part(operation.call), memory_.dQ_sum(),
                         operation.call.queries.first);
          }
          add_gradient(call_, parts.K, to.K, operation.call.keys.first);
          add_gradient(call_, parts.V, to.V, operation.call.keys.first);
          break;
        }
        case Kind::kAddSums: {
          const KeyTensors added = tensors_of(operation.added, operation.key_rank);
          add_gradient(call_, added.K, to.K, 0);
          add_gradient(call_, added.V, to.V, 0);
          break;
        }
        case Kind::kStore:
          store_gradient(call_, to.K, results_.K);
          store_gradient(call_, to.V, results_.V);
          if (memory_.has_dQ_sum()) store_gradient(call_, memory_.dQ_sum(), dQ_);
          break;
      }
    }
  }

  KeyTensors tensors_of(const RankBuffer& buffer, int key_rank) const {
    return buffer.kind == RankBuffer::Kind::kOwnKeys ? own_ : memory_.tensors_of(buffer, key_rank);
  }

  static std::size_t bytes_of(const TensorView& tensor) {
    return static_cast<std::size_t>(std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                    size_in_bytes(tensor.dtype),
                                                    std::multiplies<>()));
  }
  void set_to_zero(const TensorView& tensor) const {
    if (bytes_of(tensor) == 0) return;
    check_cuda(cudaMemsetAsync(tensor.data, 0, bytes_of(tensor), execution_.stream),
               "cudaMemsetAsync");
  }

  void start(const RankOperation& operation) {
    std::vector<Message> messages;
    for (const RankTransfer& transfer : operation.transfers) {
      const KeyTensors tensors = tensors_of(transfer.buffer, transfer.key_rank);
      for (const TensorView& tensor : {tensors.K, tensors.V}) {
        messages.push_back({transfer.peer, transfer.is_sent, tensor.data, bytes_of(tensor)});
      }
    }
    communicator_.start(operation.exchange, messages, execution_.stream);
  }

  KeyTensors keys_of(const RankOperation& operation) const {
    const KeyTensors all = tensors_of(operation.buffer, operation.key_rank);
    return {rows_of(all.K, operation.call.keys), rows_of(all.V, operation.call.keys)};
  }

  void forward(const RankOperation& operation, const ForwardTensors& shard) const {
    const KeyRange& queries = operation.call.queries;
    const KeyTensors keys = keys_of(operation);
    const ForwardTensors tensors = {rows_of(shard.Q, queries), keys.K, keys.V,
                                    rows_of(shard.O, queries), rows_of(shard.lse, queries)};
    ExecutionOptions execution = execution_;
    if (operation.has_state_in) execution.state_in = memory_.state(queries);
    if (operation.has_state_out) execution.state_out = memory_.state(queries);
    const AttentionProblem problem = problem_.problem_of(operation.call, operation.key_rank);
    attention_forward(variant_, tensors, problem.options(), execution);
  }

  void backward(const RankOperation& operation, const BackwardTensors& shard) {
    ExecutionOptions execution = execution_;
    execution.keeps_dQ = false;
    ShardCall call = operation.call;
    if (!memory_.has_dQ_sum()) {
      execution.first_query = call.queries.first;
      execution.continues_dQ = std::exchange(has_begun_, true);
      execution.keeps_dQ = --num_left_ > 0;
      call = from_first_query(call);
    }
    const KeyRange& queries = call.queries;
    const KeyTensors keys = keys_of(operation), parts = memory_.key_parts(operation.call);
    const BackwardTensors tensors = {rows_of(shard.Q, queries),
                                     keys.K,
                                     keys.V,
                                     rows_of(shard.O, queries),
                                     rows_of(shard.lse, queries),
                                     rows_of(shard.dO, queries),
                                     memory_.has_dQ_sum() ? memory_.dQ_part(call) : dQ_,
                                     parts.K,
                                     parts.V};
    const AttentionProblem problem = problem_.problem_of(call, operation.key_rank);
    attention_backward(variant_, tensors, problem.options(), execution);
  }

  const ShardedProblem& problem_;
  Communicator& communicator_;
  const ExecutionOptions& execution_;
  std::string_view variant_;
  const RankMemory& memory_;
  const Call call_;
  KeyTensors own_, results_;
  TensorView dQ_;
  std::int64_t num_left_ = 0;  // calls, where kernels sum dQ
  bool has_begun_ = false;
  std::function<void(const RankOperation&)> attend_;
};

std::vector<ShardTensor> tensors_of(const ForwardTensors& shard, const ShardedProblem& problem,
                                    int rank) {
  const AttentionProblem& whole = problem.whole;
  const std::int64_t queries = problem.query_rows(rank), keys = problem.key_rows(rank);
  return {{"Q", shard.Q, whole.num_heads, queries},
          {"O", shard.O, whole.num_heads, queries},
          {"K", shard.K, whole.num_kv_heads, keys, true},
          {"V", shard.V, whole.num_kv_heads, keys, true}};
}

std::vector<ShardTensor> tensors_of(const BackwardTensors& shard, const ShardedProblem& problem,
                                    int rank) {
  const AttentionProblem& whole = problem.whole;
  const std::int64_t queries = problem.query_rows(rank), keys = problem.key_rows(rank);
  return {{"Q", shard.Q, whole.num_heads, queries},
          {"O", shard.O, whole.num_heads, queries},
          {"dO", shard.dO, whole.num_heads, queries},
          {"dQ", shard.dQ, whole.num_heads, queries},
          {"K", shard.K, whole.num_kv_heads, keys, true},
          {"V", shard.V, whole.num_kv_heads, keys, true},
          {"dK", shard.dK, whole.num_kv_heads, keys},
          {"dV", shard.dV, whole.num_kv_heads, keys}};
}

/// The shard as one GPU's call: checks what does not depend on the other ranks.
void check_alone(const ForwardTensors& shard) { check_forward(shard, {}); }
void check_alone(const BackwardTensors& shard) { check_backward(shard, {}); }

}  // namespace

ShardedCall::ShardedCall(std::string_view variant, const ShardedProblem& problem,
                         Communicator& communicator, const ExecutionOptions& execution)
    : ShardedCall(variant, MakeProblem([&](int) { return problem; }), communicator, execution) {}

ShardedCall::ShardedCall(std::string_view variant, const MakeProblem& make_problem,
                         Communicator& communicator, const ExecutionOptions& execution)
    : communicator_(communicator), execution_(execution) {
  execution_.workspace = nullptr;
  execution_.workspace_bytes = 0;
  execution_.state_in = execution_.state_out = {};
  execution_.keeps_dQ = execution_.continues_dQ = false;
  execution_.first_query = 0;
  agree(communicator, [&] {
    const RankVariant& row = find_rank_variant(variant);
    problem_ = make_problem(communicator.num_ranks());
    check_sharded(problem_);
    if (problem_.shards.num_ranks != communicator.num_ranks()) {
      throw ProblemError("num_ranks", std::to_string(problem_.shards.num_ranks),
                         std::to_string(communicator.num_ranks()) + ", as the communicator");
    }
    check_execution();
    pass_ = row.pass;
    local_variant_ = variant_of_kernel(execution_, pass_);
    const int rank = communicator.rank();
    program_ = row.program(problem_, rank);
    if (pass_ == Pass::kBackward) {
      keeping_ = kernel_that_keeps_dQ(local_variant_, problem_, rank, program_, execution_);
    }
    execution_.keeps_dQ = keeping_ != nullptr;
    workspace_bytes_ =
        RankMemory(problem_, rank, pass_, program_,
                   kernel_workspace_bytes(local_variant_, problem_, program_, execution_), nullptr,
                   execution_.keeps_dQ)
            .bytes();
    return facts_of(variant, problem_, execution_);
  });
}

void ShardedCall::check_execution() const {
  if (execution_.device_key_lengths != nullptr) {
    throw ProblemError("device_key_lengths", "given",
                       "null over several ranks; key_lengths are in host memory");
  }
  if (execution_.device_cu_seqlens_q != nullptr || execution_.device_cu_seqlens_k != nullptr) {
    throw ProblemError("device_cu_seqlens_q", "given", "no packed sequences over several ranks");
  }
}

template <class Tensors>
void ShardedCall::run(Pass pass, const Tensors& shard, void* workspace,
                      std::size_t workspace_bytes) {
  try {
    const int rank = communicator_.rank();
    if (pass != pass_) {
      throw ProblemError("variant", to_string(pass_), "a " + std::string(to_string(pass)) + " one");
    }
    for (const ShardTensor& tensor : tensors_of(shard, problem_, rank)) {
      check_shard(tensor, problem_, rank);
    }
    check_alone(shard);
    ExecutionOptions execution = execution_;
    const auto refusal = keeping_ == nullptr ? std::nullopt : keeping_->refusal(shard);
    if (refusal) execution.keeps_dQ = false;  // another kernel can
    const std::size_t kernel_bytes =
        kernel_workspace_bytes(local_variant_, problem_, program_, execution);
    const RankMemory memory(problem_, rank, pass_, program_, kernel_bytes,
                            static_cast<std::byte*>(workspace), execution.keeps_dQ);
    if (workspace_bytes < memory.bytes() || (workspace == nullptr && memory.bytes() > 0)) {
      throw ProblemError(
          "workspace_bytes", std::to_string(workspace_bytes),
          std::to_string(memory.bytes()) +
              (refusal ? ", because of " + refusal->field + ": " + refusal->value : ""));
    }
    execution.workspace = memory.kernel_workspace();
    execution.workspace_bytes = kernel_bytes;
    ProgramRun(problem_, communicator_, execution, local_variant_, memory).run(program_, shard);
  } catch (const std::exception& error) {
    communicator_.abort(error.what());
    throw;
  }
}

void ShardedCall::forward(const ForwardTensors& shard, void* workspace,
                          std::size_t workspace_bytes) {
  run(Pass::kForward, shard, workspace, workspace_bytes);
}

void ShardedCall::backward(const BackwardTensors& shard, void* workspace,
                           std::size_t workspace_bytes) {
  run(Pass::kBackward, shard, workspace, workspace_bytes);
}

}  // namespace flashlab::cuda
