// Tiles for the asynchronous units of compute capability 9.0 (level 2): a thread that computes nothing
// requests them, TMA copies them, and mbarriers say when they have come and when they are free again.
//
// A tile is a row of panels of 64 columns. A row of a panel takes 128 bytes, whose eight chunks of 16
// bytes are exchanged by the number of the row, modulo 8: the 128-byte swizzle, in which TMA writes and
// wgmma reads.
//
// Source  PTX ISA, "Parallel synchronization and communication instructions: mbarrier", "Data movement
//         and conversion instructions: cp.async.bulk.tensor", "Tensor maps"
#ifndef FLASHLAB_WARPGROUP_TILES
#define FLASHLAB_WARPGROUP_TILES

namespace toy {

// One instruction ------------------------------------------------------------------------------------

#ifdef __CUDACC__
/// How TMA addresses an array: made by the driver, and a parameter of the kernel.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

__device__ inline void mbarrier_init(SharedAddress barrier, int num_arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(num_arrivals)
               : "memory");
}
/// Lets TMA use the barriers that this thread initialised.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void mbarrier_arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Adds to the bytes that the barrier waits for, then arrives.
__device__ inline void mbarrier_arrive_expect(SharedAddress barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the phase of this parity is complete. The one before the first counts as complete.
__device__ inline void mbarrier_wait(SharedAddress barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "WAIT_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE_%=;\nbra WAIT_%=;\nDONE_%=:\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Begins to copy a box. The barrier counts its bytes; elements outside of the array are 0.
__device__ inline void load_box(SharedAddress to, const TensorMap& map, SharedAddress barrier,
                                int col, int row, int plane, int problem) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(col), "r"(row), "r"(plane), "r"(problem)
      : "memory");
}
/// Orders this thread's writes to shared memory before asynchronous operations that read them.
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Waits at barrier 1 for this many threads.
__device__ inline void barrier_sync(int id, int num_threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(num_threads) : "memory");
}
/// Each warp of a warpgroup gives registers back, down to this many per thread.
template <int kRegisters>
__device__ inline void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
/// Waits until the block has enough free registers for this many per thread.
template <int kRegisters>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
/// Writes two numbers of a tile that wgmma may read.
__device__ inline void write_pair(void* to, unsigned pair) { *static_cast<unsigned*>(to) = pair; }
/// For the emulation, which does not know what the compiler does.
__device__ inline void note_registers(int) {}
#else  // flashlab's emulation of a GPU
__device__ inline void note_registers(int registers) {
  flashlab::cuda::emulation::async_block().registers().limit(registers);
}
using flashlab::cuda::ptx::barrier_sync;
using flashlab::cuda::ptx::fence_async_proxy;
using flashlab::cuda::ptx::fence_mbarrier_init;
using flashlab::cuda::ptx::load_box;
using flashlab::cuda::ptx::mbarrier_arrive;
using flashlab::cuda::ptx::mbarrier_arrive_expect;
using flashlab::cuda::ptx::mbarrier_init;
using flashlab::cuda::ptx::mbarrier_wait;
using flashlab::cuda::ptx::take_registers;
using flashlab::cuda::ptx::TensorMap;
template <int kRegisters>
__device__ inline void give_up_registers() {
  flashlab::cuda::ptx::release_registers<kRegisters>();
}
__device__ inline void write_pair(void* to, unsigned pair) {
  flashlab::cuda::ptx::store_shared(shared_address(to), pair);
}
#endif

// Tiles ------------------------------------------------------------------------------------------------

/// A tile of 16-bit numbers in shared memory, at a multiple of 1024 bytes. Beyond the edge of a smaller
/// tile are zeros.
template <class ElementType, int kTileRows, int kTileCols>
struct SwizzledTile {
  using Element = ElementType;
  static constexpr int kRows = kTileRows, kCols = kTileCols;
  static constexpr int kPanels = (kCols + 63) / 64, kPanelElements = 64 * kRows,
                       kElements = kPanels * kPanelElements,
                       kPlaceElements = kElements;  // from one place of a ring to the next
  static_assert(kRows % 8 == 0, "the swizzle has a period of 8 rows");
  static constexpr int rows = 2, cols = 2;
  Element* data;
  __device__ static int place(int row, int col) {
    return col / 64 * kPanelElements + row * 64 + (col % 64 ^ row % 8 * 8);
  }
  __device__ float operator()(int row, int col) const { return value_of(data[place(row, col)]); }
  __device__ float at(const Place& p) const { return (*this)(p.row(), p.col()); }
  __device__ void write(int row, int col, unsigned pair) const {
    write_pair(data + place(row, col), pair);
  }
  __device__ SharedAddress panel(int number) const {
    return shared_address(data) + 2u * static_cast<unsigned>(number * kPanelElements);
  }
};
template <class Element, int kRows, int kCols>
__device__ inline Turned<SwizzledTile<Element, kRows, kCols>> turned(
    const SwizzledTile<Element, kRows, kCols>& tile) {
  return {tile};
}

/// A column that TMA brings.
template <int kColumnRows>
struct LoadedColumn : SharedColumn {
  using Element = float;
  // Each place begins at a multiple of 128 bytes.
  static constexpr int kElements = kColumnRows, kPlaceElements = (kColumnRows + 31) / 32 * 32;
};

/// All threads that compute wait here, for each other's writes to shared memory, too.
template <int kThreads>
__device__ inline void meet() {
  fence_async_proxy();
  barrier_sync(1, kThreads);
}

// DRAM -------------------------------------------------------------------------------------------------

/// Stores what is no fragment, such as a number that fills the tile.
template <int kThreads, class Element, class Operation>
__device__ inline void store_by(const Cell<Element>& cell, const Operation& operation) {
  for (int i = static_cast<int>(threadIdx.x); i < cell.rows * cell.cols; i += kThreads) {
    const int row = i / cell.cols, col = i % cell.cols;
    write(cell.data + row * cell.stride + col, repeated(operation, row, col));
  }
}
/// Adds it, each element in one step.
template <int kThreads, class Element, class Operation>
__device__ inline void add_to_by(const Cell<Element>& cell, const Operation& operation) {
  for (int i = static_cast<int>(threadIdx.x); i < cell.rows * cell.cols; i += kThreads) {
    const int row = i / cell.cols, col = i % cell.cols;
    atomicAdd(cell.data + row * cell.stride + col,
              static_cast<Element>(repeated(operation, row, col)));
  }
}

// Loads ------------------------------------------------------------------------------------------------

/// A tile of an array as TMA addresses it.
struct Box {
  const TensorMap* map;
  int row, col, plane;
};
/// An array with its tiles.
struct Boxes {
  const TensorMap* map;
  Index tile_rows, tile_cols;
  __device__ Box tile(Index row, Index col) const { return tile(0, row, col); }
  __device__ Box tile(Index plane, Index row, Index col) const {
    return {map, static_cast<int>(row * tile_rows), static_cast<int>(col * tile_cols),
            static_cast<int>(plane)};
  }
};

/// A loaded tile that has kStages places, which are filled in turn. Each has two barriers: "full" when
/// its bytes have come, "empty" when all warps that compute have read it. Each thread has its own copy
/// of this structure, and counts for itself.
template <class Tile, int kStages>
struct Ring : Tile {
  using Element = typename Tile::Element;
  Element* first;
  SharedAddress barriers;
  int stage = 0;
  unsigned parity = 0;

  __device__ Ring(Element* memory, int barriers_at)
      : first(memory), barriers(shared_address(shared_at<Element>(barriers_at))) {
    this->data = memory;
  }
  __device__ SharedAddress full() const { return barriers + 16u * static_cast<unsigned>(stage); }
  __device__ SharedAddress empty() const { return full() + 8u; }
  __device__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// Before anything else, for each ring; then start_roles(), whose parameter says how many registers the
/// launch gives to each thread.
template <int kWarps, class Tile, int kStages>
__device__ inline void prepare(Ring<Tile, kStages> ring) {
  if (threadIdx.x != 0) return;
  for (ring.stage = 0; ring.stage < kStages; ++ring.stage) {
    mbarrier_init(ring.full(), 1);
    mbarrier_init(ring.empty(), kWarps);
  }
}
template <int kRegisters>
__device__ inline void start_roles() {
  if (threadIdx.x == 0) {
    fence_mbarrier_init();
    note_registers(kRegisters);
  }
  __syncthreads();
}

template <class Element, int kRows, int kCols>
__device__ inline void load_boxes(const SwizzledTile<Element, kRows, kCols>& to, const Box& box,
                                  SharedAddress barrier) {
#pragma unroll
  for (int panel = 0; panel < to.kPanels; ++panel) {
    load_box(to.panel(panel), *box.map, barrier, box.col + 64 * panel, box.row, box.plane,
             static_cast<int>(blockIdx.y));
  }
}
template <int kRows>
__device__ inline void load_boxes(const LoadedColumn<kRows>& to, const Box& box,
                                  SharedAddress barrier) {
  load_box(shared_address(to.data), *box.map, barrier, box.row, 0, box.plane,
           static_cast<int>(blockIdx.y));
}

/// The thread that copies: waits until the next place is free, and begins to fill it.
template <class Tile, int kStages>
__device__ inline void load(Ring<Tile, kStages>& ring, const Box& box) {
  mbarrier_wait(ring.empty(), ring.parity ^ 1);
  ring.data = ring.first + ring.stage * ring.kPlaceElements;
  mbarrier_arrive_expect(ring.full(), static_cast<unsigned>(ring.kElements * sizeof(*ring.data)));
  load_boxes(ring, box, ring.full());
  ring.next();
}

/// The warps that compute: wait for the next tile.
template <class Tile, int kStages>
__device__ inline void wait_for(Ring<Tile, kStages>& ring) {
  mbarrier_wait(ring.full(), ring.parity);
  ring.data = ring.first + ring.stage * ring.kPlaceElements;
}
/// The same warps: this one has read the tile.
template <class Tile, int kStages>
__device__ inline void release(Ring<Tile, kStages>& ring) {
  __syncwarp();
  if (lane_of_warp() == 0) mbarrier_arrive(ring.empty());
  ring.next();
}

}  // namespace toy

#endif  // FLASHLAB_WARPGROUP_TILES
