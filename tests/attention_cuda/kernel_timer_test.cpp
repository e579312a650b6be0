// What is timed, and what a time is held against.
#include "attention_cuda/kernel_timer.hpp"

#include <algorithm>

#include "attention_cuda/kernel_listing.hpp"
#include "attention_cuda/roofline.hpp"
#include "attention_cuda/timed_call.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

AttentionProblem small_problem() {
  AttentionProblem problem;
  problem.batch = 2;
  problem.num_heads = 2;
  problem.num_kv_heads = 1;
  problem.seqlen_q = 9;
  problem.seqlen_k = 20;
  problem.head_dim = 8;
  problem.softmax_scale = 0.5;
  return problem;
}

double sum_of(const std::vector<cuda::KernelTotal>& kernels) {
  double sum = 0;
  for (const cuda::KernelTotal& kernel : kernels) sum += kernel.ms;
  return sum;
}

TEST_CASE("every kernel of a call has its time") {
  FLASHLAB_NEEDS_GPU();
  for (const char* variant : {"naive", "flash2", "bwd-twopass"}) {
    CAPTURE(variant);
    cuda::TimedCall call(variant, small_problem(), {});
    const auto kernels = cuda::sample_by_kernel(call, 3, 1);
    REQUIRE_FALSE(kernels.empty());
    CHECK(std::all_of(kernels.begin(), kernels.end(), [](const cuda::KernelTotal& kernel) {
      return kernel.num_calls > 0 && kernel.ms > 0;
    }));
    CHECK(sum_of(kernels) > 0);
  }
}

TEST_CASE("a timer starts again when its times were asked for") {
  FLASHLAB_NEEDS_GPU();
  cuda::TimedCall call("naive", small_problem(), {});
  call.draw_inputs(1);
  const std::size_t count = call.kernel_times().size();
  CHECK(count > 1);
  CHECK(call.kernel_times().size() == count);
}

TEST_CASE("kernels of one name are added up") {
  const auto found = cuda::totals({{"a", 1}, {"b", 5}, {"a", 2}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].kernel == "a");
  CHECK(found[0].num_calls == 2);
  CHECK(found[0].ms == 3);
  CHECK(found[1].ms == 5);
}

TEST_CASE("samples are as many as asked for, on outputs without NaN") {
  FLASHLAB_NEEDS_GPU();
  for (const VariantInfo& variant : variants()) {
    CAPTURE(variant.name);
    const auto listings = cuda::kernel_listings();
    if (std::ranges::find(listings, variant.name, &cuda::KernelListing::variant) ==
        listings.end()) {
      continue;  // of CPUs only
    }
    cuda::TimedCall call(variant.name, small_problem(), {});
    const cuda::Samples samples = cuda::sample(call, 3, 7);
    CHECK(samples.ms.size() == 3);
    CHECK(samples.least() > 0);
    CHECK(samples.least() <= samples.median());
    CHECK(samples.median() <= samples.most());
  }
}

TEST_CASE("outputs that were not written are an error") {
  FLASHLAB_NEEDS_GPU();
  cuda::TimedCall call("flash2", small_problem(), {});
  for (const TensorView& output : call.tensors().outputs()) {
    const std::vector<unsigned char> nan(cuda::bytes_of(output), 0xff);
    cuda::copy_to_gpu(output.data, nan.data(), nan.size());
  }
  CHECK_THROWS_AS(call.check_outputs(), std::runtime_error);
}

TEST_CASE("drawn inputs are normal, and others for another seed") {
  FLASHLAB_NEEDS_GPU();
  AttentionProblem problem = small_problem();
  problem.seqlen_q = 2000;
  cuda::TimedCall call("flash2", problem, {});
  const TensorView Q = call.tensors().inputs()[0];
  std::vector<float> first(cuda::bytes_of(Q) / sizeof(float)), second(first.size());
  call.draw_inputs(1);
  cuda::copy_from_gpu(first.data(), Q.data, cuda::bytes_of(Q));
  call.draw_inputs(2);
  cuda::copy_from_gpu(second.data(), Q.data, cuda::bytes_of(Q));
  double sum = 0, squares = 0, product = 0;
  for (std::size_t k = 0; k < first.size(); ++k) {
    sum += first[k];
    squares += first[k] * first[k];
    product += first[k] * second[k];
  }
  const auto count = static_cast<double>(first.size());  // 64 000: a standard error of 0.004
  CHECK(std::abs(sum / count) < 0.02);
  CHECK(std::abs(squares / count - 1) < 0.03);
  CHECK(std::abs(product / count) < 0.02);
}

TEST_CASE("the floor is that of the products or of the bytes, whichever is higher") {
  AttentionProblem problem = small_problem();
  const double flops = 4.0 * 2 * 2 * 9 * 20 * 8;
  CHECK(cuda::floor_ms(Pass::kForward, problem, {flops, 1e30}) == 1e3);
  CHECK(cuda::floor_ms(Pass::kBackward, problem, {flops, 1e30}) == 2.5e3);
  const double bytes_Q = 4.0 * 2 * 2 * 9 * 8, bytes_K = 4.0 * 2 * 20 * 8;
  CHECK(cuda::floor_ms(Pass::kForward, problem, {1e30, bytes_Q + 2 * bytes_K}) == 1e3);
  CHECK(cuda::floor_ms(Pass::kBackward, problem, {1e30, 3 * bytes_Q + 2 * bytes_K}) == 1e3);
}

TEST_CASE("rows that nobody sees count in no floor") {
  AttentionProblem problem = small_problem();
  problem.batch = 1;
  problem.seqlen_q = 30;
  problem.mask = Mask::kCausalBottomRight;  // the last 20 of 30 queries see keys
  const double bytes = 4.0 * 8 * (2 * 20 + 2 * 20);
  CHECK(cuda::floor_ms(Pass::kForward, problem, {1e30, bytes}) == 1e3);
  problem.key_lengths = {0};
  CHECK(cuda::floor_ms(Pass::kForward, problem, {1, 1}) == 0);
}

}  // namespace
}  // namespace flashlab::test
