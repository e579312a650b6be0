// The (m, l, O) that a call takes and leaves: what it is, and what is refused. That parts of the keys
// give the result of all keys is tested in lengths_test.cpp.
#include <cmath>
#include <string>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "tests/attention_cuda/interface_problem.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// A state in device memory, whose elements are NaN at first.
struct StoredState {
  StoredTensor m = make_tensor(DataType::kFloat32, kLseShape),
               l = make_tensor(DataType::kFloat32, kLseShape),
               O = make_tensor(DataType::kFloat32, kShape);
  DeviceCopies device;
  ForwardState state{device.view(m), device.view(l), device.view(O)};
};

std::string refusal(const InterfaceProblem& problem, const cuda::ExecutionOptions& execution) {
  try {
    cuda::attention_forward("flash2", problem.forward, {}, execution);
  } catch (const ProblemError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a state holds O and lse before the division by l", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem whole(DataType::kBFloat16), parts(DataType::kBFloat16);
  cuda::attention_forward("flash2", whole.forward);
  StoredState stored;
  cuda::ExecutionOptions execution;
  execution.state_out = stored.state;
  cuda::attention_forward("flash2", parts.forward, {}, execution);
  check_call(cudaDeviceSynchronize());
  stored.device.fetch();
  const std::vector<double> expected = whole.results(), m = stored.m.values(),
                            l = stored.l.values(), O = stored.O.values();
  for (std::size_t k = 0; k < O.size(); ++k) {
    const std::size_t row = k / 16;
    CHECK(std::abs(O[k] / l[row] - expected[k]) <= 0x1p-8 * std::abs(expected[k]));  // bf16 rounds
    CHECK(std::abs((m[row] + std::log2(l[row])) * std::log(2) - expected[O.size() + row]) < 1e-5);
  }
  // O and lse are not written.
  for (const double value : parts.results()) REQUIRE(std::isnan(value));
}

TEST_CASE("a state in C is the state in C++", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem whole(DataType::kBFloat16), parts(DataType::kBFloat16);
  whole.options.variant = "flash2";
  whole.options.mask = FLASHLAB_MASK_CAUSAL;
  whole.options.query_offset = 5;
  REQUIRE(whole.run() == FLASHLAB_OK);
  StoredState stored;
  const flashlab_state state = {c_tensor(stored.state.m), c_tensor(stored.state.l),
                                c_tensor(stored.state.O)};
  parts.options = whole.options;
  parts.options.variant = nullptr;  // few queries too: only flash2 takes a state
  const flashlab_forward_tensors all = parts.c_forward;
  const auto take_keys = [&](std::int64_t first, std::int64_t end) {
    for (flashlab_tensor* const tensor : {&parts.c_forward.K, &parts.c_forward.V}) {
      *tensor = tensor == &parts.c_forward.K ? all.K : all.V;
      tensor->data = static_cast<std::byte*>(tensor->data) + 2 * 16 * first;
      tensor->shape[2] = end - first;
    }
    parts.options.query_offset = 5 - first;
  };
  take_keys(0, 16);
  parts.options.state_out = &state;
  REQUIRE(parts.run() == FLASHLAB_OK);
  take_keys(16, 37);
  parts.options.state_in = &state;
  parts.options.state_out = nullptr;
  REQUIRE(parts.run() == FLASHLAB_OK);
  const std::vector<double> expected = whole.results(), found = parts.results();
  for (std::size_t k = 0; k < expected.size(); ++k) {
    REQUIRE(std::abs(found[k] - expected[k]) <= 0x1p-7 * std::abs(expected[k]) + 1e-3);
  }
}

TEST_CASE("a state of the wrong shape, type or place is refused", "[cuda][call]") {
  FLASHLAB_NEEDS_GPU();
  const InterfaceProblem problem(DataType::kBFloat16);
  StoredState stored, other;
  cuda::ExecutionOptions execution;
  execution.state_in = stored.state;
  execution.state_in.m.shape = {2, 3, 36};
  CHECK(refusal(problem, execution) ==
        "state_in.m: shape [2, 3, 36]: expected [2, 3, 37], [batch, num_heads, seqlen_q]");
  execution.state_in = stored.state;
  execution.state_in.O.dtype = DataType::kBFloat16;
  CHECK(refusal(problem, execution) == "state_in.O: bf16: expected float, as every state");
  execution.state_in = {};
  execution.state_out = stored.state;
  execution.state_out.l = {};
  CHECK_THAT(refusal(problem, execution), contains("state_out.l: shape []: expected 3 axes"));
  execution.state_out = stored.state;
  execution.state_out.l.data = execution.state_out.m.data;
  CHECK_THAT(refusal(problem, execution), contains("state_out.l"));
  execution.state_in = execution.state_out = stored.state;
  execution.state_in.m = other.state.m;
  execution.state_out.m = stored.state.l;  // another tensor of the state that is read
  execution.state_out.l = other.state.l;
  CHECK_THAT(refusal(problem, execution), contains("state_out.m"));
  std::vector<float> host(2 * 3 * 37);
  execution.state_in = {};
  execution.state_out = stored.state;
  execution.state_out.m = view(host.data(), kLseShape);
  CHECK_THAT(refusal(problem, execution), contains("state m: host memory: expected device memory"));
}
