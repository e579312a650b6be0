// Windows and packed sequences through flashlab.h.
#include <array>
#include <optional>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "tests/attention_cuda/interface_problem.hpp"
#include "tests/attention_cuda/kernels_here.hpp"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("a window in C is the window in C++", "[c]") {
  FLASHLAB_NEEDS_GPU();
  struct Side {
    std::optional<std::int64_t> left, right;
  };
  for (const auto& [left, right] : {Side{3, {}}, Side{{}, 0}, Side{0, 5}}) {
    InterfaceProblem in_c(DataType::kBFloat16), in_cpp(DataType::kBFloat16);
    AttentionOptions options;
    options.window_left = left;
    options.window_right = right;
    cuda::attention_forward("flash2", in_cpp.forward, options);
    in_c.options.variant = "flash2";
    in_c.options.has_window_left = left ? 1 : 0;
    in_c.options.has_window_right = right ? 1 : 0;
    in_c.options.window_left = left.value_or(-7);  // not read
    in_c.options.window_right = right.value_or(-7);
    REQUIRE(in_c.run() == FLASHLAB_OK);
    CHECK(in_c.results() == in_cpp.results());
  }
}

TEST_CASE("packed sequences in C may be in host or in device memory", "[c]") {
  FLASHLAB_NEEDS_GPU();
  const Shape shape = {1, 3, 37, 16};
  const std::array<std::int64_t, 4> cu_seqlens_q = {0, 5, 5, 37}, cu_seqlens_k = {0, 20, 30, 37};
  DeviceMemory workspace(4096), on_device(2 * sizeof(cu_seqlens_q));
  auto* const device_q = static_cast<std::int64_t*>(on_device.get());
  const auto copy = [](std::int64_t* to, const auto& from) {
    check_call(cudaMemcpy(to, from.data(), sizeof(from), cudaMemcpyHostToDevice));
  };
  copy(device_q, cu_seqlens_q);
  copy(device_q + 4, cu_seqlens_k);
  const auto of_one_batch = [&](flashlab_tensor& tensor) { tensor.shape[0] = shape[0]; };
  const auto prepare = [&](InterfaceProblem& problem) {
    for (flashlab_tensor* tensor :
         {&problem.c_forward.Q, &problem.c_forward.K, &problem.c_forward.V, &problem.c_forward.O,
          &problem.c_forward.lse}) {
      of_one_batch(*tensor);
    }
    problem.options.variant = "flash2";
    problem.options.mask = FLASHLAB_MASK_CAUSAL_BOTTOM_RIGHT;
    problem.options.num_sequences = 3;
    problem.options.workspace = workspace.get();
    problem.options.workspace_bytes = workspace.bytes();
  };
  InterfaceProblem from_host(DataType::kBFloat16), from_device(DataType::kBFloat16);
  prepare(from_host);
  from_host.options.cu_seqlens_q = cu_seqlens_q.data();
  from_host.options.cu_seqlens_k = cu_seqlens_k.data();
  const flashlab_status status = from_host.run();
  INFO(error_text());
  REQUIRE(status == FLASHLAB_OK);
  prepare(from_device);
  from_device.options.device_cu_seqlens_q = device_q;
  from_device.options.device_cu_seqlens_k = device_q + 4;
  REQUIRE(from_device.run() == FLASHLAB_OK);
  // The second batch entry is not written: NaN, which equals nothing.
  const std::vector<double> host_results = from_host.results(), device = from_device.results();
  for (std::size_t k = 0; k < static_cast<std::size_t>(3 * 37 * 16); ++k) {
    REQUIRE(device[k] == host_results[k]);
  }
  from_device.options.device_cu_seqlens_k = nullptr;
  CHECK(from_device.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "device_cu_seqlens_k: null: expected device memory: the bounds of both");
  from_host.options.num_sequences = 2;
  CHECK(from_host.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() ==
        "cu_seqlens_q: the last entry is 5: expected bounds that rise from 0 to seqlen_q = 37");
  from_host.options.num_sequences = -1;
  CHECK(from_host.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "num_sequences: -1: expected 0 … 1073741824");
}
