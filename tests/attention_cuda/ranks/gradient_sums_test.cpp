// Parts of gradients, added to rows of a sum, and the sum in the tensors' type and strides.
#include "attention_cuda/detail/gradient_sums.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::int64_t kBatch = 2, kHeads = 3;

/// Numbers that float holds exactly.
std::vector<float> numbers(std::int64_t count, int first) {
  std::vector<float> result;
  for (std::int64_t k = 0; k < count; ++k) result.push_back(static_cast<float>(first + k));
  return result;
}

class DeviceFloats {
 public:
  explicit DeviceFloats(const std::vector<float>& values)
      : memory_(values.size() * sizeof(float)), count_(values.size()) {
    check_call(cudaMemcpy(memory_.get(), values.data(), memory_.bytes(), cudaMemcpyHostToDevice));
  }
  TensorView view(std::vector<std::int64_t> shape, std::int64_t offset = 0) const {
    const std::vector<std::int64_t> strides = row_major(shape);
    return {static_cast<float*>(memory_.get()) + offset, DataType::kFloat32, std::move(shape),
            strides};
  }
  std::vector<float> values() const {
    std::vector<float> result(count_);
    check_call(cudaMemcpy(result.data(), memory_.get(), memory_.bytes(), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  test::DeviceMemory memory_;
  std::size_t count_;
};

}  // namespace

TEST_CASE("a part of a gradient is added to its rows of each head, and to no others", "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  const AttentionProblem problem;
  const cuda::ExecutionOptions options;
  const cuda::Call call = {problem, options, nullptr, nullptr};
  // Heads of less than a block, of several, and of an odd head_dim, which is added one by one.
  struct Sizes {
    std::int64_t sum_rows, part_rows, first_row, head_dim;
  };
  for (const auto& [sum_rows, part_rows, first_row, head_dim] :
       {Sizes{5, 2, 1, 8}, {70, 40, 30, 64}, {9, 9, 0, 3}, {4, 0, 2, 8}}) {
    INFO(part_rows << " of " << sum_rows << " rows from " << first_row << ", " << head_dim);
    const std::int64_t of_sum = sum_rows * head_dim, of_part = part_rows * head_dim;
    const std::vector<float> before = numbers(kBatch * kHeads * of_sum, 7),
                             part = numbers(kBatch * kHeads * of_part, 1000);
    const DeviceFloats sum_on_device(before), part_on_device(part);
    cuda::add_gradient(call, part_on_device.view({kBatch, kHeads, part_rows, head_dim}),
                       sum_on_device.view({kBatch, kHeads, sum_rows, head_dim}), first_row);
    check_call(cudaDeviceSynchronize());
    std::vector<float> expected = before;
    for (std::int64_t head = 0; head < kBatch * kHeads; ++head) {
      for (std::int64_t k = 0; k < of_part; ++k) {
        expected[static_cast<std::size_t>(head * of_sum + first_row * head_dim + k)] +=
            part[static_cast<std::size_t>(head * of_part + k)];
      }
    }
    CHECK(sum_on_device.values() == expected);
  }
}

TEST_CASE("a sum is stored with the strides of the gradient, wherever that begins", "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  const AttentionProblem problem;
  const cuda::ExecutionOptions options;
  const cuda::Call call = {problem, options, nullptr, nullptr};
  constexpr std::int64_t kRows = 10, kHeadDim = 8, kCount = kBatch * kHeads * kRows * kHeadDim;
  const std::vector<float> values = numbers(kCount, 1);
  const DeviceFloats sum(values);
  const std::vector<std::int64_t> shape = {kBatch, kHeads, kRows, kHeadDim};
  const std::vector<float> empty(static_cast<std::size_t>(kCount + 2), 0);
  for (const std::int64_t offset : {0, 1}) {  // 1: four elements do not begin where vectors may
    const DeviceFloats result(empty);
    cuda::store_gradient(call, sum.view(shape), result.view(shape, offset));
    check_call(cudaDeviceSynchronize());
    std::vector<float> expected = empty;
    std::copy(values.begin(), values.end(), expected.begin() + offset);
    CHECK(result.values() == expected);
  }
  const DeviceFloats result(empty);
  TensorView columns_first = result.view(shape);
  columns_first.strides = {kHeads * kRows * kHeadDim, kRows * kHeadDim, 1, kRows};
  cuda::store_gradient(call, sum.view(shape), columns_first);
  check_call(cudaDeviceSynchronize());
  const std::vector<float> stored = result.values();
  bool is_right = true;
  for (std::int64_t k = 0; k < kCount; ++k) {
    const std::int64_t head = k / (kRows * kHeadDim), row = k / kHeadDim % kRows,
                       column = k % kHeadDim;
    is_right &= stored[static_cast<std::size_t>(head * kRows * kHeadDim + column * kRows + row)] ==
                values[static_cast<std::size_t>(k)];
  }
  CHECK(is_right);
}
