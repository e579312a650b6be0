// flash2 forward, bf16, with Hopper's own instructions: finds the fastest tiles and order of work.
//
//   hopper_forward [seqlen ...]     16 384 tokens in all, heads x head_dim = 2048
//
// This is a study, not a kernel of the library: contiguous tensors, no mask or the causal one, any
// length. Every configuration is first compared with a plain kernel in fp32, on lengths that are no
// multiple of the tile. Then all are timed in turns, because the GPU's clock drops as it warms up.
//
//   for each K/V tile j, from the last to the first:
//     S = Q Kj^T
//     m' = max(m, rowmax S)
//     P = exp(scale (S - m'))
//     l = l exp(scale (m - m')) + rowsum P
//     O = O exp(scale (m - m')) + P Vj
//     m = m'
//   O = O / l,  lse = scale m + log l
//
// Roles    Warpgroup 0 loads: one of its threads issues bulk tensor copies. Each of the others
//          computes 64 queries.
// Tiles    sQ [kBlockQ, kHeadDim] stays in shared memory and is later overwritten by O.
//          sK, sV [kStages][kBlockKV, kHeadDim]. S, P and O are in registers.
// Barriers Two for each stage of K and of V: "full", when its bytes have arrived, and "empty", when
//          every computing warpgroup has read it.
// Order    serial:  Q Kj^T, softmax, P Vj. Each waits for the one before.
//          overlap: Q Kj^T and the previous tile's P V run together. The softmax of tile j runs
//                   while that P V is still in flight.
//          turns:   as overlap, but the warpgroups issue their products one after another.
// Traffic  Q and O once. K and V once for each query tile.
// Source   Shah et al. 2024, FlashAttention-3; Dao 2023, FlashAttention-2, Algorithm 1.
#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/tensor.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/stmatrix.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace {

using namespace flashlab::cuda;
using flashlab::BFloat16;
using bf16 = __nv_bfloat16;

enum class Order { kSerial, kOverlap, kTurns };

constexpr int kWarpgroup = 128;
constexpr int kPanelColumns = 64, kPanelRowBytes = 128;

template <int kHeadDim_, int kComputing_, int kBlockKV_, bool kIsCausal_, Order kOrder_>
struct Config {
  static constexpr int kHeadDim = kHeadDim_, kComputing = kComputing_, kBlockKV = kBlockKV_;
  static constexpr bool kIsCausal = kIsCausal_;
  static constexpr Order kOrder = kOrder_;
  static constexpr int kStages = 2, kBlockQ = 64 * kComputing;
  static constexpr int kThreads = kWarpgroup * (kComputing + 1), kPanels = kHeadDim / kPanelColumns;
  static constexpr int kQBytes = kBlockQ * kHeadDim * 2, kKVBytes = kBlockKV * kHeadDim * 2;
  static constexpr int kAlignment = 1024, kBarrierBytes = 256;
  static constexpr int kSharedBytes = kQBytes + 2 * kStages * kKVBytes + kAlignment + kBarrierBytes;
  // Shares of the registers that the launch allocates: 168 for 384 threads, 128 for 512.
  static constexpr int kLoadingRegisters = kComputing == 2 ? 24 : 32;
  static constexpr int kComputingRegisters = kComputing == 2 ? 240 : 160;
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
  static_assert(kBlockKV % 16 == 0 && kHeadDim % kPanelColumns == 0);
};

struct Arguments {
  int seqlen, num_heads;
  int heads_together;  // heads whose K and V fit L2 together
  float scale, scale_log2;
  float* lse;  // [num_heads, seqlen]
};

/// The shared memory of a block.
template <class C>
class Shared {
 public:
  __device__ explicit Shared(std::uint8_t* memory)
      : Q_(ptx::shared_address(
            memory + (C::kAlignment - reinterpret_cast<std::uintptr_t>(memory) % C::kAlignment) %
                         C::kAlignment)) {}

  __device__ ptx::SharedAddress Q() const { return Q_; }
  __device__ ptx::SharedAddress K(int stage) const { return Q_ + C::kQBytes + stage * C::kKVBytes; }
  __device__ ptx::SharedAddress V(int stage) const { return K(C::kStages + stage); }
  __device__ ptx::SharedAddress q_full() const { return barrier(0); }
  __device__ ptx::SharedAddress k_full(int stage) const { return barrier(1 + 4 * stage); }
  __device__ ptx::SharedAddress k_empty(int stage) const { return barrier(2 + 4 * stage); }
  __device__ ptx::SharedAddress v_full(int stage) const { return barrier(3 + 4 * stage); }
  __device__ ptx::SharedAddress v_empty(int stage) const { return barrier(4 + 4 * stage); }

 private:
  __device__ ptx::SharedAddress barrier(int number) const {
    return V(C::kStages) + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress Q_;
};

/// An index into a ring of stages, and the parity of the current phase.
template <int kStages>
struct Stage {
  int index = 0;
  std::uint32_t parity;
  __device__ void advance() {
    if (++index == kStages) {
      index = 0;
      parity ^= 1;
    }
  }
};

/// The work of a block. Heads whose keys fit L2 together run together, long query tiles first.
template <class C>
struct Work {
  int head, first_query, num_kv_tiles;

  __device__ explicit Work(const Arguments& arguments) {
    const int num_q_tiles = (arguments.seqlen + C::kBlockQ - 1) / C::kBlockQ;
    const int blocks_of_group = arguments.heads_together * num_q_tiles;
    const int first_head =
        static_cast<int>(blockIdx.x) / blocks_of_group * arguments.heads_together;
    const int heads = min(arguments.heads_together, arguments.num_heads - first_head);
    const int in_group = static_cast<int>(blockIdx.x) % blocks_of_group;
    head = first_head + in_group % heads;
    const int q_tile = C::kIsCausal ? num_q_tiles - 1 - in_group / heads : in_group / heads;
    first_query = q_tile * C::kBlockQ;
    const int visible_keys =
        C::kIsCausal ? min(arguments.seqlen, first_query + C::kBlockQ) : arguments.seqlen;
    num_kv_tiles = (visible_keys + C::kBlockKV - 1) / C::kBlockKV;
  }
  /// Whether any query of the block does not see some key of the tile.
  __device__ bool is_masked(int kv_tile, int seqlen) const {
    const int end = (kv_tile + 1) * C::kBlockKV;
    return end > seqlen || (C::kIsCausal && end > first_query + 1);
  }
};

template <class C>
__device__ void load_tiles(const Shared<C>& shared, const Work<C>& work,
                           const ptx::TensorMap* Q_map, const ptx::TensorMap* K_map,
                           const ptx::TensorMap* V_map) {
  const auto load = [&](ptx::SharedAddress to, const ptx::TensorMap* map, ptx::SharedAddress full,
                        int rows, int first_row) {
    ptx::mbarrier_arrive_expect(full, rows * C::kHeadDim * 2);
    for (int panel = 0; panel < C::kPanels; ++panel) {
      ptx::load_box(to + panel * rows * kPanelRowBytes, *map, full, panel * kPanelColumns,
                    first_row, work.head, 0);
    }
  };
  // The first wait for each stage succeeds: the phase before a new barrier's first one
  // counts as complete.
  Stage<C::kStages> k{0, 1}, v{0, 1};
  const auto load_k = [&](int tile) {
    ptx::mbarrier_wait(shared.k_empty(k.index), k.parity);
    load(shared.K(k.index), K_map, shared.k_full(k.index), C::kBlockKV, tile * C::kBlockKV);
    k.advance();
  };
  const auto load_v = [&](int tile) {
    ptx::mbarrier_wait(shared.v_empty(v.index), v.parity);
    load(shared.V(v.index), V_map, shared.v_full(v.index), C::kBlockKV, tile * C::kBlockKV);
    v.advance();
  };
  load_k(work.num_kv_tiles - 1);
  load(shared.Q(), Q_map, shared.q_full(), C::kBlockQ, work.first_query);
  for (int tile = work.num_kv_tiles - 2; tile >= 0; --tile) {
    load_k(tile);
    load_v(tile + 1);
  }
  load_v(0);
}

/// One computing warpgroup: 64 queries. Each thread has a part of two rows.
template <class C>
class Computing {
 public:
  __device__ Computing(const Shared<C>& shared, const Work<C>& work, const Arguments& arguments)
      : shared_(shared),
        work_(work),
        arguments_(arguments),
        warpgroup_(static_cast<int>(threadIdx.x) / kWarpgroup - 1),
        warp_(static_cast<int>(threadIdx.x) / 32 % 4),
        lane_(static_cast<int>(threadIdx.x) % 32),
        row_(work.first_query + 64 * warpgroup_ + 16 * warp_ + lane_ / 4) {}

  __device__ void run(const ptx::TensorMap* O_map) {
    int tile = work_.num_kv_tiles - 1;
    if constexpr (C::kOrder == Order::kTurns) {
      if (warpgroup_ == C::kComputing - 1) ptx::barrier_arrive(turn_of(0), 2 * kWarpgroup);
    }
    // 1. The scores of the first tile.
    ptx::mbarrier_wait(shared_.q_full(), 0);
    ptx::mbarrier_wait(shared_.k_full(k_.index), k_.parity);
    multiply_Q_K();
    ptx::wgmma_wait<0>();
    release(shared_.k_empty(k_.index), k_);
    if (work_.is_masked(tile, arguments_.seqlen)) mask(tile);
    exponentiate(/*is_first=*/true);
    store_P();
    // 2. All other tiles: masked ones first, so that the remaining loop has no mask.
    for (--tile; tile >= 0 && work_.is_masked(tile, arguments_.seqlen); --tile) step<true>(tile);
    for (; tile >= 0; --tile) step<false>(tile);
    // 3. The last P V, and the output.
    ptx::mbarrier_wait(shared_.v_full(v_.index), v_.parity);
    multiply_P_V();
    ptx::wgmma_wait<0>();
    finish(O_map);
  }

 private:
  template <bool kIsMasked>
  __device__ void step(int tile) {
    if constexpr (C::kOrder == Order::kSerial) {
      ptx::mbarrier_wait(shared_.v_full(v_.index), v_.parity);
      multiply_P_V();
      ptx::wgmma_wait<0>();
      release(shared_.v_empty(v_.index), v_);
      ptx::mbarrier_wait(shared_.k_full(k_.index), k_.parity);
      multiply_Q_K();
      ptx::wgmma_wait<0>();
      release(shared_.k_empty(k_.index), k_);
      if (kIsMasked) mask(tile);
      exponentiate(false);
      store_P();
      rescale_O();
    } else {
      ptx::mbarrier_wait(shared_.k_full(k_.index), k_.parity);
      ptx::mbarrier_wait(shared_.v_full(v_.index), v_.parity);
      if constexpr (C::kOrder == Order::kTurns) {
        ptx::barrier_sync(turn_of(warpgroup_), 2 * kWarpgroup);
      }
      multiply_Q_K();
      multiply_P_V();
      if constexpr (C::kOrder == Order::kTurns) {
        ptx::barrier_arrive(turn_of((warpgroup_ + 1) % C::kComputing), 2 * kWarpgroup);
      }
      ptx::wgmma_wait<1>();  // S is complete; P V may still run
      release(shared_.k_empty(k_.index), k_);
      if (kIsMasked) mask(tile);
      exponentiate(false);
      ptx::wgmma_wait<0>();
      release(shared_.v_empty(v_.index), v_);
      store_P();  // not earlier: P V reads these registers
      rescale_O();
    }
  }

  __device__ static int turn_of(int warpgroup) { return 1 + warpgroup; }

  __device__ void release(ptx::SharedAddress empty, Stage<C::kStages>& stage) {
    if (threadIdx.x % kWarpgroup == 0) ptx::mbarrier_arrive(empty);
    stage.advance();
  }

  /// S = Q K^T, asynchronous.
  __device__ void multiply_Q_K() {
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < C::kHeadDim / 16; ++k) {
      const int panel = k / 4;
      const std::uint64_t step = ptx::descriptor_step(32 * (k % 4));
      const ptx::SharedAddress Q =
          shared_.Q() + panel * C::kBlockQ * kPanelRowBytes + warpgroup_ * 64 * kPanelRowBytes;
      const ptx::SharedAddress K = shared_.K(k_.index) + panel * C::kBlockKV * kPanelRowBytes;
      ptx::wgmma<BFloat16>(S_, ptx::matrix_descriptor(Q) + step, ptx::matrix_descriptor(K) + step,
                           k > 0);
    }
    ptx::wgmma_commit();
  }

  /// O += P V, asynchronous.
  __device__ void multiply_P_V() {
    ptx::wgmma_fence();
    const std::uint64_t V =
        ptx::matrix_descriptor(shared_.V(v_.index), C::kBlockKV * kPanelRowBytes);
#pragma unroll
    for (int k = 0; k < C::kBlockKV / 16; ++k) {
      ptx::wgmma<BFloat16>(O_, P_[k], V + ptx::descriptor_step(k * 16 * kPanelRowBytes),
                           k > 0 || has_O_);
    }
    ptx::wgmma_commit();
    has_O_ = true;
  }

  /// -inf for pairs of which the query does not see the key.
  __device__ void mask(int tile) {
    const int first_column = tile * C::kBlockKV + 2 * (lane_ % 4);
    const int last = arguments_.seqlen - 1;
    const int last_of_row[2] = {C::kIsCausal ? min(row_, last) : last,
                                C::kIsCausal ? min(row_ + 8, last) : last};
#pragma unroll
    for (int i = 0; i < C::kBlockKV / 2; ++i) {
      const int column = first_column + 8 * (i / 4) + i % 2;
      if (column > last_of_row[i / 2 % 2]) S_[i] = -INFINITY;
    }
  }

  /// Replaces S by P. Updates m, l and the factor for O. Sums are per thread until the end.
  __device__ void exponentiate(bool is_first) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = row_max_[r];
#pragma unroll
      for (int i = 2 * r; i < C::kBlockKV / 2; i += 4) {
        largest = fmaxf(largest, fmaxf(S_[i], S_[i + 1]));
      }
      largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, 2));
      const float shift = largest == -INFINITY ? 0 : largest * arguments_.scale_log2;
      rescale_[r] =
          is_first ? 0 : ptx::exp2_approximate(row_max_[r] * arguments_.scale_log2 - shift);
      row_max_[r] = largest;
      float sum = 0;
#pragma unroll
      for (int i = 2 * r; i < C::kBlockKV / 2; i += 4) {
        S_[i] = ptx::exp2_approximate(S_[i] * arguments_.scale_log2 - shift);
        S_[i + 1] = ptx::exp2_approximate(S_[i + 1] * arguments_.scale_log2 - shift);
        sum += S_[i] + S_[i + 1];
      }
      row_sum_[r] = row_sum_[r] * rescale_[r] + sum;
    }
  }

  /// Packs P as registers of A: an accumulator has the layout of A, with two columns per register.
  __device__ void store_P() {
#pragma unroll
    for (int i = 0; i < C::kBlockKV / 4; ++i) {
      P_[i / 4][i % 4] = ptx::pack(BFloat16{}, S_[2 * i], S_[2 * i + 1]);
    }
  }

  __device__ void rescale_O() {
#pragma unroll
    for (int i = 0; i < C::kHeadDim / 2; ++i) O_[i] *= rescale_[i / 2 % 2];
  }

  __device__ void finish(const ptx::TensorMap* O_map) {
    float inverse[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float sum = row_sum_[r];
      sum += __shfl_xor_sync(~0U, sum, 1);
      sum += __shfl_xor_sync(~0U, sum, 2);
      inverse[r] = sum > 0 ? 1 / sum : 0;
      const int row = row_ + 8 * r;
      if (lane_ % 4 == 0 && row < arguments_.seqlen) {
        arguments_.lse[static_cast<long long>(work_.head) * arguments_.seqlen + row] =
            row_max_[r] * arguments_.scale + logf(sum);
      }
    }
    // O overwrites Q: only this warpgroup reads these rows, and all its warps are done.
    ptx::barrier_sync(turn_of(C::kComputing) + warpgroup_, kWarpgroup);
    const int first_row = 64 * warpgroup_ + 16 * warp_;
#pragma unroll
    for (int i = 0; i < C::kHeadDim / 16; ++i) {
      const int row = first_row + lane_ % 16, chunk = 2 * (i % 4) + lane_ / 16;
      const ptx::SharedAddress panel = shared_.Q() + i / 4 * C::kBlockQ * kPanelRowBytes;
      const auto two = [&](int at, int r) {
        return ptx::pack(BFloat16{}, O_[at] * inverse[r], O_[at + 1] * inverse[r]);
      };
      ptx::store_matrices(panel + row * kPanelRowBytes + (chunk ^ row % 8) * 16, two(8 * i, 0),
                          two(8 * i + 2, 1), two(8 * i + 4, 0), two(8 * i + 6, 1));
    }
    ptx::fence_async_proxy();
    __syncwarp();
    if (lane_ == 0 && work_.first_query + first_row < arguments_.seqlen) {
      for (int panel = 0; panel < C::kPanels; ++panel) {
        ptx::store_box(*O_map, shared_.Q() + (panel * C::kBlockQ + first_row) * kPanelRowBytes,
                       panel * kPanelColumns, work_.first_query + first_row, work_.head, 0);
      }
      ptx::commit_stores();
      ptx::wait_stores<0>();
    }
  }

  Shared<C> shared_;
  Work<C> work_;
  const Arguments& arguments_;
  int warpgroup_, warp_, lane_, row_;
  Stage<C::kStages> k_{0, 0}, v_{0, 0};
  bool has_O_ = false;
  float S_[C::kBlockKV / 2], O_[C::kHeadDim / 2];
  std::uint32_t P_[C::kBlockKV / 16][4];
  float row_max_[2] = {-INFINITY, -INFINITY}, row_sum_[2] = {0, 0}, rescale_[2] = {0, 0};
};

template <class C>
__global__ void __launch_bounds__(C::kThreads, 1)
    hopper_forward_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                          const __grid_constant__ ptx::TensorMap K_map,
                          const __grid_constant__ ptx::TensorMap V_map,
                          const __grid_constant__ ptx::TensorMap O_map, const Arguments arguments) {
  extern __shared__ std::uint8_t memory[];
  const Shared<C> shared(memory);
  const Work<C> work(arguments);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(shared.q_full(), 1);
    for (int stage = 0; stage < C::kStages; ++stage) {
      ptx::mbarrier_init(shared.k_full(stage), 1);
      ptx::mbarrier_init(shared.v_full(stage), 1);
      ptx::mbarrier_init(shared.k_empty(stage), C::kComputing);
      ptx::mbarrier_init(shared.v_empty(stage), C::kComputing);
    }
    ptx::fence_mbarrier_init();
    ptx::fence_async_proxy();
  }
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<C::kLoadingRegisters>();
    if (threadIdx.x == 0) load_tiles(shared, work, &Q_map, &K_map, &V_map);
  } else {
    ptx::take_registers<C::kComputingRegisters>();
    Computing<C>(shared, work, arguments).run(&O_map);
  }
}

// Reference and timing

/// Computes O and lse in fp32 for one row of one head per block. Shared memory: the row's scores.
__global__ void reference_kernel(const bf16* Q, const bf16* K, const bf16* V, float* O, float* lse,
                                 int seqlen, int head_dim, float scale, bool is_causal,
                                 const int* rows) {
  extern __shared__ float scores[];
  __shared__ float reduced[256];
  const int row = rows[blockIdx.x];
  const std::size_t head = blockIdx.y, place = head * gridDim.x + blockIdx.x;
  Q += (head * seqlen + row) * head_dim;
  K += head * seqlen * head_dim;
  V += head * seqlen * head_dim;
  const int num_keys = is_causal ? row + 1 : seqlen;
  const auto reduce = [&](float value, auto combine) {
    reduced[threadIdx.x] = value;
    __syncthreads();
    for (unsigned t = blockDim.x / 2; t > 0; t /= 2) {
      if (threadIdx.x < t)
        reduced[threadIdx.x] = combine(reduced[threadIdx.x], reduced[threadIdx.x + t]);
      __syncthreads();
    }
    const float result = reduced[0];
    __syncthreads();
    return result;
  };
  float largest = -INFINITY;
  for (int key = threadIdx.x; key < num_keys; key += blockDim.x) {
    float score = 0;
    for (int c = 0; c < head_dim; ++c) {
      score += __bfloat162float(Q[c]) *
               __bfloat162float(K[static_cast<std::size_t>(key) * head_dim + c]);
    }
    scores[key] = score * scale;
    largest = fmaxf(largest, scores[key]);
  }
  largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int key = threadIdx.x; key < num_keys; key += blockDim.x) {
    scores[key] = expf(scores[key] - largest);
    sum += scores[key];
  }
  sum = reduce(sum, [](float a, float b) { return a + b; });
  for (int c = threadIdx.x; c < head_dim; c += blockDim.x) {
    float value = 0;
    for (int key = 0; key < num_keys; ++key) {
      value += scores[key] * __bfloat162float(V[static_cast<std::size_t>(key) * head_dim + c]);
    }
    O[place * head_dim + c] = value / sum;
  }
  if (threadIdx.x == 0) lse[place] = largest + logf(sum);
}

/// Fills an array with standard normal numbers.
__global__ void fill_kernel(bf16* values, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    const float u = (static_cast<float>(z & 0xFFFFFF) + 0.5F) / 16777216.F;
    const float v = (static_cast<float>(z >> 40) + 0.5F) / 16777216.F;
    values[i] = __float2bfloat16(sqrtf(-2 * logf(u)) * cospif(2 * v));
  }
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() const { return data_; }
  std::vector<T> copy() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// Describes a tensor [num_heads, seqlen, head_dim] in boxes of `rows` rows and one panel.
ptx::TensorMap tensor_map(bf16* data, int head_dim, int seqlen, int num_heads, int rows) {
  const auto columns = static_cast<std::uint64_t>(head_dim),
             num_rows = static_cast<std::uint64_t>(seqlen),
             heads = static_cast<std::uint64_t>(num_heads);
  ptx::TensorLayout layout;
  layout.data = data;
  layout.sizes[0] = columns;
  layout.sizes[1] = num_rows;
  layout.sizes[2] = heads;
  layout.strides[1] = 2 * columns;
  layout.strides[2] = 2 * columns * num_rows;
  layout.strides[3] = 2 * columns * num_rows * heads;
  layout.box_rows = rows;
  return ptx::make_tensor_map(layout);
}

constexpr std::size_t kTokens = 16384, kHidden = 2048;

/// Inputs for all configurations: the same memory for any head_dim and seqlen.
struct Tensors {
  DeviceArray<bf16> Q{kTokens * kHidden}, K{kTokens * kHidden}, V{kTokens * kHidden},
      O{kTokens * kHidden};
  DeviceArray<float> lse{kTokens * kHidden / 64};
  Tensors() {
    std::uint64_t seed = 1;
    for (DeviceArray<bf16>* const tensor : {&Q, &K, &V}) {
      fill_kernel<<<1024, 256>>>(tensor->data(), kTokens * kHidden, seed++);
    }
    check(cudaDeviceSynchronize(), "filling the inputs");
  }
};

template <class C>
struct Candidate {
  static void launch(const Tensors& tensors, int seqlen, int num_heads) {
    constexpr double kL2Bytes = 40e6;
    constexpr float kLog2E = 1.4426950408889634F;
    static const bool has_shared = [] {
      check(cudaFuncSetAttribute(hopper_forward_kernel<C>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, C::kSharedBytes),
            "shared memory");
      return true;
    }();
    static_cast<void>(has_shared);
    Arguments arguments{seqlen, num_heads,
                        1,      1 / std::sqrt(static_cast<float>(C::kHeadDim)),
                        0,      tensors.lse.data()};
    arguments.scale_log2 = arguments.scale * kLog2E;
    const double bytes_of_head = 4.0 * seqlen * C::kHeadDim;
    while (2 * arguments.heads_together <= num_heads &&
           2 * arguments.heads_together * bytes_of_head <= kL2Bytes) {
      arguments.heads_together *= 2;
    }
    const auto map = [&](const DeviceArray<bf16>& tensor, int rows) {
      return tensor_map(tensor.data(), C::kHeadDim, seqlen, num_heads, rows);
    };
    const int num_q_tiles = (seqlen + C::kBlockQ - 1) / C::kBlockQ;
    hopper_forward_kernel<C><<<num_q_tiles * num_heads, C::kThreads, C::kSharedBytes>>>(
        map(tensors.Q, C::kBlockQ), map(tensors.K, C::kBlockKV), map(tensors.V, C::kBlockKV),
        map(tensors.O, 16), arguments);
    check(cudaGetLastError(), "launch");
  }

  /// Prints the relative error of O over rows from all parts, and the largest error of lse.
  static void compare(const Tensors& tensors, int seqlen, const std::string& name) {
    const int num_heads = 3, head_dim = C::kHeadDim;
    std::vector<int> rows;
    for (int row = 0; row < seqlen; row += std::max(1, seqlen / 61)) rows.push_back(row);
    rows.push_back(seqlen - 1);
    const DeviceArray<int> rows_there(rows.size());
    const DeviceArray<float> O_there(rows.size() * num_heads * head_dim),
        lse_there(rows.size() * num_heads);
    check(cudaMemcpy(rows_there.data(), rows.data(), rows.size() * sizeof(int),
                     cudaMemcpyHostToDevice),
          "copy");
    check(cudaMemset(tensors.O.data(), 0xFF, kTokens * kHidden * 2), "poison");  // NaN
    launch(tensors, seqlen, num_heads);
    reference_kernel<<<dim3(static_cast<unsigned>(rows.size()), num_heads), 256, seqlen * 4>>>(
        tensors.Q.data(), tensors.K.data(), tensors.V.data(), O_there.data(), lse_there.data(),
        seqlen, head_dim, 1 / std::sqrt(static_cast<float>(head_dim)), C::kIsCausal,
        rows_there.data());
    check(cudaDeviceSynchronize(), name.c_str());
    const auto O = tensors.O.copy();
    const auto lse = tensors.lse.copy(), O_right = O_there.copy(), lse_right = lse_there.copy();
    double error = 0, size = 0, lse_error = 0;
    for (int head = 0; head < num_heads; ++head) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t place = head * rows.size() + i;
        const std::size_t row = static_cast<std::size_t>(head) * seqlen + rows[i];
        for (int c = 0; c < head_dim; ++c) {
          const double right = O_right[place * head_dim + c];
          const double difference = __bfloat162float(O[row * head_dim + c]) - right;
          error += difference * difference;
          size += right * right;
        }
        lse_error = std::fmax(lse_error, std::fabs(lse[row] - lse_right[place]));
        if (std::isnan(lse[row])) error = NAN;
      }
    }
    const double relative = std::sqrt(error / size);
    if (!(relative < 5e-3 && lse_error < 1e-4)) {
      throw std::runtime_error(name + " at seqlen " + std::to_string(seqlen) + ": O is off by " +
                               std::to_string(relative) + ", lse by " + std::to_string(lse_error));
    }
  }

  /// Returns milliseconds: the median of several calls.
  static float time(const Tensors& tensors, int seqlen, int num_heads) {
    constexpr int kCalls = 5;
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> times(kCalls);
    launch(tensors, seqlen, num_heads);
    for (float& ms : times) {
      check(cudaEventRecord(begin), "event");
      launch(tensors, seqlen, num_heads);
      check(cudaEventRecord(end), "event");
      check(cudaEventSynchronize(end), "kernel");
      check(cudaEventElapsedTime(&ms, begin, end), "event");
    }
    check(cudaEventDestroy(begin), "event");
    check(cudaEventDestroy(end), "event");
    std::sort(times.begin(), times.end());
    return times[kCalls / 2];
  }
};

struct Row {
  std::string name;
  int head_dim;
  bool is_causal;
  void (*compare)(const Tensors&, int, const std::string&);
  float (*time)(const Tensors&, int, int);
};

template <int kHeadDim, int kComputing, int kBlockKV, bool kIsCausal, Order kOrder>
Row row() {
  using C = Config<kHeadDim, kComputing, kBlockKV, kIsCausal, kOrder>;
  constexpr const char* kOrders[] = {"serial", "overlap", "turns"};
  return {"d " + std::to_string(kHeadDim) + (kIsCausal ? " causal " : " full   ") +
              std::to_string(C::kBlockQ) + " x " + std::to_string(kBlockKV) + " " +
              kOrders[static_cast<int>(kOrder)],
          kHeadDim, kIsCausal, Candidate<C>::compare, Candidate<C>::time};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      row<128, 3, 128, false, Order::kSerial>(),  row<128, 2, 128, false, Order::kSerial>(),
      row<128, 2, 128, false, Order::kOverlap>(), row<128, 2, 128, false, Order::kTurns>(),
      row<128, 2, 176, false, Order::kOverlap>(), row<128, 2, 176, false, Order::kTurns>(),
      row<128, 2, 128, true, Order::kOverlap>(),  row<128, 2, 128, true, Order::kTurns>(),
      row<64, 3, 128, false, Order::kOverlap>(),  row<64, 3, 128, false, Order::kTurns>(),
      row<64, 3, 128, true, Order::kOverlap>(),   row<64, 3, 128, true, Order::kTurns>(),
      row<256, 2, 80, false, Order::kOverlap>(),  row<256, 2, 80, false, Order::kTurns>(),
      row<256, 2, 80, true, Order::kOverlap>(),   row<256, 2, 80, true, Order::kTurns>()};
  return kRows;
}

void study(const std::vector<int>& seqlens) {
  const Tensors tensors;
  for (const Row& one : rows()) {
    for (const int seqlen : {1, 63, 128, 300, 1000}) one.compare(tensors, seqlen, one.name);
  }
  std::printf("all %zu configurations are right at lengths 1, 63, 128, 300 and 1000\n",
              rows().size());
  for (const int seqlen : seqlens) {
    constexpr int kRounds = 9;
    std::vector<std::vector<double>> rates(rows().size());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < rows().size(); ++i) {
        const Row& one = rows()[i];
        const int num_heads = static_cast<int>(kTokens * kHidden) / (seqlen * one.head_dim);
        const double flops =
            4.0 * num_heads * seqlen * seqlen * one.head_dim / (one.is_causal ? 2 : 1);
        rates[i].push_back(flops / 1e9 / one.time(tensors, seqlen, num_heads));
      }
    }
    for (std::size_t i = 0; i < rows().size(); ++i) {
      std::sort(rates[i].begin(), rates[i].end());
      std::printf("N %6d  %-28s %6.1f TFLOP/s (%.0f to %.0f)\n", seqlen, rows()[i].name.c_str(),
                  rates[i][kRounds / 2], rates[i].front(), rates[i].back());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<int> seqlens;
    for (int i = 1; i < argc; ++i) {
      seqlens.push_back(std::atoi(argv[i]));
      if (seqlens.back() < 1 || kTokens % static_cast<std::size_t>(seqlens.back()) != 0) {
        throw std::runtime_error(std::string("seqlen ") + argv[i] +
                                 ": expected a divisor of 16384");
      }
    }
    int capability = 0;
    check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, 0), "no GPU");
    if (capability != 9) throw std::runtime_error("needs a GPU of compute capability 9.0");
    study(seqlens.empty() ? std::vector<int>{1024, 4096, 16384} : seqlens);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hopper_forward: %s\n", error.what());
    return 1;
  }
}
