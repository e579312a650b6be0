// Kernels whose warps signal each other, under several orders of their threads: a wait that is missing
// shows in some of them only.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "tests/attention_cuda/kernel_check.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::vector<KernelCase> kernel_of_stem(Pass pass, DataType dtype, const std::string& stem) {
  std::vector<KernelCase> kernels = kernels_here(pass, dtype);
  std::erase_if(kernels, [&](const KernelCase& kernel) { return kernel.row->stem != stem; });
  return kernels;
}

/// The first queries see no key, and their rows of Q and dO are NaN; the tiles of queries and keys have
/// ragged ends.
GeneratedCase with_unseen_queries() {
  GeneratedCase generated;
  generated.dtype = DataType::kBFloat16;
  generated.problem.seqlen_q = 290;
  generated.problem.seqlen_k = 200;
  generated.problem.head_dim = 200;
  generated.problem.causal = textbook::Causal::kBottomRight;
  generated.problem.softmax_scale = 1 / std::sqrt(200.);
  return generated;
}

}  // namespace

TEST_CASE("pairs of blocks agree with the oracle in every order of their threads",
          "[cuda][cluster]") {
  FLASHLAB_NEEDS_GPU();
  const auto kernels =
      kernel_of_stem(Pass::kBackward, DataType::kBFloat16, "bwd_onepass_pair_sm90");
  REQUIRE(kernels.size() == 1);
  WorstErrors worst;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    INFO("schedule " << seed);
    cuda::emulation::set_schedule_seed(seed);
    check_kernels(worst, Pass::kBackward, kernels, with_unseen_queries());
  }
  cuda::emulation::set_schedule_seed(1);
}
