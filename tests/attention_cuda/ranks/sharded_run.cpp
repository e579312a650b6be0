#include "tests/attention_cuda/ranks/sharded_run.hpp"

#include <cuda_runtime.h>

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "attention_cuda/timed_call.hpp"
#include "tests/attention_cpu/stored_tensor.hpp"
#include "tests/attention_cuda/device_copy.hpp"

namespace flashlab::test {
HostTensor fetched(const TensorView& device) {
  HostTensor host = {device.dtype, device.shape, std::vector<std::byte>(cuda::bytes_of(device))};
  if (!host.bytes.empty()) {
    check_call(
        cudaMemcpy(host.bytes.data(), device.data, host.bytes.size(), cudaMemcpyDeviceToHost));
  }
  return host;
}

void store_on_device(const HostTensor& host, const TensorView& device) {
  if (host.bytes.empty()) return;
  check_call(cudaMemcpy(device.data, host.bytes.data(), host.bytes.size(), cudaMemcpyHostToDevice));
}

namespace {

/// Copies rows of all heads.
void copy_rows(const HostTensor& from, std::int64_t from_row, HostTensor& to, std::int64_t to_row,
               std::int64_t count) {
  const std::int64_t row_elements = from.shape.size() > 3 ? from.shape[3] : 1,
                     bytes = row_elements * size_in_bytes(from.dtype);
  if (count == 0) return;
  for (std::int64_t head = 0; head < from.shape[0] * from.shape[1]; ++head) {
    std::memcpy(to.bytes.data() + (head * to.shape[2] + to_row) * bytes,
                from.bytes.data() + (head * from.shape[2] + from_row) * bytes,
                static_cast<std::size_t>(count * bytes));
  }
}

HostTensor empty_like(const HostTensor& tensor, std::int64_t rows) {
  HostTensor result = {tensor.dtype, tensor.shape, {}};
  result.shape[2] = rows;
  std::int64_t bytes = size_in_bytes(tensor.dtype);
  for (const std::int64_t size : result.shape) bytes *= size;
  result.bytes.resize(static_cast<std::size_t>(bytes));
  return result;
}

}  // namespace

HostTensor shard_of(const HostTensor& whole, const Shards& shards, int rank) {
  HostTensor result = empty_like(whole, shards.num_rows(rank, whole.shape[2]));
  for (const ShardPiece& piece : shards.pieces(rank, whole.shape[2])) {
    copy_rows(whole, piece.first_token, result, piece.first_row, piece.count);
  }
  return result;
}

void put_shard(const HostTensor& shard, const Shards& shards, int rank, HostTensor& whole) {
  for (const ShardPiece& piece : shards.pieces(rank, whole.shape[2])) {
    copy_rows(shard, piece.first_row, whole, piece.first_token, piece.count);
  }
}

AttentionProblem shard_problem(const ShardedProblem& problem, int rank) {
  AttentionProblem result = problem.whole;
  result.seqlen_q = problem.query_rows(rank);
  result.seqlen_k = problem.key_rows(rank);
  return result;
}

/// Results that are all 0.
WholeResults empty_results(const WholeInputs& inputs, bool has_backward) {
  WholeResults results;
  results.O = empty_like(inputs.Q, inputs.Q.shape[2]);
  results.lse = {DataType::kFloat32, {inputs.Q.shape.begin(), inputs.Q.shape.begin() + 3}, {}};
  results.lse = empty_like(results.lse, inputs.Q.shape[2]);
  if (!has_backward) return results;
  results.dQ = results.O;
  results.dK = results.dV = empty_like(inputs.K, inputs.K.shape[2]);
  return results;
}

DeviceShard::DeviceShard(const AttentionProblem& problem, const WholeInputs& inputs)
    : tensors_(problem, Pass::kBackward) {
  const BackwardTensors all = tensors_.backward();
  store_on_device(inputs.Q, all.Q);
  store_on_device(inputs.K, all.K);
  store_on_device(inputs.V, all.V);
  store_on_device(inputs.dO, all.dO);
}

std::vector<std::exception_ptr> run_ranks(int num_ranks, const Join& join,
                                          const std::function<void(cuda::Communicator&)>& work) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const std::unique_ptr<cuda::Communicator> communicator = join(rank);
        work(*communicator);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

std::string text_of(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

std::vector<double> HostTensor::values() const {
  std::vector<double> result;
  const std::int64_t count = std::ssize(bytes) / size_in_bytes(dtype);
  for (std::int64_t k = 0; k < count; ++k) result.push_back(load(bytes.data(), dtype, k));
  return result;
}

WholeInputs drawn_inputs(const AttentionProblem& whole, std::uint64_t seed) {
  const cuda::DeviceTensors tensors(whole, Pass::kBackward);
  for (const TensorView& input : tensors.inputs()) cuda::draw_normal(input, seed++, nullptr);
  check_call(cudaDeviceSynchronize());
  const BackwardTensors all = tensors.backward();
  return {fetched(all.Q), fetched(all.K), fetched(all.V), fetched(all.dO)};
}

WholeResults run_sharded(const ShardedProblem& problem, const ShardedVariants& variants,
                         const WholeInputs& inputs, const Join& join) {
  WholeResults results = empty_results(inputs, !variants.backward.empty());
  std::mutex mutex;
  const auto errors =
      run_ranks(problem.shards.num_ranks, join, [&](cuda::Communicator& communicator) {
        const int rank = communicator.rank();
        const auto shard = [&](const HostTensor& whole) {
          return shard_of(whole, problem.shards, rank);
        };
        const DeviceShard own(shard_problem(problem, rank), {shard(inputs.Q), shard(inputs.K),
                                                             shard(inputs.V), shard(inputs.dO)});
        const auto execution = [](const std::string& kernel) {
          cuda::ExecutionOptions options;
          options.kernel = kernel;
          return options;
        };
        cuda::ShardedCall forward(variants.forward, problem, communicator,
                                  execution(variants.forward_kernel));
        const DeviceMemory workspace(forward.workspace_bytes());
        forward.forward(own.forward(), workspace.get(), workspace.bytes());
        communicator.finish(nullptr);
        if (!variants.backward.empty()) {
          cuda::ExecutionOptions ordered = execution(variants.backward_kernel);
          ordered.deterministic = variants.deterministic;
          cuda::ShardedCall backward(variants.backward, problem, communicator, ordered);
          const DeviceMemory memory(backward.workspace_bytes());
          backward.backward(own.backward(), memory.get(), memory.bytes());
          communicator.finish(nullptr);
        }
        const BackwardTensors all = own.backward();
        const std::lock_guard lock(mutex);
        const auto put = [&](const TensorView& tensor, HostTensor& whole) {
          put_shard(fetched(tensor), problem.shards, rank, whole);
        };
        put(all.O, results.O);
        put(all.lse, results.lse);
        if (variants.backward.empty()) return;
        put(all.dQ, results.dQ);
        put(all.dK, results.dK);
        put(all.dV, results.dV);
      });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return results;
}

WholeResults run_whole(const AttentionProblem& whole, const WholeInputs& inputs) {
  const DeviceShard all(whole, inputs);
  run_alone("flash2", all.forward(), whole, {});
  run_alone("bwd-onepass", all.backward(), whole, {});
  const BackwardTensors tensors = all.backward();
  return {fetched(tensors.O), fetched(tensors.lse), fetched(tensors.dQ), fetched(tensors.dK),
          fetched(tensors.dV)};
}

textbook::Problem textbook_problem(const AttentionProblem& whole) {
  textbook::Problem result;
  result.batch = whole.batch;
  result.num_heads = whole.num_heads;
  result.num_kv_heads = whole.num_kv_heads;
  result.seqlen_q = whole.seqlen_q;
  result.seqlen_k = whole.seqlen_k;
  result.head_dim = whole.head_dim;
  result.softmax_scale = whole.softmax_scale;
  result.key_lengths = whole.key_lengths;
  result.window_left = whole.window_left;
  result.window_right = whole.window_right;
  result.query_offset = whole.query_offset;
  result.causal = whole.mask == Mask::kNone            ? textbook::Causal::kNo
                  : whole.mask == Mask::kCausalTopLeft ? textbook::Causal::kTopLeft
                                                       : textbook::Causal::kBottomRight;
  return result;
}

}  // namespace flashlab::test
