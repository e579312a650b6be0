// The emulated asynchronous instructions of compute capability 9.0: what they compute, and for each
// rule a kernel with exactly one fault, which the emulation must name.
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/tensor.hpp"
#include "attention_cuda/bench/missing_fence.cuh"
#include "attention_cuda/emulation/async/warpgroups.hpp"
#include "attention_cuda/emulation/formats.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/stmatrix.cuh"
#include "attention_cuda/ptx/wgmma.cuh"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/catch_shim.hpp"

namespace emulation = flashlab::cuda::emulation;
namespace ptx = flashlab::cuda::ptx;
using flashlab::BFloat16;
using flashlab::test::contains, flashlab::test::error_of, flashlab::test::launch;

namespace {

constexpr int kRows = 64, kColumns = 64;
constexpr std::uint32_t kTileBytes = kRows * kColumns * 2;
constexpr int kWarpgroup = 128;

/// Which rule a kernel breaks.
enum class Fault {
  kNone,
  kNoFenceOfInit,
  kNoWait,
  kNoFenceOfProxy,
  kEndsTooEarly,
  kOverwritesInFlight,
  kTooManyArrivals,
  kNobodyArrives
};

/// Small numbers that bf16 holds exactly.
struct Tile {
  std::vector<BFloat16> values = std::vector<BFloat16>(kRows * kColumns);
  explicit Tile(int seed) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto small = static_cast<int>((i * 7 + static_cast<std::size_t>(seed) * 13) % 17) - 8;
      values[i] = emulation::round_to(BFloat16{}, static_cast<float>(small));
    }
  }
  float at(int row, int column) const {
    return emulation::to_float(
        values[static_cast<std::size_t>(row) * kColumns + static_cast<std::size_t>(column)]);
  }
  ptx::TensorMap map(int num_rows = kRows) {
    ptx::TensorLayout layout;
    layout.data = values.data();
    layout.sizes[0] = kColumns;
    layout.sizes[1] = static_cast<std::uint64_t>(num_rows);
    layout.strides[1] = kColumns * 2;
    layout.box_rows = kRows;
    return ptx::make_tensor_map(layout);
  }
};

ptx::SharedAddress shared_at(std::size_t bytes) {
  return ptx::shared_address(ptx::shared_memory() + bytes);
}

constexpr std::size_t kBarrierAt = 2 * kTileBytes;
constexpr std::size_t kSharedBytes = 2 * kTileBytes + 64;

/// The element of a swizzled tile.
std::uint16_t element_of_tile(std::size_t tile_at, int row, int column) {
  const std::size_t at = emulation::swizzled_128(tile_at + static_cast<std::size_t>(row) * 128 +
                                                 2 * static_cast<std::size_t>(column));
  std::uint16_t bits = 0;
  std::memcpy(&bits, ptx::shared_memory() + at, 2);
  return bits;
}

/// One warp loads a tile, and copies it to `seen` row by row.
__global__ void load_kernel(const ptx::TensorMap& map, BFloat16* seen, int first_row, Fault fault) {
  const ptx::SharedAddress barrier = shared_at(kBarrierAt);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    if (fault != Fault::kNoFenceOfInit) ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fault != Fault::kNobodyArrives) ptx::mbarrier_arrive_expect(barrier, kTileBytes);
    ptx::load_box(shared_at(0), map, barrier, 0, first_row, 0, 0);
    if (fault == Fault::kTooManyArrivals) ptx::mbarrier_arrive(barrier);
    if (fault == Fault::kOverwritesInFlight) {
      ptx::load_box(shared_at(1024), map, barrier, 0, first_row, 0, 0);
    }
  }
  if (fault != Fault::kNoWait) ptx::mbarrier_wait(barrier, 0);
  for (int row = static_cast<int>(threadIdx.x); row < kRows; row += 32) {
    for (int column = 0; column < kColumns; ++column) {
      seen[row * kColumns + column].bits = element_of_tile(0, row, column);
    }
  }
  if (fault == Fault::kNoWait) ptx::mbarrier_wait(barrier, 0);
}

std::vector<BFloat16> loaded(int first_row = 0, int num_rows = kRows, Fault fault = Fault::kNone) {
  Tile tile(1);
  std::vector<BFloat16> seen(kRows * kColumns);
  const ptx::TensorMap map = tile.map(num_rows);
  const auto error = launch(1, 32, kSharedBytes, load_kernel, map, seen.data(), first_row, fault);
  REQUIRE(error == cudaSuccess);
  return seen;
}

/// One warp writes a tile of ones with stmatrix, and stores it.
__global__ void store_kernel(const ptx::TensorMap& map, Fault fault) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int row = 0; row < kRows; row += 8) {
    for (int chunk = 0; chunk < 8; chunk += 4) {
      const int own_row = row + lane % 8, own_chunk = chunk + lane / 8;
      const std::size_t at =
          static_cast<std::size_t>(own_row) * 128 + static_cast<std::size_t>(own_chunk) * 16;
      constexpr std::uint32_t kTwoOnes = 0x3F803F80;
      ptx::store_matrices(shared_at(emulation::swizzled_128(at)), kTwoOnes, kTwoOnes, kTwoOnes,
                          kTwoOnes);
    }
  }
  if (fault != Fault::kNoFenceOfProxy) ptx::fence_async_proxy();
  __syncthreads();
  if (lane != 0) return;
  ptx::store_box(map, shared_at(0), 0, 0, 0, 0);
  ptx::commit_stores();
  if (fault != Fault::kEndsTooEarly) ptx::wait_stores_read<0>();
}

/// Each warp adds a number of its own to all of `sums`.
__global__ void addition_kernel(float* sums, std::uint32_t count, Fault fault) {
  const ptx::SharedAddress own = shared_at(threadIdx.x / 32 * kTileBytes);
  for (std::uint32_t k = threadIdx.x % 32; k < count; k += 32) {
    ptx::store_shared(own + 4 * k, __float_as_uint(threadIdx.x < 32 ? 1.F : 16.F));
  }
  if (fault != Fault::kNoFenceOfProxy) ptx::fence_async_proxy();
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  ptx::add_floats(sums, own, 4 * count);
  ptx::commit_stores();
  if (fault != Fault::kEndsTooEarly) ptx::wait_stores_read<0>();
}

/// Which rule a kernel of products breaks.
enum class ProductFault {
  kNone,
  kNoFence,
  kReadsTooEarly,
  kWritesAccumulators,
  kWritesA,
  kChangesWithoutFence,
  kEndsWithoutWait,
  kPointerWrites
};

/// A B^T, K-major both; A^T B, M-major and N-major; A B.
enum class Form { kABt, kAtB, kRegistersOfA };

/// Loads A [64, 64] and B [64, 64]. `d`: their product by thread and register.
__global__ void product_kernel(const ptx::TensorMap& a_map, const ptx::TensorMap& b_map, float* d,
                               Form form, ProductFault fault) {
  const ptx::SharedAddress barrier = shared_at(kBarrierAt);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect(barrier, 2 * kTileBytes);
    ptx::load_box(shared_at(0), a_map, barrier, 0, 0, 0, 0);
    ptx::load_box(shared_at(kTileBytes), b_map, barrier, 0, 0, 0, 0);
  }
  ptx::mbarrier_wait(barrier, 0);
  if (fault == ProductFault::kPointerWrites && threadIdx.x == 0) ptx::shared_memory()[2] ^= 1;
  float sums[32];
  for (float& sum : sums) sum = 1;
  if (fault != ProductFault::kNoFence) ptx::wgmma_fence();
  const int row = static_cast<int>(threadIdx.x) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
  const int column = static_cast<int>(threadIdx.x) % 4 * 2;
  std::uint32_t a[4][4];
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 4; ++i) {
      const int r = row + i % 2 * 8, c = 16 * k + column + i / 2 * 8;
      a[k][i] = element_of_tile(0, r, c) | static_cast<std::uint32_t>(element_of_tile(0, r, c + 1))
                                               << 16;
    }
  }
  for (int k = 0; k < 4; ++k) {
    const auto step = static_cast<std::uint32_t>(k);
    if (form == Form::kAtB) {
      const std::uint64_t rows = ptx::descriptor_step(2048 * step);
      ptx::wgmma<BFloat16, true>(sums, ptx::matrix_descriptor(shared_at(0), kTileBytes) + rows,
                                 ptx::matrix_descriptor(shared_at(kTileBytes), kTileBytes) + rows,
                                 k > 0);
    } else if (form == Form::kRegistersOfA) {
      ptx::wgmma<BFloat16>(sums, a[k],
                           ptx::matrix_descriptor(shared_at(kTileBytes), kTileBytes) +
                               ptx::descriptor_step(2048 * step),
                           k > 0);
    } else {
      const std::uint64_t bytes = ptx::descriptor_step(32 * step);
      ptx::wgmma<BFloat16>(sums, ptx::matrix_descriptor(shared_at(0)) + bytes,
                           ptx::matrix_descriptor(shared_at(kTileBytes)) + bytes, k > 0);
    }
  }
  ptx::wgmma_commit();
  if (fault == ProductFault::kReadsTooEarly) {
    for (int i = 0; i < 32; ++i) d[threadIdx.x * 32 + i] = sums[i];
  }
  if (fault == ProductFault::kWritesAccumulators && threadIdx.x == 5) sums[3] = 0;
  if (fault == ProductFault::kWritesA && threadIdx.x == 5) a[3][1] = 0;
  if (fault == ProductFault::kEndsWithoutWait) return;
  ptx::wgmma_wait<0>();
  if (fault == ProductFault::kReadsTooEarly) return;
  if (fault == ProductFault::kChangesWithoutFence) {
    sums[0] *= 2;
    ptx::wgmma<BFloat16>(sums, ptx::matrix_descriptor(shared_at(0)),
                         ptx::matrix_descriptor(shared_at(kTileBytes)), true);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
  }
  for (int i = 0; i < 32; ++i) d[threadIdx.x * 32 + i] = sums[i];
}

std::vector<float> product(Form form, ProductFault fault = ProductFault::kNone) {
  Tile A(2), B(3);
  std::vector<float> d(kWarpgroup * 32);
  const ptx::TensorMap a_map = A.map(), b_map = B.map();
  const auto error =
      launch(1, kWarpgroup, kSharedBytes, product_kernel, a_map, b_map, d.data(), form, fault);
  REQUIRE(error == cudaSuccess);
  return d;
}

std::string error_of_load(Fault fault) {
  return error_of([fault] { loaded(0, kRows, fault); });
}
std::string error_of_product(ProductFault fault) {
  return error_of([fault] { product(Form::kRegistersOfA, fault); });
}

}  // namespace

TEST_CASE("a bulk load brings a box into the 128-byte swizzle", "[async]") {
  const Tile tile(1);
  const std::vector<BFloat16> seen = loaded();
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i].bits == tile.values[i].bits);
}

TEST_CASE("a bulk load fills what lies outside of the tensor with zeros", "[async]") {
  constexpr int kFirst = 10, kNumRows = 40;
  const Tile tile(1);
  const std::vector<BFloat16> seen = loaded(kFirst, kNumRows);
  for (int row = 0; row < kRows; ++row) {
    const float expected = kFirst + row < kNumRows ? tile.at(kFirst + row, 5) : 0;
    CHECK(emulation::to_float(seen[static_cast<std::size_t>(row * kColumns + 5)]) == expected);
  }
}

TEST_CASE("a bulk store writes a box, and nothing outside of the tensor", "[async]") {
  constexpr int kNumRows = 40;
  Tile tile(4);
  const Tile before(4);
  const ptx::TensorMap map = tile.map(kNumRows);
  REQUIRE(launch(1, 32, kSharedBytes, store_kernel, map, Fault::kNone) == cudaSuccess);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      CHECK(tile.at(row, column) == (row < kNumRows ? 1 : before.at(row, column)));
    }
  }
}

TEST_CASE("wgmma multiplies, from shared memory and from registers", "[async]") {
  const Tile A(2), B(3);
  for (const Form form : {Form::kABt, Form::kAtB, Form::kRegistersOfA}) {
    const std::vector<float> d = product(form);
    for (int thread = 0; thread < kWarpgroup; ++thread) {
      for (int i = 0; i < 32; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        float expected = 0;
        for (int k = 0; k < 64; ++k) {
          expected += (form == Form::kAtB ? A.at(k, row) : A.at(row, k)) *
                      (form == Form::kABt ? B.at(column, k) : B.at(k, column));
        }
        REQUIRE(d[static_cast<std::size_t>(thread * 32 + i)] == expected);
      }
    }
  }
}

TEST_CASE("a load needs a barrier whose initialisation was fenced", "[async]") {
  CHECK_THAT(error_of_load(Fault::kNoFenceOfInit), contains("no fence.mbarrier_init"));
}

TEST_CASE("the bytes of a load are NaN until the wait", "[async]") {
  bool has_seen_nan = false;
  for (const BFloat16 value : loaded(0, kRows, Fault::kNoWait)) {
    has_seen_nan = has_seen_nan || std::isnan(emulation::to_float(value));
  }
  CHECK(has_seen_nan);
}

TEST_CASE("two loads into the same bytes are an error", "[async]") {
  CHECK_THAT(error_of_load(Fault::kOverwritesInFlight), contains("which bulk load 1"));
}

TEST_CASE("an mbarrier counts arrivals and bytes, and a deadlock says what is missing", "[async]") {
  CHECK_THAT(error_of_load(Fault::kTooManyArrivals), contains("more arrivals than the 1"));
  CHECK_THAT(error_of_load(Fault::kNobodyArrives),
             contains("phase 0 misses 1 of 1 arrivals and -8192 bytes"));
}

TEST_CASE("a store reads what was fenced, and no other writes", "[async]") {
  Tile tile(4);
  const ptx::TensorMap map = tile.map();
  const auto error_of_store = [&](Fault fault) {
    return error_of([&] { launch(1, 32, kSharedBytes, store_kernel, map, fault); });
  };
  CHECK_THAT(error_of_store(Fault::kNoFenceOfProxy), contains("wrote without fence.proxy.async"));
  CHECK_THAT(error_of_store(Fault::kEndsTooEarly), contains("may still read shared memory"));
}

TEST_CASE("bulk additions of several warps and blocks add up", "[async]") {
  alignas(16) float sums[256] = {};
  const auto error_of_addition = [&](Fault fault) {
    return error_of([&] { launch(3, 64, kSharedBytes, addition_kernel, sums, 256U, fault); });
  };
  CHECK(error_of_addition(Fault::kNone) == "no error");
  for (const float sum : sums) CHECK(sum == 3 * (1 + 16));
  CHECK_THAT(error_of_addition(Fault::kNoFenceOfProxy),
             contains("wrote without fence.proxy.async"));
  CHECK_THAT(error_of_addition(Fault::kEndsTooEarly), contains("may still read shared memory"));
}

TEST_CASE("a missing proxy fence that shows on no GPU is named", "[async]") {
  Tile tile(4);
  const ptx::TensorMap map = tile.map();
  using namespace flashlab::cuda;
  const auto store = [&](auto kernel) {
    return error_of([&] { launch(1, kFenceThreads, kFenceTileBytes + 1024, kernel, map); });
  };
  CHECK(store(store_ones_kernel<true>) == "no error");
  for (const BFloat16 value : tile.values) REQUIRE(emulation::to_float(value) == 1);
  CHECK_THAT(store(store_ones_kernel<false>), contains("wrote without fence.proxy.async"));
}

TEST_CASE("wgmma needs a fence before registers that changed", "[async]") {
  CHECK_THAT(error_of_product(ProductFault::kNoFence), contains("before any wgmma.fence"));
  CHECK_THAT(error_of_product(ProductFault::kChangesWithoutFence),
             contains("changed since the last wgmma.fence"));
}

TEST_CASE("accumulators carry the number of the product in flight until the wait", "[async]") {
  for (const float value : product(Form::kRegistersOfA, ProductFault::kReadsTooEarly)) {
    CHECK(emulation::poisoned_by(value) == 4);
  }
  CHECK_THAT(error_of_product(ProductFault::kWritesAccumulators), contains("wgmma 4"));
  CHECK_THAT(error_of_product(ProductFault::kWritesA), contains("changed registers of A"));
  CHECK_THAT(error_of_product(ProductFault::kEndsWithoutWait),
             contains("before it waited for its wgmma"));
}

TEST_CASE("wgmma does not see what was written through a pointer", "[async]") {
  CHECK_THAT(error_of([] { product(Form::kABt, ProductFault::kPointerWrites); }),
             contains("written through a pointer"));
}

TEST_CASE("a tensor that bulk copies cannot address says why", "[async]") {
  ptx::TensorLayout layout;
  layout.sizes[0] = 64;
  CHECK_FALSE(ptx::why_not_addressable(layout));
  layout.sizes[0] = 60;
  CHECK_THAT(*ptx::why_not_addressable(layout), contains("its rows have 120 bytes"));
  layout.sizes[0] = 64;
  layout.strides[1] = 24;
  CHECK_THAT(*ptx::why_not_addressable(layout), contains("axis 1 has a stride of 24 bytes"));
  layout.strides[1] = 128;
  layout.box_rows = 257;
  CHECK_THAT(*ptx::why_not_addressable(layout), contains("a box has 257 rows"));
  layout.box_rows = 64;
  layout.sizes[0] = 0;
  CHECK_THAT(*ptx::why_not_addressable(layout), contains("axis 0 has 0 elements"));
  layout.sizes[0] = 64;
  layout.data = reinterpret_cast<void*>(8);
  CHECK_THAT(*ptx::why_not_addressable(layout), contains("multiple of 16"));
}
