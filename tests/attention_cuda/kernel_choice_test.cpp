// Which kernel runs a call that names none: the last one that supports the problem, the GPU, the
// tensors and is in this build.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/flashlab.h"
#include "attention_cuda/registry.hpp"
#include "attention_cuda/tiles.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::int64_t kChoiceHeads = 2, kChoiceSeqlen = 70;

/// Tensors of bf16 whose rows begin `row_stride` elements apart, from `first` on. Nothing reads them.
struct UnreadTensors {
  std::vector<BFloat16> inputs, output;
  ForwardTensors forward;

  UnreadTensors(std::int64_t head_dim, std::int64_t row_stride, std::int64_t first = 0)
      : inputs(static_cast<std::size_t>(kChoiceHeads * kChoiceSeqlen * row_stride + first)),
        output(inputs.size()) {
    const auto tensor = [&](std::vector<BFloat16>& memory) {
      return view(
          memory.data() + first, {1, kChoiceHeads, kChoiceSeqlen, head_dim},
          {kChoiceHeads * kChoiceSeqlen * row_stride, kChoiceSeqlen * row_stride, row_stride, 1});
    };
    forward.Q = forward.K = forward.V = tensor(inputs);
    forward.O = tensor(output);
  }
};

std::string_view chosen(const UnreadTensors& tensors, int compute_capability,
                        std::string_view named = {}) {
  cuda::ExecutionOptions execution;
  execution.kernel = named;
  return cuda::find_kernel_for(tensors.forward, "flash2", check_forward(tensors.forward, {}),
                               execution, compute_capability)
      .stem;
}

bool is_in_this_build(std::string_view stem) {
  return std::ranges::find(cuda::kernels(), stem, &cuda::KernelRow::stem) != cuda::kernels().end();
}

/// The variant that an H200 runs by itself: heads of num_heads over num_kv_heads.
std::string_view variant_for(std::int64_t batch, std::int64_t num_heads, std::int64_t num_kv_heads,
                             std::int64_t seqlen_q, std::int64_t seqlen_k,
                             DataType dtype = DataType::kBFloat16) {
  return cuda::forward_variant(
      {batch, num_heads, num_kv_heads, seqlen_q, seqlen_k, 128, dtype, Mask::kNone, 1, {}}, {},
      {90, 132, 227 << 10});
}

}  // namespace

TEST_CASE("one query and many keys run split-kv, many queries run flash2", "[call]") {
  CHECK(variant_for(32, 32, 8, 1, 8192) == "split-kv");
  CHECK(variant_for(1, 64, 8, 1, 65536) == "split-kv");
  CHECK(variant_for(32, 32, 32, 1, 8192) == "split-kv");
  CHECK(variant_for(1, 1, 1, 256, 100000) == "split-kv");  // two blocks of flash2 for 132 SMs
  CHECK(variant_for(8, 32, 8, 64, 8192) == "flash2");      // 256 rows per kv head
  CHECK(variant_for(4, 16, 16, 4096, 4096) == "flash2");
  CHECK(variant_for(8, 32, 8, 1, 127) == "flash2");  // too few keys to be split
  CHECK(variant_for(8, 32, 8, 0, 8192) == "flash2");
  CHECK(variant_for(8, 32, 8, 1, 8192, DataType::kFloat32) == "split-kv");
  CHECK(variant_for(4, 16, 16, 64, 4096, DataType::kFloat32) == "flash2");
}

TEST_CASE("a smaller GPU needs fewer queries before flash2 fills it", "[call]") {
  const AttentionProblem problem = {1,           8, 8, 128, 8192, 128, DataType::kBFloat16,
                                    Mask::kNone, 1, {}};
  CHECK(cuda::forward_variant(problem, {}, {90, 132, 227 << 10}) == "split-kv");
  CHECK(cuda::forward_variant(problem, {}, {90, 16, 227 << 10}) == "flash2");
}

TEST_CASE("a kernel that is named determines the variant", "[call]") {
  const AttentionProblem problem = {1, 8, 8, 1, 8192, 128, DataType::kBFloat16, Mask::kNone, 1, {}};
  cuda::ExecutionOptions execution;
  execution.kernel = "flash2_mma_sm80";
  CHECK(cuda::forward_variant(problem, execution, {90, 132, 227 << 10}) == "flash2");
}

TEST_CASE("flash2 runs the kernel of the GPU's generation", "[cuda][call]") {
  const UnreadTensors tensors(64, 64);
  CHECK(chosen(tensors, 80) == "flash2_mma_sm80");
  CHECK(chosen(tensors, 89) == "flash2_mma_sm80");
  CHECK(chosen(tensors, 100) == "flash2_mma_sm80");
  CHECK(chosen(tensors, 90) ==
        (is_in_this_build("flash2_wgmma_sm90") ? "flash2_wgmma_sm90" : "flash2_mma_sm80"));
}

TEST_CASE("tensors that bulk copies cannot address run in the portable kernel", "[cuda][call]") {
  const UnreadTensors odd_rows(20, 20), odd_stride(24, 28), moved(64, 64, 1), padded_rows(24, 32);
  CHECK(chosen(odd_rows, 90) == "flash2_mma_sm80");
  CHECK(chosen(odd_stride, 90) == "flash2_mma_sm80");
  CHECK(chosen(moved, 90) == "flash2_mma_sm80");
  CHECK(chosen(odd_rows, 80, "flash2_mma_sm80") == "flash2_mma_sm80");
  if (!is_in_this_build("flash2_wgmma_sm90")) return;
  CHECK(chosen(padded_rows, 90) == "flash2_wgmma_sm90");
  CHECK_THROWS_AS(chosen(odd_rows, 90, "flash2_wgmma_sm90"), ProblemError);
}

TEST_CASE("a window runs the last kernel that takes windows, and others say why not",
          "[cuda][call]") {
  const UnreadTensors tensors(64, 64);
  AttentionOptions options;
  options.mask = Mask::kCausalTopLeft;
  options.window_left = 16;
  const AttentionProblem problem = check_forward(tensors.forward, options);
  CHECK(cuda::find_kernel_for(tensors.forward, "flash2", problem, {}, 90).stem ==
        (is_in_this_build("flash2_wgmma_sm90") ? "flash2_wgmma_sm90" : "flash2_mma_sm80"));
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) {
    const auto why = cuda::why_unsupported(kernel, problem, {}, kernel.min_compute_capability);
    if (!why || why->field == "dtype") continue;
    CHECK_FALSE(kernel.takes_windows);
    CHECK(std::string(why->what()) ==
          "window_left: 16: expected no window for " + std::string(kernel.stem));
  }
}

TEST_CASE("packed sequences run the last kernel that takes them", "[cuda][call]") {
  const UnreadTensors tensors(64, 64);
  const std::vector<std::int64_t> cu_seqlens = {0, 20, kChoiceSeqlen};
  AttentionOptions options;
  options.cu_seqlens_q = options.cu_seqlens_k = cu_seqlens;
  const AttentionProblem problem = check_forward(tensors.forward, options);
  CHECK(cuda::find_kernel_for(tensors.forward, "flash2", problem, {}, 90).stem ==
        (is_in_this_build("flash2_wgmma_sm90") ? "flash2_wgmma_sm90" : "flash2_mma_sm80"));
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) {
    const auto why = cuda::why_unsupported(kernel, problem, {}, kernel.min_compute_capability);
    if (!why || why->field == "dtype") continue;
    CHECK_FALSE(kernel.takes_packed);
    CHECK(std::string(why->what()) ==
          "cu_seqlens_q: 2 sequences: expected no packed sequences for " +
              std::string(kernel.stem));
  }
}

TEST_CASE("a state runs flash2 on tensor cores, whatever the number of queries", "[call]") {
  cuda::ExecutionOptions execution;
  float number = 0;
  execution.state_in.m = view(&number, {1});
  const AttentionProblem few = {32, 32, 8, 1, 8192, 128, DataType::kBFloat16, Mask::kNone, 1, {}};
  CHECK(cuda::forward_variant(few, execution, {90, 132, 227 << 10}) == "flash2");
  CHECK(cuda::find_listing("flash2", few, execution, 80).stem == "flash2_mma_sm80");
  CHECK(cuda::find_listing("flash2", few, execution, 90).stem == "flash2_wgmma_sm90");
}
