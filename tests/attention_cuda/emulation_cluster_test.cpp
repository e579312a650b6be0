// The emulated clusters of compute capability 9.0: what blocks do to each other, and for each rule a
// kernel with exactly one fault, which the emulation must name.
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "attention/tensor.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/formats.hpp"
#include "attention_cuda/ptx/cluster.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/catch_shim.hpp"

namespace emulation = flashlab::cuda::emulation;
namespace ptx = flashlab::cuda::ptx;
using flashlab::BFloat16;
using flashlab::test::contains;
using flashlab::test::error_of;

namespace {

enum class ClusterFault {
  kNone,
  kNoBarrierAtStart,
  kNoBarrierAtEnd,
  kNoFenceOfProxy,
  kNoWait,
  kArrivesTwice,
  kWaitsWithoutArriving,
  kBarrierOfOwnBlock,
  kBlockThatIsNone
};

constexpr std::uint32_t kSentBytes = 256;
constexpr std::size_t kFromAt = 0, kToAt = 1024, kFullAt = 2048, kReadAt = 2056,
                      kExchangeBytes = 2064;

template <class... Parameters, class... Arguments>
cudaError_t launch_clusters(unsigned num_blocks, unsigned blocks_of_cluster, unsigned num_threads,
                            std::size_t shared_bytes, void (*kernel)(Parameters...),
                            Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks_of_cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = num_blocks;
  config.blockDim = num_threads;
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

ptx::SharedAddress place_in_shared(std::size_t bytes) {
  return ptx::shared_address(ptx::shared_memory() + bytes);
}

/// Each block of two sends 64 numbers to the other, which writes them to `received`; then it says so.
__global__ void exchange_kernel(std::uint32_t* received, ClusterFault fault) {
  const int other = 1 - ptx::cluster_rank();
  const auto thread = static_cast<int>(threadIdx.x);
  if (fault == ClusterFault::kWaitsWithoutArriving) ptx::cluster_wait();
  if (thread == 0) {
    ptx::mbarrier_init(place_in_shared(kFullAt), 1);
    ptx::mbarrier_init(place_in_shared(kReadAt), 32);
    ptx::fence_mbarrier_init();
  }
  if (fault != ClusterFault::kNoBarrierAtStart) {
    ptx::cluster_arrive();
    if (fault == ClusterFault::kArrivesTwice) ptx::cluster_arrive();
    ptx::cluster_wait();
  }
  for (int k = thread; k < 64; k += 32) {
    ptx::store_shared(place_in_shared(kFromAt + 4 * static_cast<std::size_t>(k)),
                      static_cast<std::uint32_t>(1000 * ptx::cluster_rank() + k));
  }
  if (fault != ClusterFault::kNoFenceOfProxy) ptx::fence_async_proxy();
  __syncthreads();
  if (thread == 0) {
    ptx::mbarrier_arrive_expect(place_in_shared(kFullAt), kSentBytes);
    const int to = fault == ClusterFault::kBlockThatIsNone ? 2 : other;
    const ptx::ClusterAddress full = ptx::in_block_of_cluster(
        place_in_shared(kFullAt), fault == ClusterFault::kBarrierOfOwnBlock ? 1 - other : other);
    ptx::copy_to_block(ptx::in_block_of_cluster(place_in_shared(kToAt), to),
                       place_in_shared(kFromAt), kSentBytes, full);
  }
  if (fault != ClusterFault::kNoWait) ptx::mbarrier_wait(place_in_shared(kFullAt), 0);
  for (int k = thread; k < 64; k += 32) {
    received[64 * blockIdx.x + static_cast<unsigned>(k)] =
        reinterpret_cast<const std::uint32_t*>(place_in_shared(kToAt))[k];
  }
  ptx::mbarrier_arrive_in_cluster(ptx::in_block_of_cluster(place_in_shared(kReadAt), other));
  if (fault == ClusterFault::kNoBarrierAtEnd) return;
  ptx::mbarrier_wait(place_in_shared(kReadAt), 0);
  ptx::cluster_arrive();
  ptx::cluster_wait();
}

std::vector<std::uint32_t> exchanged(ClusterFault fault = ClusterFault::kNone) {
  std::vector<std::uint32_t> received(6 * 64);
  const auto error =
      launch_clusters(6, 2, 32, kExchangeBytes, exchange_kernel, received.data(), fault);
  REQUIRE(error == cudaSuccess);
  return received;
}

/// The errors of several orders of the threads, one after another.
std::string errors_of_exchange(ClusterFault fault) {
  std::string errors;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    emulation::set_schedule_seed(seed);
    errors += error_of([fault] { exchanged(fault); }) + "\n";
  }
  emulation::set_schedule_seed(1);
  return errors;
}

constexpr int kBoxRows = 8, kBoxColumns = 64;
constexpr std::uint32_t kBoxBytes = kBoxRows * kBoxColumns * 2;

/// Block r loads box r for all blocks of its cluster; each writes what it has to `seen`.
__global__ void multicast_kernel(const ptx::TensorMap& map, BFloat16* seen, int num_blocks) {
  const ptx::SharedAddress full = place_in_shared(2 * kBoxBytes);
  const int rank = ptx::cluster_rank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_arrive();
  ptx::cluster_wait();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect(full, static_cast<std::uint32_t>(num_blocks) * kBoxBytes);
    ptx::load_box_of_cluster(place_in_shared(static_cast<std::size_t>(rank) * kBoxBytes), map, full,
                             static_cast<std::uint16_t>((1 << num_blocks) - 1), 0, kBoxRows * rank,
                             0, 0);
  }
  ptx::mbarrier_wait(full, 0);
  for (int k = static_cast<int>(threadIdx.x); k < 2 * kBoxRows * kBoxColumns; k += 32) {
    seen[static_cast<int>(blockIdx.x) * 2 * kBoxRows * kBoxColumns + k] =
        reinterpret_cast<const BFloat16*>(place_in_shared(0))[k];
  }
  ptx::cluster_arrive();
  ptx::cluster_wait();
}

/// Writes the rank of each block, after as many barriers of the cluster as it is told.
__global__ void rank_kernel(int* ranks, int num_barriers) {
  for (int i = 0; i < num_barriers; ++i) {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  }
  if (threadIdx.x == 0) ranks[blockIdx.x] = ptx::cluster_rank();
}

}  // namespace

TEST_CASE("neighbouring blocks form clusters", "[cluster]") {
  std::array<int, 8> ranks{};
  REQUIRE(launch_clusters(8, 4, 40, 0, rank_kernel, ranks.data(), 3) == cudaSuccess);
  CHECK(ranks == std::array{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("a grid that its clusters do not divide is refused", "[cluster]") {
  std::array<int, 8> ranks{};
  CHECK(launch_clusters(6, 4, 32, 0, rank_kernel, ranks.data(), 0) == cudaErrorInvalidClusterSize);
  CHECK(launch_clusters(16, 16, 32, 0, rank_kernel, ranks.data(), 0) ==
        cudaErrorInvalidClusterSize);
}

TEST_CASE("the blocks of a cluster exchange shared memory", "[cluster]") {
  const std::vector<std::uint32_t> received = exchanged();
  for (std::size_t i = 0; i < received.size(); ++i) {
    CHECK(received[i] == 1000 * (1 - i / 64 % 2) + i % 64);
  }
}

TEST_CASE("a load of a cluster reaches each of its blocks", "[cluster]") {
  std::vector<BFloat16> values(2 * kBoxRows * kBoxColumns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<std::uint16_t>(i);
  ptx::TensorLayout layout;
  layout.data = values.data();
  layout.sizes[0] = kBoxColumns;
  layout.sizes[1] = 2 * kBoxRows;
  layout.strides[1] = kBoxColumns * 2;
  layout.box_rows = kBoxRows;
  const ptx::TensorMap map = ptx::make_tensor_map(layout);
  std::vector<BFloat16> seen(2 * values.size());
  REQUIRE(launch_clusters(2, 2, 32, 2 * kBoxBytes + 8, multicast_kernel, map, seen.data(), 2) ==
          cudaSuccess);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::size_t at = i % values.size() * 2;  // in bytes
    CHECK(seen[i].bits == values[emulation::swizzled_128(at) / 2].bits);
  }
}

TEST_CASE("a block must not signal another one before its barriers exist", "[cluster]") {
  CHECK_THAT(errors_of_exchange(ClusterFault::kNoBarrierAtStart),
             contains("was never initialised"));
}

TEST_CASE("a block must not end while another one still signals it", "[cluster]") {
  CHECK_THAT(errors_of_exchange(ClusterFault::kNoBarrierAtEnd), contains("which has ended"));
}

TEST_CASE("a copy to another block reads what was fenced", "[cluster]") {
  CHECK_THAT(errors_of_exchange(ClusterFault::kNoFenceOfProxy),
             contains("wrote without fence.proxy.async"));
}

TEST_CASE("what another block sends is NaN until the wait", "[cluster]") {
  bool has_seen_nan = false;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    emulation::set_schedule_seed(seed);
    for (const std::uint32_t number : exchanged(ClusterFault::kNoWait)) {
      has_seen_nan = has_seen_nan || number == ~0U;
    }
  }
  emulation::set_schedule_seed(1);
  CHECK(has_seen_nan);
}

TEST_CASE("each arrival at a cluster's barrier has its wait", "[cluster]") {
  CHECK_THAT(errors_of_exchange(ClusterFault::kArrivesTwice),
             contains("barrier.cluster.arrive twice"));
  CHECK_THAT(errors_of_exchange(ClusterFault::kWaitsWithoutArriving),
             contains("barrier.cluster.wait without"));
}

TEST_CASE("a copy names a block of the cluster, and an mbarrier there", "[cluster]") {
  CHECK_THAT(errors_of_exchange(ClusterFault::kBarrierOfOwnBlock),
             contains("is not in the block that the bytes go to"));
  CHECK_THAT(errors_of_exchange(ClusterFault::kBlockThatIsNone),
             contains("mapa for block 2 of a cluster of 2"));
}
