// What only the emulation can count of the kernels.
#include <cmath>

#include "attention_cuda/emulation/emulation.hpp"
#include "tests/attention_cuda/kernel_check.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;
namespace emulation = flashlab::cuda::emulation;

TEST_CASE("no rows that ldmatrix takes at once share their banks", "[emulation][kernels]") {
  WorstErrors worst;
  for (const std::int64_t head_dim : {32, 64, 128, 256}) {
    GeneratedCase generated;
    generated.dtype = DataType::kBFloat16;
    generated.problem.seqlen_q = generated.problem.seqlen_k = 130;
    generated.problem.head_dim = head_dim;
    generated.problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      for (const KernelCase& kernel : kernels_here(pass, DataType::kBFloat16)) {
        if (kernel.row->stem.find("_mma_") == std::string_view::npos) continue;
        INFO(kernel.name() << ", head_dim " << head_dim);
        emulation::reset_statistics();
        check_kernels(worst, pass, {kernel}, generated);
        const emulation::Statistics counted = emulation::statistics();
        CHECK(counted.ldmatrices > 0);
        CHECK(counted.ldmatrix_conflicts == 0);
      }
    }
  }
}
