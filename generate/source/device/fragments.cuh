// Registers of the machine in the threads' registers (level 1), and what is done with them element by
// element.
//
// A Fragment is a tile whose rows are divided among the warps; each warp's part consists of 16 x 8
// blocks in the layout of the tensor cores' sums: lane l, with g = l / 4 and t = l % 4, has the
// elements (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1) of each. A RowValues is a column
// beside it: a number for each row, which four lanes share. Elements beyond the edge of a smaller
// tile have any value.
#ifndef FLASHLAB_FRAGMENTS
#define FLASHLAB_FRAGMENTS

namespace toy {

__device__ inline int lane_of_warp() { return static_cast<int>(threadIdx.x) % 32; }
__device__ inline int warp_of_block() { return static_cast<int>(threadIdx.x) / 32; }

/// An element of a fragment: element e of block (m, n). `first_row` is that of the warp.
struct Place {
  int m, n, e, first_row;
  __device__ int row() const { return first_row + 16 * m + 8 * (e / 2) + lane_of_warp() / 4; }
  __device__ int col() const { return 8 * n + lane_of_warp() % 4 * 2 + e % 2; }
};

/// kTurned: the tile is held transposed, so that its columns are divided among the warps.
template <int kTileRows, int kTileCols, int kNumWarps, bool kIsTurned = false>
struct Fragment {
  static constexpr int kRows = kTileRows, kCols = kTileCols,
                       kWarps = kNumWarps;  // as they are held
  static constexpr bool kTurned = kIsTurned;
  static constexpr int kRowBlocks = kRows / 16 / kWarps, kColBlocks = kCols / 8;
  static_assert(kRowBlocks * 16 * kWarps == kRows && kColBlocks % 2 == 0 && kColBlocks * 8 == kCols,
                "whole blocks for each warp, two at a time along a row");
  static constexpr int rows = 2, cols = 2;  // neither a scalar nor a column
  float x[kRowBlocks][kColBlocks][4];

  __device__ static int first_row() { return warp_of_block() * (16 * kRowBlocks); }
  __device__ float at(const Place& p) const { return x[p.m][p.n][p.e]; }
};

/// A number for each row of the fragments with kTileRows rows.
template <int kTileRows, int kNumWarps>
struct RowValues {
  static constexpr int kRows = kTileRows, kWarps = kNumWarps, kRowBlocks = kRows / 16 / kWarps;
  static constexpr int rows = 2, cols = 1;
  float x[kRowBlocks][2];

  __device__ static int first_row() { return warp_of_block() * (16 * kRowBlocks); }
  __device__ float at(const Place& p) const { return x[p.m][p.e / 2]; }
};

/// A column in shared memory, beside rows.
struct SharedColumn {
  static constexpr int rows = 2, cols = 1;
  float* data;
  __device__ float at(const Place& p) const { return data[p.row()]; }
  __device__ float operator()(int row, int) const { return data[row]; }
};
/// The same beside a fragment that is held transposed.
struct SharedRow {
  static constexpr int rows = 2, cols = 2;
  float* data;
  __device__ float at(const Place& p) const { return data[p.col()]; }
};
__device__ inline SharedRow turned(const SharedColumn& column) { return {column.data}; }

/// Calls call(place) for all elements of this thread.
template <int kRowBlocks, int kColBlocks, class Call>
__device__ inline void for_each_place(int first_row, const Call& call) {
#pragma unroll
  for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
    for (int n = 0; n < kColBlocks; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) call(Place{m, n, e, first_row});
    }
  }
}

/// Hides the end of a loop from the compiler, which would otherwise write out 64 iterations, and take
/// minutes for it.
__device__ inline int end_of_loop(int end) {
#ifdef __CUDACC__
  asm volatile("" : "+r"(end));
#endif
  return end;
}
__device__ inline Index end_of_loop(Index end) { return end; }

/// The length of tile `index` of an axis.
__device__ inline int length_of_tile(Index extent, Index tile, Index index) {
  return static_cast<int>(smaller(tile, extent - tile * index));
}

// Element by element -----------------------------------------------------------------------------------

template <int kRows, int kCols, int kWarps, bool kTurned, class Operation>
__device__ inline void set(Fragment<kRows, kCols, kWarps, kTurned>& target,
                           const Operation& operation) {
  using Target = Fragment<kRows, kCols, kWarps, kTurned>;
  for_each_place<Target::kRowBlocks, Target::kColBlocks>(
      Target::first_row(), [&](const Place& p) { target.x[p.m][p.n][p.e] = operation.at(p); });
}

template <int kRows, int kWarps, class Operation>
__device__ inline void set(RowValues<kRows, kWarps>& target, const Operation& operation) {
  using Target = RowValues<kRows, kWarps>;
#pragma unroll
  for (int m = 0; m < Target::kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      target.x[m][half] = operation.at(Place{m, 0, 2 * half, Target::first_row()});
    }
  }
}

template <class Operation>
__device__ inline void set(Scalar<float>& target, const Operation& operation) {
  target = scalar(operation.at(Place{}));
}

/// e^x by the unit for powers of two: the relative error is below 2^-21.
__device__ inline float power_of_two(float x) {
#ifdef __CUDACC__
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return exp2f(x);
#endif
}
constexpr float kLog2E = 1.44269504088896341f;

template <class A>
struct FastExponential {
  A a;
  int rows, cols;
  __device__ float at(const Place& p) const { return power_of_two(multiply(a.at(p), kLog2E)); }
};
template <class A>
__device__ inline FastExponential<A> fast_exponential(const A& a) {
  return {a, a.rows, a.cols};
}

template <class A, class B>
struct ExponentialOfDifference {
  A a;
  B b;
  int rows, cols;
  __device__ float at(const Place& p) const {
    return power_of_two(multiply(subtract(a.at(p), b.at(p)), kLog2E));
  }
};
template <class A, class B>
__device__ inline ExponentialOfDifference<A, B> exponential_of_difference(const A& a, const B& b) {
  return {a, b, a.rows, a.cols};
}

/// 2^(a log2 e - b log2 e), one operation before the power. b log2 e is rounded, so the result has a
/// relative error of |b| 2^-24.
template <class A, class B>
struct FastExponentialOfDifference {
  A a;
  B b;
  int rows, cols;
  __device__ float at(const Place& p) const {
    return power_of_two(__fmaf_rn(a.at(p), kLog2E, -multiply(b.at(p), kLog2E)));
  }
};
template <class A, class B>
__device__ inline FastExponentialOfDifference<A, B> fast_exponential_of_difference(const A& a,
                                                                                   const B& b) {
  return {a, b, a.rows, a.cols};
}

/// a / b by way of 1 / b, which is computed once for each row.
template <class A, int kRows, int kWarps>
__device__ inline auto fast_quotient(const A& a, const RowValues<kRows, kWarps>& b) {
  RowValues<kRows, kWarps> inverse;
  set(inverse, scalar(1.0f) / b);
  return a * inverse;
}

// Masks and edges --------------------------------------------------------------------------------------

/// Sets elements whose place in the tile is masked to -inf (see Masked). Tiles that are wholly
/// visible to a warp are left alone.
template <bool kLeft, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void mask(Fragment<kRows, kCols, kWarps, kTurned>& target, Index first_row,
                            Index first_col) {
  using Target = Fragment<kRows, kCols, kWarps, kTurned>;
  // How far the first held column is beyond the first held row of this warp.
  const int from = Target::first_row(), warp_rows = 16 * Target::kRowBlocks;
  const Index beyond = kTurned ? first_row - (first_col + from) : first_col - (first_row + from);
  constexpr bool kUpper = kLeft == kTurned;  // masked where the held column is beyond the held row
  if (kUpper ? beyond + kCols - 1 <= 0 : beyond >= warp_rows - 1) return;
  const int shift = static_cast<int>(larger(-kRows - kCols, smaller(beyond, kRows + kCols)));
  for_each_place<Target::kRowBlocks, Target::kColBlocks>(0, [&](const Place& p) {
    const int distance = p.col() - p.row() + shift;
    if (kUpper ? distance > 0 : distance < 0) target.x[p.m][p.n][p.e] = minus_infinity();
  });
}

/// Gives each element the number of its row (or column), of a tile that begins with `first`.
template <bool kColumns, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void set_places(Fragment<kRows, kCols, kWarps, kTurned>& target, Index first) {
  using Target = Fragment<kRows, kCols, kWarps, kTurned>;
  constexpr bool kHeldColumns = kColumns != kTurned;
  const int from = Target::first_row();
  for_each_place<Target::kRowBlocks, Target::kColBlocks>(0, [&](const Place& p) {
    const int place = kHeldColumns ? p.col() : from + p.row();
    target.x[p.m][p.n][p.e] = static_cast<float>(first + place);
  });
}

/// Gives the held columns from `cols` on this value.
template <int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void fill_beyond(Fragment<kRows, kCols, kWarps, kTurned>& target, int cols,
                                   float value) {
  using Target = Fragment<kRows, kCols, kWarps, kTurned>;
  if (cols >= kCols) return;
  for_each_place<Target::kRowBlocks, Target::kColBlocks>(0, [&](const Place& p) {
    if (p.col() >= cols) target.x[p.m][p.n][p.e] = value;
  });
}

// Rows -------------------------------------------------------------------------------------------------

struct LargerOfTwo {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOfTwo {
  __device__ float operator()(float a, float b) const { return add(a, b); }
};

template <class Join, int kRows, int kCols, int kWarps>
__device__ inline void reduce_rows(RowValues<kRows, kWarps>& target,
                                   const Fragment<kRows, kCols, kWarps>& a) {
  using A = Fragment<kRows, kCols, kWarps>;
#pragma unroll
  for (int m = 0; m < A::kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // Two chains of operations, because each waits for the one before.
      float even = Join()(a.x[m][0][2 * half], a.x[m][0][2 * half + 1]);
      float odd = Join()(a.x[m][1][2 * half], a.x[m][1][2 * half + 1]);
#pragma unroll
      for (int n = 2; n < A::kColBlocks; n += 2) {
        even = Join()(even, Join()(a.x[m][n][2 * half], a.x[m][n][2 * half + 1]));
        odd = Join()(odd, Join()(a.x[m][n + 1][2 * half], a.x[m][n + 1][2 * half + 1]));
      }
      float all = Join()(even, odd);
      all = Join()(all, __shfl_xor_sync(0xffffffffu, all, 1));
      target.x[m][half] = Join()(all, __shfl_xor_sync(0xffffffffu, all, 2));
    }
  }
}
template <int kRows, int kCols, int kWarps>
__device__ inline void set_row_maximum(RowValues<kRows, kWarps>& target,
                                       const Fragment<kRows, kCols, kWarps>& a) {
  reduce_rows<LargerOfTwo>(target, a);
}
template <int kRows, int kCols, int kWarps>
__device__ inline void set_row_sum(RowValues<kRows, kWarps>& target,
                                   const Fragment<kRows, kCols, kWarps>& a) {
  reduce_rows<SumOfTwo>(target, a);
}

// DRAM -------------------------------------------------------------------------------------------------

/// Stores a fragment. Four lanes store 32 adjacent bytes of a row at once if kWhole says that no tile
/// has a part of them.
template <bool kWhole, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void store(const Cell<float>& cell,
                             const Fragment<kRows, kCols, kWarps, kTurned>& a) {
  using A = Fragment<kRows, kCols, kWarps, kTurned>;
  for_each_place<A::kRowBlocks, A::kColBlocks>(A::first_row(), [&](const Place& p) {
    const int row = kTurned ? p.col() : p.row(), col = kTurned ? p.row() : p.col();
    if (row >= cell.rows || col >= cell.cols) return;
    float* const to = cell.data + row * cell.stride + col;
    if (!kWhole || kTurned) {
      write(to, a.x[p.m][p.n][p.e]);
    } else if (p.e % 2 == 0) {
      __stcg(reinterpret_cast<float2*>(to),
             make_float2(a.x[p.m][p.n][p.e], a.x[p.m][p.n][p.e + 1]));
    }
  });
}
template <bool kWhole, class Element, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void store(const Cell<Element>& cell,
                             const Fragment<kRows, kCols, kWarps, kTurned>& a) {
  using A = Fragment<kRows, kCols, kWarps, kTurned>;
  if (!kWhole || kTurned) {
    for_each_place<A::kRowBlocks, A::kColBlocks>(A::first_row(), [&](const Place& p) {
      const int row = kTurned ? p.col() : p.row(), col = kTurned ? p.row() : p.col();
      if (row < cell.rows && col < cell.cols) {
        write(cell.data + row * cell.stride + col, a.x[p.m][p.n][p.e]);
      }
    });
    return;
  }
  // Two blocks at a time: lane t of four gets the columns 4 t to 4 t + 3 of 16.
  const int t = lane_of_warp() % 4, from = lane_of_warp() / 4 * 4 + t % 2 * 2;
#pragma unroll
  for (int m = 0; m < A::kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = A::first_row() + 16 * m + 8 * half + lane_of_warp() / 4;
#pragma unroll
      for (int n = 0; n < A::kColBlocks; n += 2) {
        const float* const left = a.x[m][n] + 2 * half;
        const float* const right = a.x[m][n + 1] + 2 * half;
        const unsigned first = pair_of(Element(), left[0], left[1]);
        const unsigned second = pair_of(Element(), right[0], right[1]);
        const unsigned a0 = __shfl_sync(0xffffffffu, first, from);
        const unsigned b0 = __shfl_sync(0xffffffffu, second, from);
        const unsigned a1 = __shfl_sync(0xffffffffu, first, from + 1);
        const unsigned b1 = __shfl_sync(0xffffffffu, second, from + 1);
        const int col = 8 * n + 4 * t;
        if (row >= cell.rows || col >= cell.cols) continue;
        __stcg(reinterpret_cast<uint2*>(cell.data + row * cell.stride + col),
               make_uint2(t < 2 ? a0 : b0, t < 2 ? a1 : b1));
      }
    }
  }
}

template <class Element, int kRows, int kWarps>
__device__ inline void store(const Cell<Element>& cell, const RowValues<kRows, kWarps>& a) {
  using A = RowValues<kRows, kWarps>;
#pragma unroll
  for (int m = 0; m < A::kRowBlocks; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = A::first_row() + 16 * m + 8 * half + lane_of_warp() / 4;
      if (lane_of_warp() % 4 == 0 && row < cell.rows) {
        write(cell.data + row * cell.stride, a.x[m][half]);
      }
    }
  }
}

/// Adds a fragment to DRAM, each element in one step. kWhole as in store().
template <bool kWhole, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void add_to(const Cell<float>& cell,
                              const Fragment<kRows, kCols, kWarps, kTurned>& a) {
  using A = Fragment<kRows, kCols, kWarps, kTurned>;
  for_each_place<A::kRowBlocks, A::kColBlocks>(A::first_row(), [&](const Place& p) {
    const int row = kTurned ? p.col() : p.row(), col = kTurned ? p.row() : p.col();
    if (row >= cell.rows || col >= cell.cols) return;
    float* const to = cell.data + row * cell.stride + col;
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    if (kWhole && !kTurned) {
      if (p.e % 2 == 0) {
        asm volatile("red.global.add.v2.f32 [%0], {%1, %2};"
                     :
                     : "l"(to), "f"(a.x[p.m][p.n][p.e]), "f"(a.x[p.m][p.n][p.e + 1])
                     : "memory");
      }
      return;
    }
#endif
    atomicAdd(to, a.x[p.m][p.n][p.e]);
  });
}

/// Loads floats into a fragment, each element once.
template <bool kWhole, class From, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void load(Fragment<kRows, kCols, kWarps, kTurned>& target,
                            const Cell<From>& cell) {
  using A = Fragment<kRows, kCols, kWarps, kTurned>;
  for_each_place<A::kRowBlocks, A::kColBlocks>(A::first_row(), [&](const Place& p) {
    const int row = kTurned ? p.col() : p.row(), col = kTurned ? p.row() : p.col();
    const bool is_inside = row < cell.rows && col < cell.cols;
    const float* const from = cell.data + row * cell.stride + col;
    if (!kWhole || kTurned) {
      target.x[p.m][p.n][p.e] = is_inside ? read(from) : 0.0f;
    } else if (p.e % 2 == 0) {
      const float2 pair =
          is_inside ? __ldcg(reinterpret_cast<const float2*>(from)) : make_float2(0.0f, 0.0f);
      target.x[p.m][p.n][p.e] = pair.x;
      target.x[p.m][p.n][p.e + 1] = pair.y;
    }
  });
}

}  // namespace toy

#endif  // FLASHLAB_FRAGMENTS
