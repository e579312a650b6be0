// What flashlab.h promises a program in C (or Python).
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "attention_cuda/flashlab.h"
#include "tests/attention_cpu/stored_tensor.hpp"
#include "tests/attention_cuda/called_from_c.h"
#include "tests/attention_cuda/interface_problem.hpp"
#include "tests/attention_cuda/kernels_here.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::array kMasks = {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight};

/// dQ, dK, dV of a float problem, one after the other.
std::vector<double> gradients(const KernelCase& kernel, bool from_c) {
  InterfaceProblem problem(DataType::kFloat32);
  REQUIRE(problem.run() == FLASHLAB_OK);
  const StoredTensor dO = filled(DataType::kFloat32, kShape, 4);
  std::array<StoredTensor, 3> out;
  for (StoredTensor& gradient : out) gradient = make_tensor(DataType::kFloat32, kShape);
  const auto& [Q, K, V, O, lse] = problem.forward;
  DeviceCopies& device = problem.device;
  const BackwardTensors tensors = {Q,
                                   K,
                                   V,
                                   O,
                                   lse,
                                   device.view(dO),
                                   device.view(out[0]),
                                   device.view(out[1]),
                                   device.view(out[2])};
  const flashlab_backward_tensors c_tensors = {
      c_tensor(Q),          c_tensor(K),          c_tensor(V),
      c_tensor(O),          c_tensor(lse),        c_tensor(tensors.dO),
      c_tensor(tensors.dQ), c_tensor(tensors.dK), c_tensor(tensors.dV)};

  const std::string variant(kernel.row->variant), stem(kernel.row->stem);
  flashlab_options& options = problem.options;
  options.variant = variant.c_str();
  options.kernel = stem.c_str();
  options.products = static_cast<int>(kernel.arithmetic.products);
  REQUIRE(flashlab_backward_workspace_bytes(&c_tensors, &options, &options.workspace_bytes) ==
          FLASHLAB_OK);
  const DeviceMemory workspace(options.workspace_bytes);
  options.workspace = workspace.get();
  if (from_c) {
    REQUIRE(flashlab_attention_backward(&c_tensors, &options) == FLASHLAB_OK);
  } else {
    cuda::ExecutionOptions execution;
    execution.kernel = stem;
    execution.products = kernel.arithmetic.products;
    execution.workspace = workspace.get();
    execution.workspace_bytes = workspace.bytes();
    cuda::attention_backward(variant, tensors, {}, execution);
  }
  device.fetch();
  std::vector<double> result;
  for (const StoredTensor& gradient : out) {
    for (const double value : gradient.values()) result.push_back(value);
  }
  return result;
}

}  // namespace

TEST_CASE("a program in C gets what one in C++ gets, bit for bit", "[c]") {
  FLASHLAB_NEEDS_GPU();
  for (const Mask mask : kMasks) {
    INFO(to_string(mask));
    InterfaceProblem in_c(DataType::kBFloat16), in_cpp(DataType::kBFloat16);
    cuda::attention_forward("flash2", in_cpp.forward, {mask, {}, {}});
    const ForwardTensors& tensors = in_c.forward;
    const c_problem problem = {tensors.Q.data, tensors.K.data,   tensors.V.data,
                               tensors.O.data, tensors.lse.data, kShape[0],
                               kShape[1],      kShape[2],        kShape[3]};
    REQUIRE(forward_from_c(&problem, static_cast<int>(mask)) == FLASHLAB_OK);
    CHECK(in_c.results() == in_cpp.results());
  }
}

TEST_CASE("in C no variant, or auto, is the one that suits the problem", "[c]") {
  FLASHLAB_NEEDS_GPU();
  // One query and many keys: split-kv, the only one of the two that needs a workspace.
  const auto zeros = [](std::int64_t rows) {
    return filled(DataType::kBFloat16, {1, 2, rows, 16}, 0);
  };
  const StoredTensor K = zeros(4096), all_O = zeros(4096), Q = zeros(1), O = zeros(1);
  DeviceCopies device;
  const auto k = c_tensor(device.view(K));
  const flashlab_forward_tensors few = {c_tensor(device.view(Q)),
                                        k,
                                        k,
                                        c_tensor(device.view(O)),
                                        {}},
                                 many = {k, k, k, c_tensor(device.view(all_O)), {}};
  flashlab_options options;
  const auto bytes = [&](const flashlab_forward_tensors& tensors, const char* variant) {
    flashlab_options_init(&options);
    options.variant = variant;
    std::uint64_t result = 0;
    const auto status = flashlab_forward_workspace_bytes(&tensors, &options, &result);
    INFO(error_text());
    REQUIRE(status == FLASHLAB_OK);
    return result;
  };
  REQUIRE(bytes(few, "split-kv") > 0);
  CHECK(bytes(few, nullptr) == bytes(few, "split-kv"));
  CHECK(bytes(few, "auto") == bytes(few, "split-kv"));
  CHECK(bytes(few, "flash2") == 0);
  CHECK(bytes(many, nullptr) == 0);
}

TEST_CASE("every option of C reaches the kernels", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem in_c(DataType::kFloat32), in_cpp(DataType::kFloat32);
  const std::array<std::int64_t, 2> key_lengths = {20, 37};
  DeviceMemory memory(4096);
  cuda::ExecutionOptions execution;
  execution.products = cuda::Products::kTensorFloat32x3;
  execution.workspace = memory.get();
  execution.workspace_bytes = memory.bytes();
  cuda::attention_forward("flash2", in_cpp.forward, {Mask::kNone, 0.5, key_lengths}, execution);

  in_c.options.variant = "flash2";
  in_c.options.kernel = "flash2_mma_tf32_sm80";
  in_c.options.products = FLASHLAB_PRODUCTS_TF32X3;
  in_c.options.has_softmax_scale = 1;
  in_c.options.softmax_scale = 0.5;
  in_c.options.key_lengths = key_lengths.data();
  in_c.options.num_key_lengths = 2;
  std::uint64_t bytes = 0;
  REQUIRE(flashlab_forward_workspace_bytes(&in_c.c_forward, &in_c.options, &bytes) == FLASHLAB_OK);
  CHECK(bytes == 256);  // the two lengths
  CHECK(in_c.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "workspace_bytes: 0: expected 256 (see workspace_bytes)");
  in_c.options.workspace = memory.get();
  in_c.options.workspace_bytes = bytes;
  REQUIRE(in_c.run() == FLASHLAB_OK);
  CHECK(in_c.results() == in_cpp.results());
}

TEST_CASE("key lengths in device memory are taken too", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem on_host(DataType::kBFloat16), on_device(DataType::kBFloat16);
  const std::array<std::int64_t, 2> key_lengths = {0, 11};
  DeviceMemory workspace(256), lengths(sizeof(key_lengths));
  check_call(
      cudaMemcpy(lengths.get(), key_lengths.data(), lengths.bytes(), cudaMemcpyHostToDevice));
  on_host.options.key_lengths = key_lengths.data();
  on_host.options.num_key_lengths = 2;
  on_host.options.workspace = workspace.get();
  on_host.options.workspace_bytes = workspace.bytes();
  on_device.options.device_key_lengths = static_cast<const std::int64_t*>(lengths.get());
  REQUIRE(on_host.run() == FLASHLAB_OK);
  REQUIRE(on_device.run() == FLASHLAB_OK);
  CHECK(on_device.results() == on_host.results());
}

TEST_CASE("gradients through C are those through C++", "[c]") {
  FLASHLAB_NEEDS_GPU();
  const auto rows = kernels_here(Pass::kBackward, DataType::kFloat32);
  if (rows.empty()) FLASHLAB_SKIP("no backward kernel takes float");
  for (const KernelCase& kernel : rows) {
    INFO(kernel.name());
    const std::vector<double> in_c = gradients(kernel, true), in_cpp = gradients(kernel, false);
    double largest = 0;  // bwd-onepass adds in the order of arrival
    for (std::size_t k = 0; k < in_c.size(); ++k) {
      const double difference = std::abs(in_c[k] - in_cpp[k]);
      if (!(difference <= largest)) largest = difference;  // NaN too
    }
    CHECK(largest < 1e-5);
  }
}

TEST_CASE("an error in C names argument, value and what was expected", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem problem(DataType::kBFloat16);
  problem.c_forward.K.shape[3] = 8;
  REQUIRE(problem.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("K: shape [2, 3, 37, 8]: expected Q's batch 2"));

  problem = InterfaceProblem(DataType::kBFloat16);
  problem.options.variant = "flash9";
  REQUIRE(problem.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("variant: flash9: expected one of naive, "));
  problem.options.variant = "bwd-onepass";
  REQUIRE(problem.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "variant: bwd-onepass: expected a forward variant");

  problem = InterfaceProblem(DataType::kBFloat16);
  std::vector<std::uint16_t> host(static_cast<std::size_t>(2 * 3 * 37 * 16));
  problem.c_forward.V.data = host.data();
  REQUIRE(problem.run() == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "V: host memory: expected device memory");
}

TEST_CASE("a number that C has no name for is refused", "[c]") {
  const auto refusal = [](auto change) {
    InterfaceProblem problem(DataType::kBFloat16);
    change(problem);
    CHECK(problem.run() == FLASHLAB_ERROR_ARGUMENT);
    return error_text();
  };
  FLASHLAB_NEEDS_GPU();
  CHECK(refusal([](InterfaceProblem& p) { p.options.mask = 3; }) == "mask: 3: expected 0 … 2");
  CHECK(refusal([](InterfaceProblem& p) { p.options.products = -1; }) ==
        "products: -1: expected 0 … 3");
  CHECK(refusal([](InterfaceProblem& p) { p.c_forward.O.dtype = 3; }) ==
        "O.dtype: 3: expected 0 … 2");
  CHECK(refusal([](InterfaceProblem& p) { p.c_forward.Q.rank = 5; }) ==
        "Q: rank 5: expected 0 … 4");
  CHECK(refusal([](InterfaceProblem& p) { p.options.num_key_lengths = 2; }) ==
        "num_key_lengths: 2: expected the number of key_lengths");
  CHECK(refusal([](InterfaceProblem& p) {
          p.options.has_window_left = 1;
          p.options.window_left = -1;
        }) == "window_left: -1: expected 0 keys or more, or none: no limit");
}

TEST_CASE("the options of an older or a newer program are told apart", "[c]") {
  FLASHLAB_NEEDS_GPU();
  InterfaceProblem problem(DataType::kBFloat16);
  struct NewerOptions {
    flashlab_options known;
    std::int64_t unknown;
  } newer = {problem.options, 0};
  newer.known.struct_bytes = sizeof(newer);
  CHECK(flashlab_attention_forward(&problem.c_forward, &newer.known) == FLASHLAB_OK);
  newer.unknown = 1;
  CHECK(flashlab_attention_forward(&problem.c_forward, &newer.known) == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("expected only zeros after the "));
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{sizeof(flashlab_options) - 8}, ~std::uint64_t{0}}) {
    problem.options.struct_bytes = bytes;
    CHECK(problem.run() == FLASHLAB_ERROR_ARGUMENT);
    CHECK_THAT(error_text(), contains("options.struct_bytes: " + std::to_string(bytes)));
  }
}

TEST_CASE("null is refused by name", "[c]") {
  flashlab_options options;
  flashlab_options_init(&options);
  const flashlab_forward_tensors tensors = {};
  CHECK(flashlab_attention_forward(nullptr, &options) == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("tensors: null"));
  const flashlab_backward_tensors gradients = {};
  CHECK(flashlab_attention_backward(&gradients, nullptr) == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("options: null"));
  CHECK(flashlab_forward_workspace_bytes(&tensors, &options, nullptr) == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("bytes: null"));
  CHECK(flashlab_get_kernel(0, nullptr) == FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("kernel: null"));
}

TEST_CASE("a thread's error is its own", "[c]") {
  CHECK(flashlab_attention_forward(nullptr, nullptr) == FLASHLAB_ERROR_ARGUMENT);
  const std::string here = error_text();
  std::string before, after;
  std::thread([&] {
    before = error_text();
    flashlab_kernel kernel;
    flashlab_get_kernel(-1, &kernel);
    after = error_text();
  }).join();
  CHECK(before.empty());
  CHECK_THAT(after, contains("index: -1: expected 0 … "));
  CHECK(error_text() == here);
}

TEST_CASE("C can list the kernels", "[c]") {
  const auto rows = cuda::kernels();
  REQUIRE(flashlab_kernel_count() == std::ssize(rows));
  for (int k = 0; k < flashlab_kernel_count(); ++k) {
    flashlab_kernel kernel = {};
    REQUIRE(flashlab_get_kernel(k, &kernel) == FLASHLAB_OK);
    const cuda::KernelRow& row = *rows[static_cast<std::size_t>(k)];
    CHECK(kernel.stem == row.stem);
    CHECK(kernel.variant == row.variant);
    CHECK(kernel.pass == to_string(find_variant(row.variant).pass));
    CHECK(kernel.source == row.source);
    CHECK(kernel.min_compute_capability == row.min_compute_capability);
    CHECK_THAT(std::string(kernel.arithmetic),
               contains(std::string(to_string(row.arithmetic.front().dtype)) + " " +
                        std::string(to_string(row.arithmetic.front().products))));
  }
  CHECK(std::strlen(flashlab_version()) >= 5);
}
