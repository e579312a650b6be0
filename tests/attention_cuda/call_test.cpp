// What a call does beside computing: the same bits each time, refusals, key lengths wherever they
// lie, kernels told one by one, softmax over rows.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/softmax_rows.hpp"
#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

// Two tiles and a rest, or, where threads are emulated, one and a rest.
constexpr PlainSizes kSizes = {FLASHLAB_CALL_BATCH,       FLASHLAB_CALL_HEADS,
                               FLASHLAB_CALL_HEADS / 2,   FLASHLAB_CALL_SEQLEN,
                               FLASHLAB_CALL_SEQLEN + 20, 40};

/// Row-major arrays of one type on the device: normal inputs, NaN in what is to be written.
class Problem {
 public:
  explicit Problem(DataType dtype, const PlainSizes& sizes = kSizes) : dtype_(dtype) {
    const Shape q = {sizes.batch, sizes.num_heads, sizes.seqlen_q, sizes.head_dim},
                k = {sizes.batch, sizes.num_kv_heads, sizes.seqlen_k, sizes.head_dim};
    const PlainTensors<float> numbers(sizes);
    Q = tensor(q, numbers.Q);
    K = tensor(k, numbers.K);
    V = tensor(k, numbers.V);
    dO = tensor(q, numbers.dO);
    O = make_tensor(dtype, q);
    lse = make_tensor(DataType::kFloat32, {q[0], q[1], q[2]});
    dQ = make_tensor(dtype, q);
    dK = make_tensor(dtype, k);
    dV = make_tensor(dtype, k);
  }

  /// Runs flash2 and, for a backward kernel, that; everything written, one after the other.
  std::vector<double> run(const KernelCase& kernel, const AttentionOptions& options = {},
                          cuda::ExecutionOptions execution = {}, bool gives_workspace = true) {
    DeviceCopies copies;
    const auto on = [&](const StoredTensor& tensor) { return copies.view(tensor); };
    const ForwardTensors forward = {on(Q), on(K), on(V), on(O), on(lse)};
    const AttentionProblem problem = check_forward(forward, options);
    const auto call = [&](std::string_view variant, const auto& work) {
      const DeviceMemory workspace(
          gives_workspace ? cuda::workspace_bytes(variant, problem, execution) : 0);
      execution.workspace = workspace.get();
      execution.workspace_bytes = workspace.bytes();
      work();
      check_call(cudaDeviceSynchronize());
    };
    const bool is_backward = kernel.row->backward != nullptr;
    // The forward kernel of fp16x3 takes no packed sequences; tf32x3 is as exact.
    const bool is_fp16x3 = kernel.arithmetic.products == cuda::Products::kFloat16x3;
    execution.products =
        is_backward && is_fp16x3 ? cuda::Products::kTensorFloat32x3 : kernel.arithmetic.products;
    execution.kernel = is_backward ? "" : kernel.row->stem;
    const std::string_view variant = is_backward ? "flash2" : kernel.row->variant;
    const bool rounds = std::exchange(execution.round_statistics, false);
    call(variant, [&] { cuda::attention_forward(variant, forward, options, execution); });
    if (is_backward) {
      execution.products = kernel.arithmetic.products;
      execution.kernel = kernel.row->stem;
      execution.round_statistics = rounds;
      call(kernel.row->variant, [&] {
        cuda::attention_backward(
            kernel.row->variant,
            {on(Q), on(K), on(V), on(O), on(lse), on(dO), on(dQ), on(dK), on(dV)}, options,
            execution);
      });
    }
    copies.fetch();
    std::vector<double> all;
    for (const StoredTensor* const result :
         is_backward ? std::vector{&dQ, &dK, &dV} : std::vector{&O, &lse}) {
      const std::vector<double> values = result->values();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  StoredTensor tensor(const Shape& shape, const std::vector<float>& numbers) const {
    StoredTensor result = make_tensor(dtype_, shape);
    result.assign({numbers.begin(), numbers.end()});
    return result;
  }

  DataType dtype_;
  StoredTensor Q, K, V, dO, O, lse, dQ, dK, dV;
};

/// Every kernel that takes a type, of either pass.
std::vector<KernelCase> all_kernels(DataType dtype) {
  std::vector<KernelCase> all = kernels_here(Pass::kForward, dtype);
  for (const KernelCase& kernel : kernels_here(Pass::kBackward, dtype)) all.push_back(kernel);
  return all;
}

double norm_of_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    squares += (a[k] - b[k]) * (a[k] - b[k]);
    size += a[k] * a[k];
  }
  return std::sqrt(squares / size);
}

class Names : public cuda::KernelObserver {
 public:
  void before(std::string_view kernel, cuda::Stream) override { begun.emplace_back(kernel); }
  void after(std::string_view kernel, cuda::Stream) override { ended.emplace_back(kernel); }
  std::vector<std::string> begun, ended;
};

}  // namespace

TEST_CASE("bwd-twopass-loads-o has no delta but what its two passes compute from O",
          "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  for (const KernelCase& kernel : kernels_here(Pass::kBackward, DataType::kFloat32)) {
    if (kernel.row->variant != "bwd-twopass-loads-o") continue;
    Names names;
    cuda::ExecutionOptions execution;
    execution.observer = &names;
    Problem(DataType::kFloat32, {1, 2, 1, 6, 9, 40}).run(kernel, {}, execution);
    CHECK(names.begun == std::vector<std::string>{"flash2_fp32",
                                                  "bwd_twopass_loads_o_fp32_dQ_kernel",
                                                  "bwd_twopass_loads_o_fp32_dKV_kernel"});
  }
}

TEST_CASE("a call gives the same bits each time, bwd-onepass but for dQ", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    for (const KernelCase& kernel : all_kernels(dtype)) {
      INFO(kernel.name());
      Problem problem(dtype);
      const AttentionOptions options = {Mask::kCausalBottomRight, {}, {}};
      std::vector<double> first = problem.run(kernel, options);
      std::vector<double> second = problem.run(kernel, options);
      if (kernel.row->additions != cuda::Additions::kNone) {
        const auto end_of_dQ = kSizes.batch * kSizes.num_heads * kSizes.seqlen_q * kSizes.head_dim;
        first.erase(first.begin(), first.begin() + end_of_dQ);
        second.erase(second.begin(), second.begin() + end_of_dQ);
      }
      CHECK(first == second);
    }
  }
}

TEST_CASE("a deterministic call gives dQ with the same bits each time", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  for (const KernelCase& kernel : kernels_here(Pass::kBackward, DataType::kBFloat16)) {
    if (kernel.row->additions != cuda::Additions::kAlsoOrdered) continue;
    INFO(kernel.name());
    Problem problem(DataType::kBFloat16);
    cuda::ExecutionOptions execution;
    execution.deterministic = true;
    const std::vector<double> first = problem.run(kernel, {}, execution);
    constexpr int kRuns = 4;
    for (int k = 1; k < kRuns; ++k) REQUIRE(problem.run(kernel, {}, execution) == first);
  }
}

TEST_CASE("key lengths may lie in device memory, where values beyond the ends count as the ends",
          "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  PlainSizes two_entries = kSizes;
  two_entries.batch = 2;
  const std::vector<std::int64_t> lengths = {0, kSizes.seqlen_k}, beyond = {-7, 1'000'000};
  const DeviceMemory on_device(beyond.size() * sizeof(beyond[0]));
  check_call(cudaMemcpy(on_device.get(), beyond.data(), on_device.bytes(), cudaMemcpyHostToDevice));
  for (const KernelCase& kernel : all_kernels(DataType::kFloat32)) {
    if (kernel.row->variant == "bwd-onepass") continue;  // other bits each time
    INFO(kernel.name());
    Problem problem(DataType::kFloat32, two_entries);
    const std::vector<double> expected = problem.run(kernel, {Mask::kNone, {}, lengths});
    cuda::ExecutionOptions execution;
    execution.device_key_lengths = static_cast<const std::int64_t*>(on_device.get());
    CHECK(problem.run(kernel, {}, execution) == expected);
  }
}

TEST_CASE("bounds in device memory that are no bounds read and write nothing else",
          "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  const std::vector<std::vector<std::int64_t>> wrong = {
      {5, 2, 1'000'000, -3}, {-9, -9, -9, -9}, {1'000'000, 0, 3, 2}};
  for (const auto& bounds : wrong) {
    const DeviceMemory on_device(bounds.size() * sizeof(bounds[0]));
    check_call(
        cudaMemcpy(on_device.get(), bounds.data(), on_device.bytes(), cudaMemcpyHostToDevice));
    for (const KernelCase& kernel : all_kernels(DataType::kFloat32)) {
      if (!kernel.row->takes_packed) continue;
      INFO(kernel.name());
      PlainSizes one_entry = kSizes;
      one_entry.batch = 1;
      Problem problem(DataType::kFloat32, one_entry);
      cuda::ExecutionOptions execution;
      execution.device_cu_seqlens_q = static_cast<const std::int64_t*>(on_device.get());
      execution.device_cu_seqlens_k = execution.device_cu_seqlens_q;
      execution.num_sequences = std::ssize(bounds) - 1;
      CHECK_NOTHROW(problem.run(kernel, {}, execution));
    }
  }
}

TEST_CASE("rounded statistics cost the gradients precision", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  for (const KernelCase& kernel : kernels_here(Pass::kBackward, DataType::kBFloat16)) {
    INFO(kernel.name());
    Problem problem(DataType::kBFloat16);
    cuda::ExecutionOptions execution;
    const std::vector<double> exact = problem.run(kernel, {}, execution);
    execution.round_statistics = true;
    const double difference = norm_of_difference(exact, problem.run(kernel, {}, execution));
    CHECK(difference > 1e-4);  // lse of about 5 is off by up to 2^-7
    CHECK(difference < 5e-2);
  }
}

TEST_CASE("an observer is told of every kernel before and after", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  for (const KernelCase& kernel : all_kernels(DataType::kFloat32)) {
    INFO(kernel.name());
    Names names;
    cuda::ExecutionOptions execution;
    execution.observer = &names;
    Problem(DataType::kFloat32, {1, 2, 1, 6, 9, 40}).run(kernel, {}, execution);
    CHECK(!names.begun.empty());
    CHECK(names.begun == names.ended);
  }
}

TEST_CASE("a wrong call is refused with argument, value and what was expected", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  const auto refusal = [](const cuda::ExecutionOptions& execution, DataType dtype,
                          std::string_view variant) -> std::string {
    AttentionProblem problem = {1, 1, 1, 8, 8, 64, dtype, Mask::kNone, 1, {}};
    try {
      cuda::workspace_bytes(variant, problem, execution);
    } catch (const ProblemError& error) {
      return error.what();
    }
    return "";
  };
  cuda::ExecutionOptions tf32, unknown, rounded, ordered, state;
  tf32.products = cuda::Products::kTensorFloat32;
  unknown.kernel = "flash3";
  rounded.round_statistics = true;
  ordered.deterministic = true;
  float number = 0;
  state.state_out.m = view(&number, {1});
  CHECK_THAT(refusal({}, DataType::kFloat64, "flash2"), contains("dtype: double: expected float"));
  CHECK_THAT(refusal(tf32, DataType::kBFloat16, "flash2"),
             contains("dtype: bf16 with tf32 products: expected"));
  CHECK_THAT(refusal(unknown, DataType::kFloat32, "flash2"),
             contains("kernel: flash3: expected a kernel of flash2"));
  CHECK_THAT(refusal(rounded, DataType::kFloat32, "bwd-onepass"),
             contains("round_statistics: true: expected a backward pass of bf16 or fp16"));
  CHECK_THAT(refusal(ordered, DataType::kFloat32, "bwd-onepass"),
             contains("deterministic: true: expected false with bwd_onepass_fp32, or bwd-twopass"));
  CHECK(refusal(ordered, DataType::kFloat32, "bwd-twopass") == "");
  CHECK_THAT(refusal(state, DataType::kFloat32, "flash1"),
             contains("state_out: given: expected no state for flash1"));
  CHECK_THAT(refusal({}, DataType::kFloat32, "flash9"), contains("variant: flash9"));
}

TEST_CASE("tensors in host memory and a missing workspace are refused by name", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  PlainTensors<float> host({1, 1, 1, 8, 8, 16});
  CHECK_THROWS_WITH(cuda::attention_forward("flash2", host.forward_tensors()),
                    contains("Q: host memory: expected device memory"));
  const DeviceMemory memory(4 * 8 * 16 * sizeof(float));
  const auto tensor = [&](int index) {
    return view(static_cast<float*>(memory.get()) + index * 8 * 16, {1, 1, 8, 16});
  };
  CHECK_THROWS_WITH(
      cuda::attention_forward("naive", {tensor(0), tensor(1), tensor(2), tensor(3), {}}),
      contains("workspace_bytes: 0: expected"));
}

TEST_CASE("query tiles from a counter give the bits that each block's own tile gives",
          "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  int num_multiprocessors = 0;
  check_call(cudaDeviceGetAttribute(&num_multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  // With three tiles for each head, some blocks take two or more.
  const PlainSizes sizes = {1, num_multiprocessors / 2 + 1, 1, 300, 300, 104};
  AttentionOptions causal, window;
  causal.mask = window.mask = Mask::kCausalTopLeft;
  window.window_left = 150;
  int num_kernels = 0;
  for (const DataType dtype : {DataType::kBFloat16, DataType::kFloat16}) {
    for (const KernelCase& kernel : kernels_here(Pass::kForward, dtype)) {
      if (!kernel.row->works_without_workspace) continue;
      for (const AttentionOptions& options : {causal, window}) {
        INFO(kernel.name() << (options.window_left ? ", window" : ""));
        Problem problem(dtype, sizes);
        const std::vector<double> counted = problem.run(kernel, options);
        CHECK(counted == problem.run(kernel, options, {}, /*gives_workspace=*/false));
        CHECK(counted == problem.run(kernel, options));
      }
      ++num_kernels;
    }
  }
  const AttentionProblem long_one = {
      1, 1, 1, 4096, 4096, 128, DataType::kBFloat16, Mask::kCausalTopLeft, 1, {}};
  const bool is_sm90 =
      cuda::find_kernel("flash2", long_one, {}, cuda::compute_capability()).works_without_workspace;
  CHECK((num_kernels > 0) >= is_sm90);
  if (is_sm90) CHECK(cuda::workspace_bytes("flash2", long_one) > 0);
}

TEST_CASE("flash2 takes no memory beside O and lse", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) {
    const AttentionProblem problem = {4, 8, 8, 65536, 65536, 64, dtype, Mask::kNone, 1, {}};
    CHECK(cuda::workspace_bytes("flash2", problem) == 0);
  }
}

TEST_CASE("softmax over rows is the same in two passes and in three", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  constexpr std::int64_t kRows = 5, kColumns = 3001;
  std::vector<float> x(kRows * kColumns), y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t row = k / kColumns;
    x[k] = 10 * std::sin(static_cast<float>(k)) + static_cast<float>(row);
  }
  const std::size_t bytes = x.size() * sizeof(float);
  const DeviceMemory from(bytes), to(bytes);
  check_call(cudaMemcpy(from.get(), x.data(), bytes, cudaMemcpyHostToDevice));
  for (const auto algorithm : {cuda::SoftmaxRows::kThreePass, cuda::SoftmaxRows::kOnline}) {
    cuda::softmax_rows(algorithm, static_cast<const float*>(from.get()),
                       static_cast<float*>(to.get()), kRows, kColumns, {});
    check_call(cudaMemcpy(y.data(), to.get(), bytes, cudaMemcpyDeviceToHost));
    for (std::int64_t row = 0; row < kRows; ++row) {
      double sum = 0, largest_error = 0;
      for (std::int64_t c = 0; c < kColumns; ++c) sum += std::exp(double{x[row * kColumns + c]});
      for (std::int64_t c = 0; c < kColumns; ++c) {
        const double exact = std::exp(double{x[row * kColumns + c]}) / sum;
        largest_error = std::fmax(largest_error, std::fabs(y[row * kColumns + c] / exact - 1));
      }
      CHECK(largest_error < 1e-5);
    }
  }
}
