// The (m, l, O) with which flash2 begins and ends if it sees only a part of the keys.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/ptx/exp2.cuh"

namespace flashlab::cuda {

/// m, l [batch, num_heads, seqlen_q], O [batch, num_heads, seqlen_q, head_dim], all fp32. m null: no
/// state.
struct StateTensors {
  DeviceTensor<float> m, l, O;

  __device__ bool is_given() const { return m.data != nullptr; }
};

inline StateTensors state_tensors(const ForwardState& state) {
  return {device_tensor<float>(state.m), device_tensor<float>(state.l),
          device_tensor<float>(state.O)};
}

/// A thread's part of a row of sums as mma and wgmma hold them: the columns 8 n + 2 (lane % 4) and the
/// one after it, for n = 0 …. `two(n)` returns the address of both.
///
/// Kernels keep the largest score `row_max`, and the state has m = c row_max, rounded. Where sums are as exact
/// as fp32 (load_exactly, store_exactly), they change by 2^(c row_max - m) between the two.
class StateRow {
 public:
  __device__ StateRow(const StateTensors& state, int b, int h, int row, int lane, int head_dim)
      : m_(state.m.row(b, h, row)),
        l_(state.l.row(b, h, row)),
        O_(state.O.row(b, h, row)),
        column_stride_(state.O.column_stride),
        lane_(lane % 4),
        head_dim_(head_dim) {}

  /// l goes to one of the row's four threads: their sums are added at the end.
  template <int kHeadDim, class Two>
  __device__ void load(float& m, float& l, const Two& two) const {
    m = *m_;
    load_sums<kHeadDim>(l, 1.F, two);
  }
  /// l is the row's whole sum.
  template <int kHeadDim, class Two>
  __device__ void store(float m, float l, const Two& two) const {
    store_sums<kHeadDim>(m, l, 1.F, two);
  }

  template <int kHeadDim, class Two>
  __device__ void load_exactly(float& row_max, float& l, float c, const Two& two) const {
    const float m = *m_;
    row_max = m / c;
    load_sums<kHeadDim>(l, m == -INFINITY ? 1.F : ptx::exp2_approximate(-fmaf(row_max, c, -m)),
                        two);
  }
  template <int kHeadDim, class Two>
  __device__ void store_exactly(float row_max, float l, float c, const Two& two) const {
    const float m = row_max * c;
    store_sums<kHeadDim>(m, l, m == -INFINITY ? 1.F : ptx::exp2_approximate(fmaf(row_max, c, -m)),
                         two);
  }

 private:
  template <int kHeadDim, class Two>
  __device__ void load_sums(float& l, float factor, const Two& two) const {
    l = lane_ == 0 ? *l_ * factor : 0.F;
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      float* const columns = two(n);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = 8 * n + 2 * lane_ + i;
        columns[i] = column < head_dim_ ? O_[column * column_stride_] * factor : 0.F;
      }
    }
  }
  template <int kHeadDim, class Two>
  __device__ void store_sums(float m, float l, float factor, const Two& two) const {
    if (lane_ == 0) {
      *m_ = m;
      *l_ = l * factor;
    }
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      const float* const columns = two(n);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = 8 * n + 2 * lane_ + i;
        if (column < head_dim_) O_[column * column_stride_] = columns[i] * factor;
      }
    }
  }

  float *m_, *l_, *O_;
  std::int64_t column_stride_;
  int lane_, head_dim_;
};

}  // namespace flashlab::cuda
