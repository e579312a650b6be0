// The tiles of the block of a K/V tile in shared memory (backward_key_tile.cuh), and where the lanes of a
// warp read and write them.
//
// For 16-bit elements a lane computes its places once and keeps them in five registers, from which each use
// differs by a constant and a multiple of a tile. Recomputed at each use, they would cost 10 % more
// instructions per query tile, most of them between a barrier or a branch and the products that wait for
// them. For fp32 elements no registers are left.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/tensor_core.cuh"
#include "attention_cuda/device/warp_products.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// K, V [kBlockKV, kHeadDim]; Q, dO [kStages][kBlockQ, kHeadDim]; dS [kGradientTiles][kBlockKV, kBlockQ], of
/// which the second one is P if warps share scores.
template <class Config>
struct KeyTileMemory {
  using KeyTile = typename Config::KeyTile;
  using QueryTile = typename Config::QueryTile;
  using GradientTile = typename Config::GradientTile;
  static constexpr int kV = KeyTile::kBytes, kQ = 2 * kV;
  static constexpr int kDO = kQ + Config::kStages * QueryTile::kBytes;
  static constexpr int kDS = kDO + Config::kStages * QueryTile::kBytes;
  static constexpr int kBytes = kDS + Config::kGradientTiles * GradientTile::kBytes;

  __device__ __forceinline__ KeyTile K() const { return at<KeyTile>(0); }
  __device__ __forceinline__ KeyTile V() const { return at<KeyTile>(kV); }
  __device__ __forceinline__ QueryTile Q(int stage) const {
    return at<QueryTile>(kQ + stage * QueryTile::kBytes);
  }
  __device__ __forceinline__ QueryTile dO(int stage) const {
    return at<QueryTile>(kDO + stage * QueryTile::kBytes);
  }
  __device__ __forceinline__ GradientTile dS(int index) const {
    return at<GradientTile>(kDS + index * GradientTile::kBytes);
  }

 private:
  template <class Tile>
  static __device__ __forceinline__ Tile at(int byte) {
    return {reinterpret_cast<typename Tile::Element*>(ptx::shared_memory() + byte)};
  }
};

/// What a warp works on. Its numbers are recomputed at each use: they would occupy registers all the time.
template <class Config>
struct KeyTileWarp {
  using TensorCore = typename Config::TensorCore;
  using Element = typename Config::Element;
  using Keys = SharedTile<Element, Config::kWarpKeys, Config::kHeadDim>;
  using Queries = SharedTile<Element, Config::kWarpChunk, Config::kHeadDim>;
  using Gradients = SharedTile<Element, Config::kWarpKeys, Config::kBlockQ>;
  static constexpr int kChunkElements = Config::KeyTile::kChunkElements;
  static constexpr bool kIsShared = Config::kSharesScores;

  static __device__ __forceinline__ int warp() {
    return static_cast<int>(ptx::opaque(threadIdx.x)) / 32;
  }
  static __device__ __forceinline__ int first_key() {
    return (Config::kColumnWarps == 1 ? warp() : warp() % Config::kKeyWarps) * Config::kWarpKeys;
  }
  static __device__ __forceinline__ int first_column() {
    return Config::kColumnWarps == 1 ? 0 : warp() / Config::kKeyWarps * Config::kWarpColumns;
  }
  static __device__ __forceinline__ int lane() {
    return TensorCore::kSplitsValues || kIsShared ? new_lane_id() : lane_id();
  }
  /// Columns of dK and dV: the warp's.
  template <class Columns>
  static __device__ __forceinline__ Columns of_warp(Columns columns) {
    if (Config::kColumnWarps > 1) columns.skip_chunks(first_column() / kChunkElements);
    return columns;
  }
};

/// The places of a lane: rows_of and columns_of for products (device/tensor_core.cuh), sums_of for sums
/// that are stored. q: the first query, within its tile.
template <class Config, bool kHasRegisters = sizeof(typename Config::Element) == 2>
class KeyTilePlaces : public KeyTileWarp<Config> {
  using Base = KeyTileWarp<Config>;
  using Memory = KeyTileMemory<Config>;
  using TensorCore = typename Config::TensorCore;
  using typename Base::Gradients, typename Base::Keys, typename Base::Queries;
  template <class Tile>
  using BColumns = typename TensorCore::template BColumns<Tile>;
  template <class Tile>
  using AColumns = typename TensorCore::template AColumns<Tile>;

 public:
  static constexpr bool kKeepsPlaces = false;
  __device__ __forceinline__ explicit KeyTilePlaces(const Memory& tiles) : tiles_(tiles) {}

  __device__ __forceinline__ ARows<Keys> rows_of_K() const { return keys(tiles_.K()); }
  __device__ __forceinline__ ARows<Keys> rows_of_V() const { return keys(tiles_.V()); }
  __device__ __forceinline__ BRows<Queries> rows_of_Q(int stage, int q) const {
    return BRows<Queries>(rows_from<Config::kWarpChunk>(tiles_.Q(stage), q), Base::lane());
  }
  __device__ __forceinline__ BRows<Queries> rows_of_dO(int stage, int q) const {
    return BRows<Queries>(rows_from<Config::kWarpChunk>(tiles_.dO(stage), q), Base::lane());
  }
  __device__ __forceinline__ BColumns<Queries> columns_of_Q(int stage, int q) const {
    return columns(rows_from<Config::kWarpChunk>(tiles_.Q(stage), q));
  }
  __device__ __forceinline__ BColumns<Queries> columns_of_dO(int stage, int q) const {
    return columns(rows_from<Config::kWarpChunk>(tiles_.dO(stage), q));
  }
  __device__ __forceinline__ LaneRow<Gradients> sums_of_dS(int stage) const {
    return sums_place(rows_from<Config::kWarpKeys>(tiles_.dS(stage), Base::first_key()),
                      Base::lane());
  }
  __device__ __forceinline__ AColumns<typename Memory::GradientTile> columns_of_dS(
      int stage) const {
    return AColumns<typename Memory::GradientTile>(tiles_.dS(stage), new_lane_id());
  }
  __device__ __forceinline__ BColumns<typename Memory::KeyTile> columns_of_K() const {
    return BColumns<typename Memory::KeyTile>(tiles_.K(), new_lane_id());
  }

 private:
  static __device__ __forceinline__ ARows<Keys> keys(const typename Memory::KeyTile& tile) {
    return ARows<Keys>(rows_from<Config::kWarpKeys>(tile, Base::first_key()), Base::lane());
  }
  static __device__ __forceinline__ BColumns<Queries> columns(const Queries& queries) {
    return Base::of_warp(BColumns<Queries>(queries, Base::lane()));
  }

  Memory tiles_;
};

template <class Config>
class KeyTilePlaces<Config, true> : public KeyTileWarp<Config> {
  using Base = KeyTileWarp<Config>;
  using Memory = KeyTileMemory<Config>;
  using typename Base::Gradients, typename Base::Keys, typename Base::Queries;
  using QueryColumns = typename Config::TensorCore::template BColumns<Queries>;
  using GradientColumns =
      typename Config::TensorCore::template AColumns<typename Memory::GradientTile>;
  static constexpr int kRowBytes = Memory::QueryTile::kRowBytes;
  static constexpr int kOfDO = Memory::kDO - Memory::kQ;  // from a place in Q

 public:
  static constexpr bool kKeepsPlaces = true;
  __device__ __forceinline__ explicit KeyTilePlaces(const Memory& tiles)
      : tiles_(tiles),
        keys_(rows_from<Config::kWarpKeys>(tiles.K(), Base::first_key())),
        queries_(rows_from<Config::kWarpChunk>(tiles.Q(0), 0)),
        columns_(rows_from<Config::kWarpChunk>(tiles.Q(0), 0)),
        sums_(sums_place(gradients(), lane_id())),
        gradients_(gradients()) {}

  __device__ __forceinline__ ARows<Keys> rows_of_K() const { return keys_; }
  __device__ __forceinline__ ARows<Keys> rows_of_V() const { return moved(keys_, Memory::kV); }
  __device__ __forceinline__ BRows<Queries> rows_of_Q(int stage, int q) const {
    return moved(queries_, row(stage, q));
  }
  __device__ __forceinline__ BRows<Queries> rows_of_dO(int stage, int q) const {
    return moved(queries_, row(stage, q) + kOfDO);
  }
  __device__ __forceinline__ QueryColumns columns_of_Q(int stage, int q) const {
    return moved(Base::of_warp(columns_), row(stage, q));
  }
  __device__ __forceinline__ QueryColumns columns_of_dO(int stage, int q) const {
    return moved(Base::of_warp(columns_), row(stage, q) + kOfDO);
  }
  __device__ __forceinline__ LaneRow<Gradients> sums_of_dS(int stage) const {
    return moved(sums_, stage * Memory::GradientTile::kBytes);
  }
  __device__ __forceinline__ LaneRow<Gradients> sums_of_P() const {
    return moved(sums_, Memory::GradientTile::kBytes);
  }
  __device__ __forceinline__ ARows<Gradients> rows_of_dS() const { return gradients_; }
  __device__ __forceinline__ ARows<Gradients> rows_of_P() const {
    return moved(gradients_, Memory::GradientTile::kBytes);
  }
  __device__ __forceinline__ GradientColumns columns_of_dS(int stage) const {
    return GradientColumns(tiles_.dS(stage), new_lane_id());
  }
  /// Rows of K are as long as those of Q.
  __device__ __forceinline__ QueryColumns columns_of_K() const {
    return moved(columns_, -Memory::kQ);
  }

 private:
  __device__ __forceinline__ Gradients gradients() const {
    return rows_from<Config::kWarpKeys>(tiles_.dS(0), Base::first_key());
  }
  static __device__ __forceinline__ int row(int stage, int q) {
    return (stage * Config::kBlockQ + q) * kRowBytes;
  }
  template <class Place>
  static __device__ __forceinline__ Place moved(Place place, int bytes) {
    place.move(bytes);
    return place;
  }

  Memory tiles_;
  ARows<Keys> keys_;
  BRows<Queries> queries_;
  QueryColumns columns_;
  LaneRow<Gradients> sums_;
  ARows<Gradients> gradients_;
};

}  // namespace flashlab::cuda
