#include "tests/attention_cuda/ranks/in_order.hpp"

#include <algorithm>
#include <memory>

#include "attention/ranks/call_states.hpp"
#include "attention_cuda/ranks/rank_memory.hpp"
#include "attention_cuda/registry.hpp"
#include "tests/attention_cpu/stored_tensor.hpp"

namespace flashlab::test {
namespace {

/// A sum in fp32, [batch, heads, rows, head_dim].
class HostSum {
 public:
  HostSum(const HostTensor& like, std::int64_t num_rows) : shape_(like.shape), dtype_(like.dtype) {
    shape_[2] = num_rows;
    sum_.resize(static_cast<std::size_t>(shape_[0] * shape_[1] * num_rows * shape_[3]));
  }

  void add(const HostTensor& part, std::int64_t first_row) {
    const std::vector<double> values = part.values();
    const std::int64_t part_elements = part.shape[2] * part.shape[3];
    for (std::int64_t k = 0; k < std::ssize(values); ++k) {
      const std::int64_t head = k / part_elements, within = k % part_elements;
      at((head * shape_[2] + first_row) * shape_[3] + within) +=
          static_cast<float>(values[static_cast<std::size_t>(k)]);
    }
  }
  void add(const HostSum& other) {
    for (std::int64_t k = 0; k < std::ssize(sum_); ++k) {
      at(k) += other.sum_[static_cast<std::size_t>(k)];
    }
  }
  HostTensor stored() {
    HostTensor result = {dtype_, shape_, {}};
    result.bytes.resize(sum_.size() * static_cast<std::size_t>(size_in_bytes(dtype_)));
    for (std::int64_t k = 0; k < std::ssize(sum_); ++k)
      store(result.bytes.data(), dtype_, k, at(k));
    return result;
  }

 private:
  float& at(std::int64_t k) { return sum_[static_cast<std::size_t>(k)]; }
  std::vector<std::int64_t> shape_;
  DataType dtype_;
  std::vector<float> sum_;
};

/// All shards on one GPU.
class OneGpu {
 public:
  OneGpu(const ShardedProblem& problem, const WholeInputs& inputs, const KeyOrder& order,
         const BackwardWay& way)
      : problem_(problem),
        inputs_(inputs),
        order_(order),
        way_(way),
        num_ranks_(problem.shards.num_ranks),
        results_(empty_results(inputs, true)) {
    for (int rank = 0; rank < num_ranks_; ++rank) {
      const auto shard = [&](const HostTensor& whole) {
        return shard_of(whole, problem.shards, rank);
      };
      shards_.push_back(std::make_unique<DeviceShard>(
          shard_problem(problem, rank),
          WholeInputs{shard(inputs.Q), shard(inputs.K), shard(inputs.V), shard(inputs.dO)}));
    }
    for (int rank = 0; rank < num_ranks_; ++rank) kept_.push_back(kept_by(rank));
  }

  WholeResults run() {
    for (int rank = 0; rank < num_ranks_; ++rank) forward(rank);
    backward();
    return results_;
  }

 private:
  /// The rank whose keys a rank takes in step s.
  int key_rank(int rank, int s) const {
    return ((rank + s * order_.step) % num_ranks_ + num_ranks_) % num_ranks_;
  }
  BackwardTensors shard(int rank) const {
    return shards_[static_cast<std::size_t>(rank)]->backward();
  }

  void forward(int rank) {
    const BackwardTensors own = shard(rank);
    const cuda::DeviceTensors m_and_l(fp32_problem(rank), Pass::kForward),
        sums(fp32_problem(rank), Pass::kForward);
    const ForwardState state = {m_and_l.forward().lse, sums.forward().lse, sums.forward().O};
    RankProgram calls;
    for (int s = 0; s < num_ranks_; ++s) {
      const int of_keys = key_rank(rank, s);
      for (const ShardCall& call : problem_.calls(rank, of_keys)) {
        RankOperation& operation = calls.emplace_back();
        operation.key_rank = of_keys;
        operation.call = call;
      }
    }
    for (const RankOperation& operation : with_states(calls, problem_, rank)) {
      const ShardCall& call = operation.call;
      const auto rows = [&](const TensorView& tensor) {
        return cuda::rows_of(tensor, call.queries);
      };
      const ForwardState of_call = {rows(state.m), rows(state.l), rows(state.O)};
      cuda::ExecutionOptions execution;
      if (operation.has_state_in) execution.state_in = of_call;
      if (operation.has_state_out) execution.state_out = of_call;
      const BackwardTensors keys = shard(operation.key_rank);
      const ForwardTensors tensors = {rows(own.Q), cuda::rows_of(keys.K, call.keys),
                                      cuda::rows_of(keys.V, call.keys), rows(own.O), rows(own.lse)};
      run_alone("flash2", tensors, problem_.problem_of(call, operation.key_rank), execution);
    }
    put_shard(fetched(own.O), problem_.shards, rank, results_.O);
    put_shard(fetched(own.lse), problem_.shards, rank, results_.lse);
  }

  void backward() {
    std::vector<HostSum> dQ, dK, dV;
    for (int rank = 0; rank < num_ranks_; ++rank) {
      dQ.emplace_back(inputs_.Q, problem_.query_rows(rank));
      dK.emplace_back(inputs_.K, problem_.key_rows(rank));
      dV.emplace_back(inputs_.V, problem_.key_rows(rank));
    }
    for (int s = 0; s < num_steps(); ++s) {
      for (int rank = 0; rank < num_ranks_; ++rank) {
        const int of_keys = key_rank(rank, s);
        const auto keys = static_cast<std::size_t>(of_keys);
        HostSum pair_dK(inputs_.K, problem_.key_rows(of_keys)),
            pair_dV(inputs_.V, problem_.key_rows(of_keys));
        for (const ShardCall& call : backward_calls(rank, s)) {
          const auto parts = backward(call, rank, of_keys);
          if (!kept_[static_cast<std::size_t>(rank)]) {
            dQ[static_cast<std::size_t>(rank)].add(fetched(parts->backward().dQ),
                                                   call.queries.first);
          }
          const HostTensor dK_part = fetched(parts->backward().dK),
                           dV_part = fetched(parts->backward().dV);
          (order_.adds_pairs_first ? pair_dK : dK[keys]).add(dK_part, call.keys.first);
          (order_.adds_pairs_first ? pair_dV : dV[keys]).add(dV_part, call.keys.first);
        }
        if (!order_.adds_pairs_first) continue;
        dK[keys].add(pair_dK);
        dV[keys].add(pair_dV);
      }
    }
    for (int rank = 0; rank < num_ranks_; ++rank) {
      const auto k = static_cast<std::size_t>(rank);
      put_shard(kept_[k] ? fetched(shard(rank).dQ) : dQ[k].stored(), problem_.shards, rank,
                results_.dQ);
      put_shard(dK[k].stored(), problem_.shards, rank, results_.dK);
      put_shard(dV[k].stored(), problem_.shards, rank, results_.dV);
    }
  }

  int num_steps() const { return num_ranks_ + order_.ends_at_home; }

  std::vector<ShardCall> backward_calls(int rank, int s) const {
    const int of_keys = key_rank(rank, s);
    if (of_keys != rank || !order_.ends_at_home) return problem_.calls(rank, of_keys);
    return problem_.calls_of_half(rank, rank, s == 0 ? 0 : 1);
  }

  /// The gradients of a call.
  std::unique_ptr<DeviceShard> backward(const ShardCall& call, int rank, int key_rank) {
    const BackwardTensors own = shard(rank);
    const AttentionProblem part = problem_.problem_of(call, key_rank);
    auto results = std::make_unique<DeviceShard>(part, WholeInputs{});
    BackwardTensors tensors = results->backward();
    tensors.Q = cuda::rows_of(own.Q, call.queries);
    tensors.O = cuda::rows_of(own.O, call.queries);
    tensors.lse = cuda::rows_of(own.lse, call.queries);
    tensors.dO = cuda::rows_of(own.dO, call.queries);
    tensors.K = cuda::rows_of(shard(key_rank).K, call.keys);
    tensors.V = cuda::rows_of(shard(key_rank).V, call.keys);
    if (kept_[static_cast<std::size_t>(rank)]) {
      add_to_kept(call, rank, key_rank, tensors);
    } else {
      run_alone("bwd-onepass", tensors, part, execution());
    }
    return results;
  }

  cuda::ExecutionOptions execution() const {
    cuda::ExecutionOptions execution;
    execution.deterministic = way_.deterministic;
    return execution;
  }

  /// What the calls of a rank leave for the next one.
  struct Kept {
    Kept(std::size_t bytes, std::int64_t calls) : workspace(bytes), num_calls(calls) {}
    DeviceMemory workspace;
    std::int64_t num_calls, num_done = 0;
  };

  /// Null if the kernel cannot sum dQ over the calls of a rank.
  std::unique_ptr<Kept> kept_by(int rank) const {
    std::size_t bytes = 0;
    std::int64_t num_calls = 0;
    for (int s = 0; s < num_steps(); ++s) {
      for (const ShardCall& call : backward_calls(rank, s)) {
        const AttentionProblem part = with_all_queries(call, key_rank(rank, s));
        const bool reaches_last =
            call.queries.first % 128 == 0 && call.queries.end == problem_.query_rows(rank);
        if (!reaches_last || !way_.keeps_dQ ||
            !cuda::find_kernel("bwd-onepass", part, execution(), cuda::compute_capability())
                 .keeps_dQ) {
          return nullptr;
        }
        bytes = std::max(bytes, cuda::workspace_bytes("bwd-onepass", part, execution()));
        ++num_calls;
      }
    }
    if (num_calls == 0) return nullptr;
    return std::make_unique<Kept>(bytes, num_calls);
  }

  /// The call with all queries of the rank: those before call.queries see none of its keys.
  AttentionProblem with_all_queries(ShardCall call, int key_rank) const {
    call.query_offset -= call.queries.first;
    call.queries.first = 0;
    return problem_.problem_of(call, key_rank);
  }

  /// The kernel sums dQ over all calls of the rank, and writes it in the last one.
  void add_to_kept(const ShardCall& call, int rank, int key_rank, BackwardTensors tensors) {
    Kept& kept = *kept_[static_cast<std::size_t>(rank)];
    const BackwardTensors own = shard(rank);
    tensors.Q = own.Q;
    tensors.O = own.O;
    tensors.lse = own.lse;
    tensors.dO = own.dO;
    tensors.dQ = own.dQ;
    cuda::ExecutionOptions summed = execution();
    summed.workspace = kept.workspace.get();
    summed.workspace_bytes = kept.workspace.bytes();
    summed.first_query = call.queries.first;
    summed.continues_dQ = kept.num_done++ > 0;
    summed.keeps_dQ = kept.num_done < kept.num_calls;
    cuda::attention_backward("bwd-onepass", tensors, with_all_queries(call, key_rank).options(),
                             summed);
    check_call(cudaDeviceSynchronize());
  }

  AttentionProblem fp32_problem(int rank) const {
    AttentionProblem result = shard_problem(problem_, rank);
    result.dtype = DataType::kFloat32;
    return result;
  }

  const ShardedProblem& problem_;
  const WholeInputs& inputs_;
  const KeyOrder order_;
  const BackwardWay way_;
  const int num_ranks_;
  WholeResults results_;
  std::vector<std::unique_ptr<DeviceShard>> shards_;
  std::vector<std::unique_ptr<Kept>> kept_;  // of each rank
};

}  // namespace

WholeResults run_in_order(const ShardedProblem& problem, const WholeInputs& inputs,
                          const KeyOrder& order, const BackwardWay& way) {
  return OneGpu(problem, inputs, order, way).run();
}

}  // namespace flashlab::test
