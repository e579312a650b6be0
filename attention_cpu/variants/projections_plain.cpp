// The projections as ordinary matrix products: Q, K, V before attention, dX and dW after it.
//
//   Q = X W_Q,  K = X W_K,  V = X W_V
//   dX = dQ W_Q^T + dK W_K^T + dV W_V^T
//   dW_Q = X^T dQ,  dW_K = X^T dK,  dW_V = X^T dV          summed over the batch
//
// Shapes   attention/projections.hpp
// Parallel over batch and rows of X; for dW over rows of W and heads. One thread computes each sum,
//          so the bits do not depend on the number of threads
// Memory   nothing besides the tensors
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/projection_call.hpp"
#include "attention_cpu/detail/tile_products.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

constexpr std::int64_t kBlockRows = kProductBlock;

std::int64_t num_blocks(std::int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

struct Rows {
  std::int64_t first, count;
};

Rows block(std::int64_t index, std::int64_t rows) {
  const std::int64_t first = index * kBlockRows;
  return {first, rows - first < kBlockRows ? rows - first : kBlockRows};
}

/// Multiplies one tile of X by the columns of every head of W.
template <class Element>
void project_rows(const ProjectionCall<Element>& call, std::int64_t b, Rows rows,
                  const Heads<const Element>& W, const Heads<Element>& result,
                  std::int64_t num_heads) {
  const std::int64_t d = call.head_dim;
  const auto x = tile_of(call.X, b, 0, rows.first, rows.count, 0, call.d_model);
  for (std::int64_t h = 0; h < num_heads; ++h) {
    auto tile = tile_of(result, b, h, rows.first, rows.count, 0, d);
    tile.setZero();
    add_product(x, tile_of(W, 0, 0, 0, call.d_model, h * d, d), tile);
  }
}

/// dX += dQ W_Q^T, for one tile of rows and every head.
template <class Element>
void add_input_gradient(const ProjectionGradientCall<Element>& call, std::int64_t b, Rows rows,
                        const Heads<const Element>& W, const Heads<const Element>& gradient,
                        std::int64_t num_heads) {
  const std::int64_t d = call.head_dim;
  auto dx = tile_of(call.dX, b, 0, rows.first, rows.count, 0, call.d_model);
  for (std::int64_t h = 0; h < num_heads; ++h) {
    add_product(tile_of(gradient, b, h, rows.first, rows.count, 0, d),
                tile_of(W, 0, 0, 0, call.d_model, h * d, d).transpose(), dx);
  }
}

/// dW = X^T dQ, for a range of rows of dW and one head.
template <class Element>
void weight_gradient(const ProjectionGradientCall<Element>& call, Rows rows,
                     const Heads<Element>& dW, const Heads<const Element>& gradient,
                     std::int64_t h) {
  const std::int64_t d = call.head_dim, seqlen = call.seqlen_q;
  auto tile = tile_of(dW, 0, 0, rows.first, rows.count, h * d, d);
  tile.setZero();
  for (std::int64_t b = 0; b < call.batch; ++b) {
    add_product(tile_of(call.X, b, 0, 0, seqlen, rows.first, rows.count).transpose(),
                tile_of(gradient, b, h, 0, seqlen, 0, d), tile);
  }
}

}  // namespace

template <class Element>
void project(const ProjectionCall<Element>& call) {
  call.progress->begin(call.batch * num_blocks(call.seqlen_q));
#pragma omp parallel for collapse(2) num_threads(call.num_threads) schedule(dynamic)
  for (std::int64_t b = 0; b < call.batch; ++b) {
    for (std::int64_t i = 0; i < num_blocks(call.seqlen_q); ++i) {
      if (call.progress->cancelled()) continue;
      const Rows rows = block(i, call.seqlen_q);
      project_rows(call, b, rows, call.W_Q, call.Q, call.num_heads);
      project_rows(call, b, rows, call.W_K, call.K, call.num_kv_heads);
      project_rows(call, b, rows, call.W_V, call.V, call.num_kv_heads);
      call.progress->finished();
    }
  }
}

template <class Element>
void project_gradients(const ProjectionGradientCall<Element>& call) {
  call.progress->begin(call.batch * num_blocks(call.seqlen_q), 0, 2);
#pragma omp parallel for collapse(2) num_threads(call.num_threads) schedule(dynamic)
  for (std::int64_t b = 0; b < call.batch; ++b) {
    for (std::int64_t i = 0; i < num_blocks(call.seqlen_q); ++i) {
      if (call.progress->cancelled()) continue;
      const Rows rows = block(i, call.seqlen_q);
      tile_of(call.dX, b, 0, rows.first, rows.count, 0, call.d_model).setZero();
      add_input_gradient(call, b, rows, call.W_Q, call.dQ, call.num_heads);
      add_input_gradient(call, b, rows, call.W_K, call.dK, call.num_kv_heads);
      add_input_gradient(call, b, rows, call.W_V, call.dV, call.num_kv_heads);
      call.progress->finished();
    }
  }

  const std::int64_t num_heads = call.num_heads, num_kv_heads = call.num_kv_heads;
  call.progress->begin(num_blocks(call.d_model) * (num_heads + 2 * num_kv_heads), 1, 2);
#pragma omp parallel for collapse(2) num_threads(call.num_threads) schedule(dynamic)
  for (std::int64_t r = 0; r < num_blocks(call.d_model); ++r) {
    for (std::int64_t slot = 0; slot < num_heads + 2 * num_kv_heads; ++slot) {
      if (call.progress->cancelled()) continue;
      const Rows rows = block(r, call.d_model);
      const std::int64_t kv_slot = slot - num_heads;
      if (kv_slot < 0) {
        weight_gradient(call, rows, call.dW_Q, call.dQ, slot);
      } else if (kv_slot < num_kv_heads) {
        weight_gradient(call, rows, call.dW_K, call.dK, kv_slot);
      } else {
        weight_gradient(call, rows, call.dW_V, call.dV, kv_slot - num_kv_heads);
      }
      call.progress->finished();
    }
  }
}

template void project(const ProjectionCall<float>&);
template void project(const ProjectionCall<double>&);
template void project_gradients(const ProjectionGradientCall<float>&);
template void project_gradients(const ProjectionGradientCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
