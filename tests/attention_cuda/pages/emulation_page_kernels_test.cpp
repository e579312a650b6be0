// The kernels of docs/ in the emulation: without a barrier they are wrong.
#include <cuda_runtime.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/attention_cuda/pages/page_kernels.hpp"
#include "tests/catch_shim.hpp"

// The blocks of a launch run one after another on a processor thread, which has such a variable once.
#define __shared__ static thread_local

namespace product {
#include "docs/examples/tile_product.cu"
}
namespace scores {
#include "docs/examples/tile_scores.cu"
}

/// A barrier that the kernel leaves out if it is the one with this number.
namespace without_barrier {
int omitted = 0;
thread_local std::vector<int> passed;  // barriers, by thread

inline void barrier() {
  int& count = passed[static_cast<std::size_t>(flashlab::cuda::emulation::thread_number())];
  if (count++ % 2 != omitted) flashlab::cuda::emulation::sync_block();
}
#define __syncthreads() barrier()
#include "docs/examples/tile_product.cu"
#undef __syncthreads
}  // namespace without_barrier
#undef __shared__

namespace flashlab::test {

void launch_tile_product(const float* A, const float* B, float* C, int m, int n, int k) {
  const auto tiles = [](int size) { return static_cast<unsigned>(size / product::kTile); };
  launch(dim3(tiles(n), tiles(m)), dim3(product::kTile, product::kTile), 0, product::tile_product,
         A, B, C, n, k);
}

void launch_tile_scores(const float* Q, const float* K, float* S, int n, int nk, int d,
                        float scale) {
  const auto tiles = [](int size) { return static_cast<unsigned>(size / scores::kTile); };
  launch(dim3(tiles(nk), tiles(n)), dim3(scores::kTile, scores::kTile), 0, scores::tile_scores, Q,
         K, S, nk, d, scale);
}

TEST_CASE("the page's product needs both of its barriers", "[page][emulation]") {
  constexpr int kSide = 48;
  std::vector<float> A(kSide * kSide), B(kSide * kSide), right(kSide * kSide);
  for (std::size_t i = 0; i < A.size(); ++i) {
    A[i] = static_cast<float>(i % 7);
    B[i] = static_cast<float>(i % 5);
  }
  launch_tile_product(A.data(), B.data(), right.data(), kSide, kSide, kSide);
  for (const int omitted : {0, 1}) {
    INFO("barrier " << omitted + 1 << " of the loop");
    without_barrier::omitted = omitted;
    int wrong = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      cuda::emulation::set_schedule_seed(seed);
      without_barrier::passed.assign(256, 0);
      std::vector<float> C(kSide * kSide);
      launch(dim3(3, 3), dim3(16, 16), 0, without_barrier::tile_product, A.data(), B.data(),
             C.data(), kSide, kSide);
      wrong += C != right;
    }
    CHECK(wrong == 20);
  }
  cuda::emulation::set_schedule_seed(1);
}

TEST_CASE("exercise 42 prints the kernel that is tested", "[page][emulation]") {
  const auto file = [](const char* path) {
    return std::ifstream(std::string(FLASHLAB_SOURCE_DIR "/") + path, std::ios::binary);
  };
  std::ifstream kernel = file("docs/examples/tile_scores.cu"),
                problem = file("exercises/42_reading_a_kernel/problem.md");
  std::ostringstream printed;
  for (std::string line; std::getline(kernel, line);) {
    printed << (line.empty() ? "" : "    ") << line << "\n";
  }
  CHECK(printed.str().size() > 500);
  CHECK_THAT((std::string{std::istreambuf_iterator<char>(problem), {}}), contains(printed.str()));
}

}  // namespace flashlab::test
