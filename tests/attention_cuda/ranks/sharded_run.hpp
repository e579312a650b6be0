// One attention by several ranks, a thread each, and its results put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/ranks/communicator.hpp"
#include "attention_cuda/timed_call.hpp"
#include "tests/attention_cpu/textbook.hpp"
#include "tests/attention_cuda/device_copy.hpp"

namespace flashlab::test {

/// Makes the communicator of a rank, on its thread.
using Join = std::function<std::unique_ptr<cuda::Communicator>(int rank)>;

/// Runs `work` in a thread for each rank. Returns what each threw; null: nothing.
std::vector<std::exception_ptr> run_ranks(int num_ranks, const Join& join,
                                          const std::function<void(cuda::Communicator&)>& work);

/// Returns what() of an exception; "" for none.
std::string text_of(const std::exception_ptr& error);

/// The bytes of a tensor [batch, heads, rows, …], row-major, in host memory.
struct HostTensor {
  DataType dtype = DataType::kFloat32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  std::vector<double> values() const;
  bool operator==(const HostTensor&) const = default;
};

/// Q, K, V and dO of a whole problem, and what follows from them.
struct WholeInputs {
  HostTensor Q, K, V, dO;
};
struct WholeResults {
  HostTensor O, lse, dQ, dK, dV;  // the last three are empty without a backward pass
  bool operator==(const WholeResults&) const = default;
};

/// Normally distributed numbers.
WholeInputs drawn_inputs(const AttentionProblem& whole, std::uint64_t seed);

struct ShardedVariants {
  std::string forward, backward;  // backward empty: none
  std::string forward_kernel = {}, backward_kernel = {};
  bool deterministic = false;
};

/// Runs both passes over the ranks. Rethrows what the first failing rank threw.
WholeResults run_sharded(const ShardedProblem& problem, const ShardedVariants& variants,
                         const WholeInputs& inputs, const Join& join);

/// The same on one GPU, by flash2 and bwd-onepass.
WholeResults run_whole(const AttentionProblem& whole, const WholeInputs& inputs);

textbook::Problem textbook_problem(const AttentionProblem& whole);

// The parts of these.

HostTensor fetched(const TensorView& device);
void store_on_device(const HostTensor& host, const TensorView& device);
HostTensor shard_of(const HostTensor& whole, const Shards& shards, int rank);
void put_shard(const HostTensor& shard, const Shards& shards, int rank, HostTensor& whole);
AttentionProblem shard_problem(const ShardedProblem& problem, int rank);
/// All zeros.
WholeResults empty_results(const WholeInputs& inputs, bool has_backward);

/// Q, K, V, dO of a shard on the current device, and its results.
class DeviceShard {
 public:
  DeviceShard(const AttentionProblem& problem, const WholeInputs& inputs);
  ForwardTensors forward() const { return tensors_.forward(); }
  BackwardTensors backward() const { return tensors_.backward(); }

 private:
  cuda::DeviceTensors tensors_;
};

/// Runs one call with the workspace that it needs.
template <class Tensors>
void run_alone(std::string_view variant, const Tensors& tensors, const AttentionProblem& problem,
               cuda::ExecutionOptions execution = {}) {
  const DeviceMemory workspace(cuda::workspace_bytes(variant, problem, execution));
  execution.workspace = workspace.get();
  execution.workspace_bytes = workspace.bytes();
  if constexpr (std::is_same_v<Tensors, ForwardTensors>) {
    cuda::attention_forward(variant, tensors, problem.options(), execution);
  } else {
    cuda::attention_backward(variant, tensors, problem.options(), execution);
  }
  check_call(cudaDeviceSynchronize());
}

}  // namespace flashlab::test
