// What the library keeps of calls: nothing is decided twice, and nothing but equal calls is taken as decided.
#include "attention_cuda/detail/call_plans.hpp"

#include <string>
#include <thread>
#include <vector>

#include "tests/attention_cuda/interface_problem.hpp"
#include "tests/attention_cuda/kernels_here.hpp"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("a call like an earlier one is not decided again", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem first(DataType::kBFloat16), second(DataType::kBFloat16);
  REQUIRE(first.run() == FLASHLAB_OK);
  const auto made = cuda::plan_counts().made;
  REQUIRE(second.run() == FLASHLAB_OK);  // other addresses
  REQUIRE(first.run() == FLASHLAB_OK);
  CHECK(cuda::plan_counts().made == made);
  CHECK(second.results() == first.results());
}

TEST_CASE("whatever a kernel may depend on is decided again", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem problem(DataType::kBFloat16);
  problem.options.has_softmax_scale = 1;
  problem.options.softmax_scale = 0.4375;  // no other test's
  REQUIRE(problem.run() == FLASHLAB_OK);
  const auto is_new = [&](const auto& change) {
    const flashlab_options options = problem.options;
    const flashlab_forward_tensors tensors = problem.c_forward;
    change();
    const auto made = cuda::plan_counts().made;
    INFO(error_text());
    REQUIRE(problem.run() == FLASHLAB_OK);
    const bool result = cuda::plan_counts().made == made + 1;
    problem.options = options;
    problem.c_forward = tensors;
    return result;
  };
  CHECK(is_new([&] { problem.options.mask = FLASHLAB_MASK_CAUSAL; }));
  CHECK(is_new([&] { problem.options.variant = "flash2"; }));
  CHECK(is_new([&] { problem.options.kernel = "flash2_mma_sm80"; }));
  CHECK(is_new([&] { problem.options.softmax_scale = 0.4376; }));
  CHECK(is_new([&] {
    problem.options.has_window_left = 1;
    problem.options.window_left = 3;
  }));
  CHECK(is_new([&] { problem.options.query_offset = 1; }));
  CHECK(is_new([&] {
    problem.c_forward.Q.shape[2] = 36;
    problem.c_forward.O.shape[2] = 36;
    problem.c_forward.lse.shape[2] = 36;
  }));
  CHECK(is_new([&] { problem.c_forward.K.strides[1] = 0; }));
  CHECK(is_new([&] {  // an address that bulk copies cannot take
    problem.c_forward.Q.data = static_cast<char*>(problem.c_forward.Q.data) + 2;
    problem.c_forward.Q.shape[2] = problem.c_forward.O.shape[2] = problem.c_forward.lse.shape[2] =
        35;
    problem.c_forward.Q.shape[0] = problem.c_forward.O.shape[0] = problem.c_forward.lse.shape[0] =
        1;
    problem.c_forward.K.shape[0] = problem.c_forward.V.shape[0] = 1;
  }));
  CHECK(is_new([&] { problem.c_forward.lse = {}; }));
}

TEST_CASE("addresses of a decided call are checked as those of the first one", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem problem(DataType::kBFloat16);
  REQUIRE(problem.run() == FLASHLAB_OK);
  void* const O = problem.c_forward.O.data;
  problem.c_forward.O.data = problem.c_forward.V.data;
  CHECK(problem.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() ==
        "O: memory that V lies in too: expected an output that shares memory with no "
        "other tensor");
  problem.c_forward.O.data = nullptr;
  CHECK(problem.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "O: null: expected memory for its elements");
  problem.c_forward.O.data = O;
  CHECK(problem.run() == FLASHLAB_OK);
}

TEST_CASE("a thread keeps a bounded number of decisions, and others have their own", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem problem(DataType::kBFloat16);
  problem.options.variant = "flash2";
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(cuda::kMostPlans) + 3; ++k) {
    problem.options.query_offset = k;
    uint64_t bytes = 0;
    REQUIRE(flashlab_forward_workspace_bytes(&problem.c_forward, &problem.options, &bytes) ==
            FLASHLAB_OK);
  }
  CHECK(cuda::plan_counts().kept <= cuda::kMostPlans);
  REQUIRE(problem.run() == FLASHLAB_OK);
  std::uint64_t made_elsewhere = 0;
  flashlab_status status = FLASHLAB_ERROR_OTHER;
  std::thread other([&] {
    status = problem.run();
    made_elsewhere = cuda::plan_counts().made;
  });
  other.join();
  CHECK(status == FLASHLAB_OK);
  CHECK(made_elsewhere == 1);
}

TEST_CASE("a deterministic backward pass without a variant takes one that is", "[c]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    InterfaceProblem problem(dtype);
    REQUIRE(problem.run() == FLASHLAB_OK);
    const StoredTensor dO = filled(dtype, kShape, 4), dQ = make_tensor(dtype, kShape),
                       dK = make_tensor(dtype, kShape), dV = make_tensor(dtype, kShape);
    const auto on = [&](const StoredTensor& tensor) {
      return c_tensor(problem.device.view(tensor));
    };
    const flashlab_backward_tensors tensors = {problem.c_forward.Q,
                                               problem.c_forward.K,
                                               problem.c_forward.V,
                                               problem.c_forward.O,
                                               problem.c_forward.lse,
                                               on(dO),
                                               on(dQ),
                                               on(dK),
                                               on(dV)};
    problem.options.deterministic = 1;
    const auto& plan = cuda::plan_of(tensors, problem.options);
    CHECK(plan.decision.row->variant ==
          (dtype == DataType::kFloat32 ? "bwd-twopass" : "bwd-onepass"));
    problem.options.variant = "bwd-onepass";
    if (dtype == DataType::kFloat32) {
      CHECK_THROWS_AS(cuda::plan_of(tensors, problem.options), ProblemError);
    }
  }
}
