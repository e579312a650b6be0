// The (m, l, O) with which flash2 begins and ends if it sees only a part of the keys.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/arguments.cuh"

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
    l = lane_ == 0 ? *l_ : 0.F;
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      float* const columns = two(n);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = 8 * n + 2 * lane_ + i;
        columns[i] = column < head_dim_ ? O_[column * column_stride_] : 0.F;
      }
    }
  }
  /// l is the row's whole sum. `factor`: of l and O.
  template <int kHeadDim, class Two>
  __device__ void store(float m, float l, const Two& two, float factor = 1) const {
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

 private:
  float *m_, *l_, *O_;
  std::int64_t column_stride_;
  int lane_, head_dim_;
};

}  // namespace flashlab::cuda
