// Every kernel over the grid of generated cases that the CPU is tested with, against the oracle.
// FLASHLAB_CASE_STEP=1 takes every case (a GPU's time), FLASHLAB_FIRST_CASE=k begins at case k.
#include "tests/attention_cuda/chosen_cases.hpp"
#include "tests/attention_cuda/kernel_check.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

void check_cases(Pass pass, DataType dtype, const std::vector<KernelCase>& kernels) {
  const auto [first, step] = chosen_cases(FLASHLAB_DEFAULT_CASE_STEP);
  WorstErrors worst;
  int num_cases = 0;
  for (int number = first; number < kNumCases; number += step) {
    const GeneratedCase generated = generated_case(number);
    if (generated.dtype != dtype || generated.problem.head_dim > cuda::kMaxGpuHeadDim) continue;
    const bool is_packed = !generated.problem.cu_seqlens_q.empty();
    if (is_packed && !kernels.empty() && kernels.front().deterministic) continue;  // refused
    ++num_cases;
    check_kernels(worst, pass, kernels, generated);
  }
  CHECK(num_cases > 0);
}

void check_cases(Pass pass, DataType dtype) {
  check_cases(pass, dtype, chosen_kernels(pass, dtype));
}

/// The backward kernels that can add to dQ in a fixed order, adding so.
std::vector<KernelCase> ordered_kernels(DataType dtype) {
  std::vector<KernelCase> kernels = chosen_kernels(Pass::kBackward, dtype);
  std::erase_if(kernels, [](const KernelCase& kernel) {
    return kernel.row->additions != cuda::Additions::kAlsoOrdered;
  });
  for (KernelCase& kernel : kernels) kernel.deterministic = true;
  return kernels;
}

}  // namespace

TEST_CASE("every forward kernel agrees with the oracle in float", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_cases(Pass::kForward, DataType::kFloat32);
}

TEST_CASE("every forward kernel agrees with the oracle in bf16", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_cases(Pass::kForward, DataType::kBFloat16);
}

TEST_CASE("every forward kernel agrees with the oracle in fp16", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_cases(Pass::kForward, DataType::kFloat16);
}

TEST_CASE("every backward kernel agrees with the oracle in float", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_cases(Pass::kBackward, DataType::kFloat32);
}

TEST_CASE("every backward kernel agrees with the oracle in bf16", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_cases(Pass::kBackward, DataType::kBFloat16);
}

TEST_CASE("every backward kernel agrees with the oracle in fp16", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_cases(Pass::kBackward, DataType::kFloat16);
}

TEST_CASE("kernels that add to dQ in a fixed order agree with the oracle", "[cuda][grid][parts]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kBFloat16, DataType::kFloat16}) {
    check_cases(Pass::kBackward, dtype, ordered_kernels(dtype));
  }
}
