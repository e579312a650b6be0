// Factors of products in shared memory, copied there while others are multiplied, and products of
// fragments on tensor cores (level 1).
//
// A warp multiplies 16 x 16 by 16 x 8 numbers with one instruction. ldmatrix gives it the factors:
// eight rows of 16 bytes at once, which should lie in different banks. So a row takes 2, 6, 10, 14 …
// chunks of 16 bytes, and in rows 4 to 7 of 8 each two chunks are exchanged. (An odd number of chunks
// would do as well, but two chunks of DRAM's sectors of 32 bytes would not stay together, and an
// asynchronous copy would fetch the sector twice.)
//
// Source  PTX ISA, "ldmatrix", "cp.async", "Matrix multiply-accumulate operation using mma"
#ifndef FLASHLAB_FRAGMENT_PRODUCTS
#define FLASHLAB_FRAGMENT_PRODUCTS

namespace toy {

/// A tile of 16-bit numbers in shared memory. Beyond the edge of a smaller tile are zeros.
template <class ElementType, int kTileRows, int kTileCols>
struct SharedTile {
  using Element = ElementType;
  static constexpr int kRows = kTileRows, kCols = kTileCols;
  static constexpr int kRowElements = ((kCols / 8 + 1) / 4 * 4 + 2) * 8;
  static constexpr int rows = 2, cols = 2;
  Element* data;
  __device__ static int place(int row, int col) {
    return row * kRowElements + (col ^ (row & 4) * 2);
  }
  __device__ float operator()(int row, int col) const { return value_of(data[place(row, col)]); }
  __device__ float at(const Place& p) const { return (*this)(p.row(), p.col()); }
  /// Two numbers of one row, from an even column on.
  __device__ void write(int row, int col, unsigned pair) const {
    *reinterpret_cast<unsigned*>(data + place(row, col)) = pair;
  }
};
/// The transposed tile.
template <class Tile>
struct Turned {
  static constexpr int rows = 2, cols = 2;
  Tile tile;
  __device__ float at(const Place& p) const { return tile(p.col(), p.row()); }
};
template <class Element, int kRows, int kCols>
__device__ inline Turned<SharedTile<Element, kRows, kCols>> turned(
    const SharedTile<Element, kRows, kCols>& tile) {
  return {tile};
}

/// The place of an array in the block's memory.
template <class Element>
__device__ inline Element* shared_at(int bytes) {
  return reinterpret_cast<Element*>(shared_memory<unsigned char>() + bytes);
}

#ifdef __CUDACC__
using SharedAddress = unsigned;
__device__ inline SharedAddress shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
#else
using SharedAddress = unsigned long long;
__device__ inline SharedAddress shared_address(const void* shared) {
  return reinterpret_cast<SharedAddress>(shared);
}
#endif

// Copies -----------------------------------------------------------------------------------------------

/// Begins to copy 16 bytes, which are zeros if !is_there. They have come after arrive().
__device__ inline void copy_16_bytes(void* to, const void* from, bool is_there) {
#ifndef __CUDACC__
  flashlab::cuda::emulation::async_copies().issue(to, from, is_there);
  flashlab::cuda::emulation::async_copies().commit();
  if (is_there) flashlab::cuda::emulation::block_statistics().l2_loaded_bytes += 16;
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(is_there ? 16 : 0)
               : "memory");
#else
  *static_cast<uint4*>(to) =
      is_there ? __ldcg(static_cast<const uint4*>(from)) : make_uint4(0, 0, 0, 0);
#endif
}

/// Waits for all copies that this block has begun, and for all its threads.
__device__ inline void arrive() {
#ifndef __CUDACC__
  flashlab::cuda::emulation::async_copies().wait(0);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}

/// Begins to copy a tile of an array. kChunk: how many elements of a row can be copied at once,
/// because no tile and no row begins between them.
template <int kThreads, int kChunk, class Element, int kRows, int kCols, class From>
__device__ inline void copy(const SharedTile<Element, kRows, kCols>& to, const Cell<From>& cell) {
  constexpr int kChunks = kCols / kChunk, kAll = kRows * kChunks;
  constexpr int kPerThread = (kAll + kThreads - 1) / kThreads;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int at = thread + i * kThreads;
    if (kAll % kThreads != 0 && at >= kAll) break;
    const int row = at / kChunks, col = at % kChunks * kChunk;
    const bool is_there = row < cell.rows && col < cell.cols;
    Element* const target = to.data + to.place(row, col);
    const From* const from = cell.data + (is_there ? row * cell.stride + col : 0);
    if (kChunk == 8) {
      copy_16_bytes(target, from, is_there);
    } else if (kChunk == 4) {
      *reinterpret_cast<uint2*>(target) =
          is_there ? __ldcg(reinterpret_cast<const uint2*>(from)) : make_uint2(0, 0);
    } else if (kChunk == 2) {
      *reinterpret_cast<unsigned*>(target) =
          is_there ? __ldcg(reinterpret_cast<const unsigned*>(from)) : 0;
    } else {
      target->bits = is_there ? __ldcg(&from->bits) : static_cast<unsigned short>(0);
    }
  }
}

/// Begins to copy a column, whose numbers lie one after the other.
template <int kThreads, int kChunk, int kRows, class From>
__device__ inline void copy_column(const SharedColumn& to, const Cell<From>& cell) {
  for (int row = static_cast<int>(threadIdx.x) * kChunk; row < kRows; row += kThreads * kChunk) {
    const bool is_there = row < cell.rows;
    if (kChunk == 4) {
      copy_16_bytes(to.data + row, cell.data + (is_there ? row : 0), is_there);
    } else {
      to.data[row] = is_there ? __ldcg(cell.data + row) : 0.0f;
    }
  }
}

/// Multiplies a tile that has arrived by a number. The threads that compute wait before and after.
template <int kThreads, class Tile>
__device__ inline void scale(const Tile& tile, float number) {
  constexpr int kPairs = Tile::kCols / 2;
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kRows * kPairs; i += kThreads) {
    const int row = i / kPairs, col = i % kPairs * 2;
    tile.write(row, col,
               pair_of(typename Tile::Element(), multiply(tile(row, col), number),
                       multiply(tile(row, col + 1), number)));
  }
}

/// Writes a fragment to shared memory, rounded, as it is held; zeros beyond `rows` and `cols`.
template <class Tile, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void put(const Tile& to, const Fragment<kRows, kCols, kWarps, kTurned>& a,
                           int rows, int cols) {
  using A = Fragment<kRows, kCols, kWarps, kTurned>;
  for_each_place<A::kRowBlocks, A::kColBlocks>(A::first_row(), [&](const Place& p) {
    if (p.e % 2 != 0) return;
    const int row = p.row(), col = p.col();
    const float first = row < rows && col < cols ? a.x[p.m][p.n][p.e] : 0.0f;
    const float second = row < rows && col + 1 < cols ? a.x[p.m][p.n][p.e + 1] : 0.0f;
    to.write(row, col, pair_of(typename Tile::Element(), first, second));
  });
}
template <int kRows, int kWarps>
__device__ inline void put(const SharedColumn& to, const RowValues<kRows, kWarps>& a) {
  using A = RowValues<kRows, kWarps>;
#pragma unroll
  for (int m = 0; m < A::kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = A::first_row() + 16 * m + 8 * half + lane_of_warp() / 4;
      if (lane_of_warp() % 4 == 0) to.data[row] = a.x[m][half];
    }
  }
}

// Factors ----------------------------------------------------------------------------------------------

template <bool kIsTransposed>
__device__ inline void load_matrices(unsigned (&to)[4], SharedAddress row) {
#ifndef __CUDACC__
  flashlab::cuda::emulation::ldmatrix_x4(to, reinterpret_cast<const void*>(row), kIsTransposed);
#else
  if (kIsTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  }
#endif
}

/// 16 x 16 numbers of a tile from (row, col) on, multiples of 16: a lane gives the address of one row
/// of 8. Which chunks are exchanged depends on the lane alone.
/// kRowsFirst: the second of the four 8 x 8 matrices is below the first, not beside it.
template <class Tile, bool kRowsFirst>
struct Matrices {
  SharedAddress first;
  __device__ explicit Matrices(const Tile& tile) {
    const int lane = lane_of_warp();
    const int row = kRowsFirst ? lane % 16 : lane / 16 * 8 + lane % 8;
    const int col = kRowsFirst ? lane / 16 * 8 : lane / 8 % 2 * 8;
    first = shared_address(tile.data + tile.place(row, col));
  }
  __device__ SharedAddress at(int row, int col) const {
    return first + 2u * static_cast<unsigned>(row * Tile::kRowElements + col);
  }
};

/// The left factor, 16 x 16 for each step: rows of a tile, columns of a tile, or a fragment.
template <class Factor, class Tile>
struct LeftOfTile {
  Matrices<Tile, true> matrices;
  __device__ explicit LeftOfTile(const Tile& tile) : matrices(tile) {}
  __device__ void load(unsigned (&a)[4], int first_row, int m, int k) const {
    load_matrices<false>(a, matrices.at(first_row + 16 * m, 16 * k));
  }
};
template <class Factor, class Tile>
struct LeftOfTurned {
  Matrices<Tile, false> matrices;
  __device__ explicit LeftOfTurned(const Tile& tile) : matrices(tile) {}
  __device__ void load(unsigned (&a)[4], int first_row, int m, int k) const {
    load_matrices<true>(a, matrices.at(16 * k, first_row + 16 * m));
  }
};
template <class Factor, class Held>
struct LeftOfFragment {
  const Held& held;
  __device__ void load(unsigned (&a)[4], int, int m, int k) const {
    const auto& x = held.x[m];
    a[0] = pair_of(Factor(), x[2 * k][0], x[2 * k][1]);
    a[1] = pair_of(Factor(), x[2 * k][2], x[2 * k][3]);
    a[2] = pair_of(Factor(), x[2 * k + 1][0], x[2 * k + 1][1]);
    a[3] = pair_of(Factor(), x[2 * k + 1][2], x[2 * k + 1][3]);
  }
};
template <class Factor, int kRows, int kCols>
__device__ inline LeftOfTile<Factor, SharedTile<Factor, kRows, kCols>> left_factor(
    Factor, const SharedTile<Factor, kRows, kCols>& tile) {
  return LeftOfTile<Factor, SharedTile<Factor, kRows, kCols>>(tile);
}
template <class Factor, class Tile>
__device__ inline LeftOfTurned<Factor, Tile> left_factor(Factor, const Turned<Tile>& turned) {
  return LeftOfTurned<Factor, Tile>(turned.tile);
}
template <class Factor, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline LeftOfFragment<Factor, Fragment<kRows, kCols, kWarps, kTurned>> left_factor(
    Factor, const Fragment<kRows, kCols, kWarps, kTurned>& held) {
  return {held};
}

/// The right factor, 16 x 16 for each step.
template <class Tile, bool kIsTurned>
struct RightFactor {
  Matrices<Tile, !kIsTurned> matrices;
  static constexpr int kTerms = kIsTurned ? Tile::kCols : Tile::kRows;
  __device__ void load(unsigned (&b)[4], int k, int n) const {
    load_matrices<!kIsTurned>(
        b, kIsTurned ? matrices.at(16 * n, 16 * k) : matrices.at(16 * k, 16 * n));
  }
};
template <class Element, int kRows, int kCols>
__device__ inline auto right_factor(const SharedTile<Element, kRows, kCols>& tile) {
  using Tile = SharedTile<Element, kRows, kCols>;
  return RightFactor<Tile, false>{Matrices<Tile, true>(tile)};
}
template <class Tile>
__device__ inline auto right_factor(const Turned<Tile>& turned) {
  return RightFactor<Tile, true>{Matrices<Tile, false>(turned.tile)};
}

// Products ---------------------------------------------------------------------------------------------

/// target += left right, as they are held.
template <class Factor, class Left, class Right, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void add_product(Fragment<kRows, kCols, kWarps, kTurned>& target,
                                   const Left& left, const Right& right) {
  using Target = Fragment<kRows, kCols, kWarps, kTurned>;
  const auto rows = left_factor(Factor(), left);
  const auto cols = right_factor(right);
  constexpr int kSteps = decltype(right_factor(right))::kTerms / 16;
#pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    unsigned a[Target::kRowBlocks][4];
#pragma unroll
    for (int m = 0; m < Target::kRowBlocks; ++m) rows.load(a[m], Target::first_row(), m, k);
#pragma unroll
    for (int n = 0; n < Target::kColBlocks / 2; ++n) {
      unsigned b[4];
      cols.load(b, k, n);
      const unsigned b0[2] = {b[0], b[1]}, b1[2] = {b[2], b[3]};
#pragma unroll
      for (int m = 0; m < Target::kRowBlocks; ++m) {
        multiply_add(Factor(), target.x[m][2 * n], a[m], b0);
        multiply_add(Factor(), target.x[m][2 * n + 1], a[m], b1);
      }
    }
  }
}

/// target = left right.
template <class Factor, class Left, class Right, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void set_product(Fragment<kRows, kCols, kWarps, kTurned>& target,
                                   const Left& left, const Right& right) {
  set(target, scalar(0.0f));
  add_product<Factor>(target, left, right);
}

}  // namespace toy

#endif  // FLASHLAB_FRAGMENT_PRODUCTS
