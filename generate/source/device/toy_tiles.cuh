// Tiles of flashlab's machine on a GPU: the functions that generated programs call.
//
// A register is a tile in shared memory. All threads of a block execute an instruction together:
// each computes some elements of the result, and then they wait for each other. Sums are added in
// a fixed order.
#ifndef FLASHLAB_TOY_TILES
#define FLASHLAB_TOY_TILES

namespace toy {

template <class Real>
__device__ inline Real* shared_memory() {
#ifdef __CUDACC__
  extern __shared__ __align__(1024) double flashlab_shared_memory[];
  return reinterpret_cast<Real*>(flashlab_shared_memory);
#else  // flashlab's emulation of a GPU
  return reinterpret_cast<Real*>(flashlab::cuda::emulation::shared_bytes().data());
#endif
}

// Operands: everything with rows, cols, and an element for each row and column -----------------------

/// A register: row by row in shared memory. Rows have an odd number of places, so that the elements
/// of a column are in different banks.
template <class Real>
struct Tile {
  Real* data;
  int rows, cols;
  __device__ Real& at(int row, int col) const { return data[row * (cols | 1) + col]; }
  __device__ Real operator()(int row, int col) const { return at(row, col); }
};
template <class Real>
__device__ inline Tile<Real> tile_at(Real* data) {
  return {data, 0, 0};
}

template <class Real>
struct Transposed {
  Tile<Real> tile;
  int rows, cols;
  __device__ Real operator()(int row, int col) const { return tile(col, row); }
};
template <class Real>
__device__ inline Transposed<Real> transposed(const Tile<Real>& tile) {
  return {tile, tile.cols, tile.rows};
}

template <class Real>
struct Scalar {
  Real value;
  int rows, cols;
  __device__ Real operator()(int, int) const { return value; }
  template <class Place>
  __device__ Real at(const Place&) const {
    return value;
  }
};
template <class Real>
__device__ inline Scalar<Real> scalar(Real value) {
  return {value, 1, 1};
}

/// A tile of an array in DRAM.
template <class Element>
struct Cell {
  Element* data;
  int rows, cols;
  Index stride;
  __device__ auto operator()(int row, int col) const { return read(data + row * stride + col); }
};

/// The array of this block's problem, which the grid's second axis counts.
template <class Element>
__device__ inline Element* of_problem(Element* arrays, Index size) {
  return arrays + static_cast<Index>(blockIdx.y) * size;
}

/// An array in DRAM, with its tiles. The last ones may be smaller.
template <class Element>
struct Array {
  Element* data;
  Index rows, cols, tile_rows, tile_cols;

  __device__ Cell<Element> tile(Index row, Index col) const { return tile(0, row, col); }
  /// The same if the array's extents are multiples of its tile's: none is smaller.
  __device__ Cell<Element> whole_tile(Index row, Index col) const {
    return whole_tile(0, row, col);
  }
  __device__ Cell<Element> whole_tile(Index plane, Index row, Index col) const {
    return {data + (plane * rows + row * tile_rows) * cols + col * tile_cols,
            static_cast<int>(tile_rows), static_cast<int>(tile_cols), cols};
  }
  /// Of arrays with more axes: `plane` counts over all but the last two.
  __device__ Cell<Element> tile(Index plane, Index row, Index col) const {
    const Index first_row = row * tile_rows, first_col = col * tile_cols;
    return {data + (plane * rows + first_row) * cols + first_col,
            static_cast<int>(smaller(tile_rows, rows - first_row)),
            static_cast<int>(smaller(tile_cols, cols - first_col)), cols};
  }
};

// Operations: their elements are computed when they are asked for ------------------------------------

/// A matrix product: the terms are added from the first to the last.
template <class A, class B>
struct Product {
  A a;
  B b;
  int rows, cols;
  __device__ auto operator()(int row, int col) const {
    auto sum = multiply(a(row, 0), b(0, col));
    for (int k = 1; k < a.cols; ++k) sum = add(sum, multiply(a(row, k), b(k, col)));
    return sum;
  }
};
template <class A, class B>
__device__ inline Product<A, B> product(const A& a, const B& b) {
  return {a, b, a.rows, b.cols};
}

template <class A>
struct RowMaximum {
  A a;
  int rows, cols;
  __device__ auto operator()(int row, int) const {
    auto largest = a(row, 0);
    for (int col = 1; col < a.cols; ++col) {
      const auto x = a(row, col);
      largest = largest > x ? largest : x;
    }
    return largest;
  }
};
template <class A>
__device__ inline RowMaximum<A> row_maximum(const A& a) {
  return {a, a.rows, 1};
}

template <class A>
struct RowSum {
  A a;
  int rows, cols;
  __device__ auto operator()(int row, int) const {
    auto sum = a(row, 0);
    for (int col = 1; col < a.cols; ++col) sum = add(sum, a(row, col));
    return sum;
  }
};
template <class A>
__device__ inline RowSum<A> row_sum(const A& a) {
  return {a, a.rows, 1};
}

/// -inf beyond the diagonal (masked) or before it (masked_left), of a tile that begins there.
template <class A, bool kLeft>
struct Masked {
  A a;
  Index first_row, first_col;
  int rows, cols;
  __device__ auto operator()(int row, int col) const {
    auto x = a(row, col);
    const Index beyond = (first_col + col) - (first_row + row);
    if (kLeft ? beyond < 0 : beyond > 0) x = minus_infinity();
    return x;
  }
};
template <class A>
__device__ inline Masked<A, false> masked(const A& a, Index first_row, Index first_col) {
  return {a, first_row, first_col, a.rows, a.cols};
}
template <class A>
__device__ inline Masked<A, true> masked_left(const A& a, Index first_row, Index first_col) {
  return {a, first_row, first_col, a.rows, a.cols};
}

/// The number of each element's row or column, of a tile that begins there.
template <class A, bool kColumns>
struct Numbered {
  A a;
  Index first;
  int rows, cols;
  __device__ auto operator()(int row, int col) const {
    auto x = a(row, col);
    x = first + (kColumns ? col : row);
    return x;
  }
};
template <class A>
__device__ inline Numbered<A, false> row_number(const A& a, Index first) {
  return {a, first, a.rows, a.cols};
}
template <class A>
__device__ inline Numbered<A, true> column_number(const A& a, Index first) {
  return {a, first, a.rows, a.cols};
}

// Instructions: what all threads of a block do together ----------------------------------------------

/// Computes the operation into the register, which may be an operand whose elements are read where
/// they are written, or are repeated. If its shape changes, elements are written from the last to
/// the first, and only after all threads have read: so nothing is overwritten that is still needed.
/// (One loop for both cases, because NVRTC compiles the operation for each.)
template <class Real, class Operation>
__device__ inline void set(Tile<Real>& target, const Operation& operation) {
  const int rows = operation.rows, cols = operation.cols, size = rows * cols;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const Tile<Real> shaped{target.data, rows, cols};
  const bool keeps_shape = target.rows == rows && target.cols == cols;
  // Row and column follow i without a division for each element.
  const int rows_per_step = threads / cols, cols_per_step = threads % cols;
  int i = (size - 1) / threads * threads + thread;
  int row = i / cols, col = i % cols;
  for (; i >= 0; i -= threads) {
    const bool is_mine = i < size;
    Real result = 0;
    if (is_mine) result = operation(row, col);
    if (!keeps_shape) __syncthreads();
    if (is_mine) shaped.at(row, col) = result;
    row -= rows_per_step;
    col -= cols_per_step;
    if (col < 0) {
      col += cols;
      --row;
    }
  }
  __syncthreads();
  target.rows = rows;
  target.cols = cols;
}

/// The same by way of `scratch`, because a product or a reduction reads the register.
template <class Real, class Operation>
__device__ inline void set_by_way_of(Real* scratch, Tile<Real>& target,
                                     const Operation& operation) {
  const int rows = operation.rows, cols = operation.cols, size = rows * cols;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < size; i += threads) scratch[i] = operation(i / cols, i % cols);
  __syncthreads();
  target.rows = rows;
  target.cols = cols;
  for (int i = thread; i < size; i += threads) target.at(i / cols, i % cols) = scratch[i];
  __syncthreads();
}

/// Computes the operation into a tile in DRAM, which a scalar or a column fills.
template <class Element, class Operation>
__device__ inline void store(const Cell<Element>& cell, const Operation& operation) {
  const Index size = static_cast<Index>(cell.rows) * cell.cols;
  for (Index i = threadIdx.x; i < size; i += blockDim.x) {
    const int row = static_cast<int>(i / cell.cols), col = static_cast<int>(i % cell.cols);
    write(cell.data + row * cell.stride + col, repeated(operation, row, col));
  }
  __syncthreads();
}

/// Adds the operation to a tile in DRAM, each element in one step.
template <class Element, class Operation>
__device__ inline void add_to(const Cell<Element>& cell, const Operation& operation) {
  const Index size = static_cast<Index>(cell.rows) * cell.cols;
  for (Index i = threadIdx.x; i < size; i += blockDim.x) {
    const int row = static_cast<int>(i / cell.cols), col = static_cast<int>(i % cell.cols);
    atomicAdd(cell.data + row * cell.stride + col,
              static_cast<Element>(repeated(operation, row, col)));
  }
  __syncthreads();
}

}  // namespace toy

#endif  // FLASHLAB_TOY_TILES
