// The sums of dQ that blocks add to in global memory, in fp32, and the kernel that rounds them.
//
// A tile of sums [kBlockQ, kHeadDim] has parts, one after the other: 64 queries, or a panel of columns. In a
// part the columns come by eights, as the 128 threads of a warpgroup hold them (ptx/wgmma.cuh), four sums
// each.
#pragma once

#include <cstdint>

#include "attention_cuda/device/quad_transpose.cuh"
#include "attention_cuda/kernels/backward_wgmma/loading.cuh"

namespace flashlab::cuda {

/// Whether the last part has fewer columns than the others.
template <class Config>
inline constexpr bool kLastPartIsShort = Config::kHeadDim % Config::kColumnsOfDQ != 0;

/// How many columns a part of a tile has.
template <class Config>
__device__ constexpr int columns_of_part(int part) {
  if constexpr (!kLastPartIsShort<Config>) return Config::kColumnsOfDQ;
  const int left = Config::kHeadDim - part * Config::kColumnsOfDQ;
  return left < Config::kColumnsOfDQ ? left : Config::kColumnsOfDQ;
}
template <class Config>
__device__ constexpr int bytes_of_part(int part) {
  return 4 * BwdWgmmaShape::kRowsOfWarpgroup * columns_of_part<Config>(part);
}
/// Where a part of tile number `tile` of dQ begins.
template <class Config, class Float>
__device__ Float* sums_of_part(Float* dQ_sums, std::int64_t tile, int part) {
  if constexpr (!kLastPartIsShort<Config>) {
    return dQ_sums + (tile * Config::kPartsOfDQ + part) * Config::kSumsOfPart;
  }
  return dQ_sums + tile * Config::kSumsOfTile + part * Config::kSumsOfPart;
}

/// One block converts a tile of sums into rows of dQ.
template <class Config>
__global__ void __launch_bounds__(Config::kPartsOfDQ* Config::kWarpgroup)
    dQ_of_wgmma_sums_kernel(DeviceTensor<std::uint16_t> dQ, const float* dQ_sums, const Sizes sizes,
                            float softmax_scale) {
  ptx::wait_for_previous_kernels();  // the sums are complete
  const auto num_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, Config::kBlockQ));
  const Place place = place_of(blockIdx.x, num_tiles, sizes);
  const int thread = static_cast<int>(threadIdx.x), warpgroup = thread / Config::kWarpgroup;
  const auto* const from = reinterpret_cast<const float4*>(
                               sums_of_part<Config>(dQ_sums, std::int64_t{blockIdx.x}, warpgroup)) +
                           thread % Config::kWarpgroup;
  const int num_columns = columns_of_part<Config>(warpgroup);
  float sums[Config::kColumnsOfDQ / 2];
#pragma unroll
  for (int i = 0; i < Config::kColumnsOfDQ / 8; ++i) {
    const float4 four = 8 * i < num_columns ? from[i * Config::kWarpgroup] : float4{};
    sums[4 * i] = four.x;
    sums[4 * i + 1] = four.y;
    sums[4 * i + 2] = four.z;
    sums[4 * i + 3] = four.w;
  }
  const int first_chunk = Config::kDividesColumns ? warpgroup * Config::kColumnsOfDQ / 8 : 0;
  const int first_row = place.part * Config::kBlockQ +
                        (Config::kDividesColumns ? 0 : warpgroup * BwdWgmmaShape::kRowsOfWarpgroup);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread % Config::kWarpgroup / 32 * 16 + thread % 32 / 4 + 8 * r;
    store_row_of_sums<typename Config::Element>(dQ.row(place.b, place.h, row) + 8 * first_chunk,
                                                row < sizes.seqlen_q, sums, r, softmax_scale,
                                                sizes.head_dim / 8 - first_chunk, thread % 32);
  }
}

}  // namespace flashlab::cuda
