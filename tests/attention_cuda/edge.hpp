// Attention on data that no benchmark has: one head whose rows are formulas, on every kernel here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "tests/attention_cpu/stored_tensor.hpp"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {

constexpr std::int64_t kQueries = 64, kKeys = 96;

/// Row and column of a tensor's element to its value.
using Filling = std::function<double(std::int64_t, std::int64_t)>;

inline double mixed(std::int64_t row, std::int64_t column) {
  return static_cast<double>((row * 37 + column * 11 + row * column % 7) % 64) / 32 - 1;
}

/// One head. Inputs on the device, and NaN in what is to be written.
struct Edge {
  Edge(DataType dtype, std::int64_t head_dim, const Filling& of_Q, const Filling& of_K,
       std::int64_t num_queries = kQueries, std::int64_t num_keys = kKeys)
      : queries(num_queries),
        keys(num_keys),
        columns(head_dim),
        Q(filled(dtype, num_queries, of_Q)),
        K(filled(dtype, num_keys, of_K)),
        V(filled(dtype, num_keys, mixed)),
        O(make_tensor(dtype, {1, 1, num_queries, head_dim})),
        dO(filled(dtype, num_queries, [](auto i, auto j) { return mixed(j, i); })),
        dQ(make_tensor(dtype, {1, 1, num_queries, head_dim})),
        dK(make_tensor(dtype, {1, 1, num_keys, head_dim})),
        dV(make_tensor(dtype, {1, 1, num_keys, head_dim})),
        lse(make_tensor(DataType::kFloat32, {1, 1, num_queries})) {}

  void forward(const KernelCase& kernel, const AttentionOptions& options = {},
               cuda::ExecutionOptions execution = {}) {
    DeviceCopies copies;
    const ForwardTensors tensors = {copies.view(Q), copies.view(K), copies.view(V), copies.view(O),
                                    copies.view(lse)};
    const AttentionProblem problem = check_forward(tensors, options);
    run(kernel, problem, execution,
        [&] { cuda::attention_forward(kernel.row->variant, tensors, options, execution); });
    copies.fetch();
  }

  void backward(const KernelCase& kernel, const AttentionOptions& options = {},
                cuda::ExecutionOptions execution = {}) {
    DeviceCopies copies;
    const auto on = [&](const StoredTensor& tensor) { return copies.view(tensor); };
    const BackwardTensors tensors = {on(Q),  on(K),  on(V),  on(O), on(lse),
                                     on(dO), on(dQ), on(dK), on(dV)};
    const AttentionProblem problem = check_backward(tensors, options);
    run(kernel, problem, execution,
        [&] { cuda::attention_backward(kernel.row->variant, tensors, options, execution); });
    copies.fetch();
  }

  std::int64_t queries, keys, columns;
  StoredTensor Q, K, V, O, dO, dQ, dK, dV, lse;

 private:
  StoredTensor filled(DataType dtype, std::int64_t rows, const Filling& value) const {
    StoredTensor tensor = make_tensor(dtype, {1, 1, rows, columns});
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) values.push_back(value(i, j));
    }
    tensor.assign(values);
    return tensor;
  }
  template <class Work>
  static void run(const KernelCase& kernel, const AttentionProblem& problem,
                  cuda::ExecutionOptions& execution, const Work& work) {
    execution.kernel = kernel.row->stem;
    execution.products = kernel.arithmetic.products;
    const DeviceMemory workspace(cuda::workspace_bytes(kernel.row->variant, problem, execution));
    execution.workspace = workspace.get();
    execution.workspace_bytes = workspace.bytes();
    work();
    check_call(cudaDeviceSynchronize());
  }
};

/// Calls work(kernel, dtype) for each kernel of the pass and each of its arithmetics.
template <class Work>
void for_each_kernel(Pass pass, const Work& work) {
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) {
    for (const KernelCase& kernel : kernels_here(pass, dtype)) {
      INFO(kernel.name());
      work(kernel, dtype);
    }
  }
}

/// The element (i, j) of a tensor with rows of this many columns.
inline double at(const std::vector<double>& values, std::int64_t i, std::int64_t j,
                 std::int64_t columns) {
  return values[static_cast<std::size_t>(i * columns + j)];
}

/// Relative to 1: a few roundings of the weights and of the result.
inline double tolerance_of(DataType dtype, cuda::Products products) {
  if (dtype == DataType::kBFloat16) return 0x1p-7;
  if (dtype == DataType::kFloat16 || products == cuda::Products::kTensorFloat32) return 0x1p-10;
  return 0x1p-19;
}

}  // namespace flashlab::test
