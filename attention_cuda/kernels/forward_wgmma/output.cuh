// O in flash2_wgmma_sm90: how it begins, follows M, and leaves the registers.
#pragma once

#include <cstdint>

#include "attention_cuda/device/quad_transpose.cuh"
#include "attention_cuda/kernels/forward_wgmma/softmax.cuh"

namespace flashlab::cuda {

/// A thread's part of O: two rows, 8 apart, in the layout of wgmma's sums, as S.
template <class Config>
class WgmmaOutput : protected WgmmaSoftmax<Config> {
 protected:
  using Softmax = WgmmaSoftmax<Config>;
  using Softmax::arguments_, Softmax::maxima_, Softmax::row_sum_, Softmax::rescale_,
      Softmax::is_raised_, Softmax::largest_;

  /// `row`: the first of the thread's rows.
  __device__ WgmmaOutput(const WgmmaArguments& arguments, const WgmmaWork<Config>& work, int row,
                         int lane)
      : Softmax(arguments), work_(work), row_(row), lane_(lane) {}

  __device__ void clear_O() {
#pragma unroll
    for (int i = 0; i < Config::kHeadDim / 2; ++i) O_[i] = 0;
  }

  /// O after m was raised.
  __device__ void rescale_O() {
    if (!is_raised_) return;
#pragma unroll
    for (int i = 0; i < Config::kHeadDim / 2; ++i) O_[i] *= rescale_[i / 2 % 2];
    is_raised_ = false;
  }

  /// Goes on where another call ended.
  __device__ void load_state() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = min(max(row_ + 8 * r, 0), arguments_.sizes.seqlen_q - 1);
      float m;
      StateRow(arguments_.state_in, work_.b, work_.h, row, lane_, arguments_.sizes.head_dim)
          .template load<Config::kHeadDim>(m, row_sum_[r],
                                           [&](int n) { return O_ + 4 * n + 2 * r; });
      rescale_[r] = maxima_.go_on(r, m, arguments_.scale_log2);
      row_sum_[r] *= rescale_[r];
    }
    is_raised_ = __any_sync(~0U, rescale_[0] != 1 || rescale_[1] != 1);
    rescale_O();
    has_O_ = true;
  }

  /// 5. What the rows have without O, while the last P V runs: l, lse, and in rescale_ the factor for O,
  /// 1 / (l + e), for a state l / (l + e). e: the largest weight's error (device/online_softmax.cuh).
  __device__ void finish_rows() {
    const bool is_state = arguments_.state_out.is_given();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = row_sum(row_sum_[r]);
      const float error = maxima_.rounding_of(r, row_maximum(largest_[r]), arguments_.scale_log2);
      row_sum_[r] = sum;
      const float inverse = inverse_of(sum, error);
      // without_error(), written out: ptxas would compute the quotient in both branches.
      rescale_[r] = is_state ? (error == 0 ? 1 : sum * inverse) : (sum == 0 ? 0 : inverse);
    }
    if (!is_state) store_lse();
  }
  /// Stores O, or the state.
  __device__ void finish_O() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (arguments_.state_out.is_given()) {
        if (is_query(r)) store_state(r);
      } else {
        store_O(r);
      }
    }
  }

  const WgmmaWork<Config>& work_;
  int row_, lane_;
  bool has_O_ = false;
  float O_[Config::kHeadDim / 2];  // 64 rows of the warpgroup

 private:
  __device__ bool is_query(int r) const {
    const int row = row_ + 8 * r;
    return row >= 0 && row < arguments_.sizes.seqlen_q;
  }

  __device__ void store_state(int r) {
#pragma unroll
    for (int i = 2 * r; i < Config::kHeadDim / 2; i += 4) {
      O_[i] *= rescale_[r];
      O_[i + 1] *= rescale_[r];
    }
    float factor;
    const float m = maxima_.state(r, arguments_.scale_log2, factor);
    StateRow(arguments_.state_out, work_.b, work_.h, row_ + 8 * r, lane_, arguments_.sizes.head_dim)
        .template store<Config::kHeadDim>(
            m, row_sum_[r], [&](int n) { return O_ + 4 * n + 2 * r; }, factor);
  }

  /// Of the four lanes that share both rows one for each.
  __device__ void store_lse() const {
    const int r = lane_ & 1;
    if (arguments_.lse.data == nullptr || (lane_ & 2) != 0 || !is_query(r)) return;
    *arguments_.lse.row(work_.b, work_.h, row_ + 8 * r) =
        maxima_.log_sum(r, r == 0 ? row_sum_[0] : row_sum_[1], arguments_.scale);
  }
  __device__ void store_O(int r) {
    const int num_chunks = arguments_.sizes.head_dim / 8;  // of 16 bytes
    std::uint16_t* const O_row = arguments_.O.row(work_.b, work_.h, row_ + 8 * r);
    store_row_of_sums<typename Config::Element>(O_row, is_query(r), O_, r, rescale_[r], num_chunks,
                                                lane_);
  }
};

}  // namespace flashlab::cuda
