// Gradients of X and the weights in one sweep over rows of S; dQ, dK and dV are never stored whole.
//
//   for each tile i of queries:   QW = scale q_i W_K^T,  GW = dO_i W_V^T;  dQ = SX = PX = 0
//     for each tile j of keys:    P = exp(scale q_i K_j^T - lse_i);  dS = P o (dO_i V_j^T - D_i)
//                                 dQ += scale dS K_j;  SX += scale dS X_j;  PX += P X_j
//                                 dX_j += dS^T QW + P^T GW
//     dX_i += dQ W_Q^T;  dW_Q += x_i^T dQ;  dW_K += SX^T q_i;  dW_V += PX^T dO_i
//
// Shapes   attention/projections.hpp; D = rowsum(dO o O)
// Parallel each thread has a tile of queries (of any batch entry and head), all in lockstep. Tiles
//          of dX and rows of dW are divided into as many groups as there are threads. In each round
//          every thread adds to a different group: no two threads add to the same one, and the
//          order depends only on the number of threads
// Memory   2 kBlock^2 + kBlock (2 + head_dim + 4 d_model) elements per thread, for any seqlen
// Cost     streamed_backward_flops: more than in two steps unless d_model < head_dim / 2
// Against  bwd-twopass and plain products: no array of dQ, dK, dV between them
// Source   toy-model notes, associativity of dX and the weight gradients;
//          toymachine/programs/stream_dx.toy
#include "attention_cpu/detail/build.hpp"
//
#include <omp.h>

#include <cmath>
#include <limits>

#include "attention_cpu/detail/projection_call.hpp"
#include "attention_cpu/detail/tile_products.hpp"
#include "attention_cpu/detail/visible_in_tile.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

constexpr std::int64_t kBlock = 64;  // rows of a tile: of queries, of keys, of X

/// One thread's data for its tile of queries.
template <class Element>
struct StreamedTile {
  Element *P, *dS;             // [kBlock, kBlock]
  Element *lse, *delta;        // [kBlock]
  Element* dQ;                 // [kBlock, head_dim]
  Element *QW, *GW, *SX, *PX;  // [kBlock, d_model]
  std::int64_t b = 0, h = 0, index = 0, first = 0, num_rows = 0;

  static std::int64_t elements(std::int64_t head_dim, std::int64_t d_model) {
    return 2 * kBlock * kBlock + kBlock * (2 + head_dim + 4 * d_model);
  }
  StreamedTile(Element* memory, std::int64_t head_dim, std::int64_t d_model) {
    const auto take = [&memory](std::int64_t width) {
      Element* const taken = memory;
      memory += kBlock * width;
      return taken;
    };
    P = take(kBlock);
    dS = take(kBlock);
    QW = take(d_model);
    GW = take(d_model);
    SX = take(d_model);
    PX = take(d_model);
    dQ = take(head_dim);
    lse = take(1);
    delta = take(1);
  }
};

/// Rows of a tile that see the same of some keys. Within a run there is no mask, and hidden pairs
/// are not computed.
struct Run {
  std::int64_t first, num_rows, first_key, num_keys;
};

/// Calls work(Run) for the rows that see some of num_keys keys from first_key on.
template <class Element, class Work>
void each_run(const StreamedBackwardCall<Element>& call, const StreamedTile<Element>& tile,
              std::int64_t first_key, std::int64_t num_keys, const Work& work) {
  const auto keys = [&](std::int64_t row) -> KeyRange {
    // No visible key, or only scores of -inf: the row contributes nothing.
    if (tile.lse[row] == -std::numeric_limits<Element>::infinity()) return {};
    return within(call.visible_keys(tile.b, tile.first + row), first_key, num_keys);
  };
  for (std::int64_t row = 0, last = 0; row < tile.num_rows; row = last) {
    const KeyRange seen = keys(row);
    for (last = row + 1; last < tile.num_rows && keys(last) == seen;) ++last;
    if (seen.count() > 0) work(Run{row, last - row, first_key + seen.first, seen.count()});
  }
}

/// Calls work(Run) for the rows that have weights.
template <class Element, class Work>
void each_weighed_run(const StreamedTile<Element>& tile, const Work& work) {
  const auto has_weights = [&](std::int64_t row) {
    return tile.lse[row] != -std::numeric_limits<Element>::infinity();
  };
  for (std::int64_t row = 0, last = 0; row < tile.num_rows; row = last) {
    for (last = row + 1; last < tile.num_rows && has_weights(last) == has_weights(row);) ++last;
    if (has_weights(row)) work(Run{row, last - row, 0, 0});
  }
}

template <class Element>
MatrixTile<Element> run_rows(Element* buffer, const Run& run, std::int64_t width) {
  return {buffer + run.first * width, run.num_rows, width, Eigen::OuterStride<>(width)};
}

/// The part of P or dS that belongs to a run.
template <class Element>
MatrixTile<Element> run_pairs(Element* buffer, const Run& run) {
  return {buffer + run.first * kBlock, run.num_rows, run.num_keys, Eigen::OuterStride<>(kBlock)};
}

template <class Element>
void begin(const StreamedBackwardCall<Element>& call, StreamedTile<Element>& tile,
           std::int64_t item) {
  const std::int64_t num_tiles = (call.seqlen_q + kBlock - 1) / kBlock;
  const std::int64_t d = call.head_dim, d_model = call.d_model;
  tile.index = item % num_tiles;
  tile.h = item / num_tiles % call.num_heads;
  tile.b = item / num_tiles / call.num_heads;
  tile.first = tile.index * kBlock;
  tile.num_rows = call.seqlen_q - tile.first < kBlock ? call.seqlen_q - tile.first : kBlock;
  const std::int64_t kv = call.kv_head(tile.h);
  const Run all{0, tile.num_rows, 0, 0};

  const auto q = tile_of(call.Q, tile.b, tile.h, tile.first, tile.num_rows, 0, d);
  const auto o = tile_of(call.O, tile.b, tile.h, tile.first, tile.num_rows, 0, d);
  const auto dO = tile_of(call.dO, tile.b, tile.h, tile.first, tile.num_rows, 0, d);
  for (std::int64_t row = 0; row < tile.num_rows; ++row) {
    tile.lse[row] = call.lse.at(tile.b, tile.h, tile.first + row);
    tile.delta[row] = dO.row(row).dot(o.row(row));
  }
  auto QW = run_rows(tile.QW, all, d_model), GW = run_rows(tile.GW, all, d_model);
  QW.setZero();
  GW.setZero();
  add_product(q, tile_of(call.W_K, 0, 0, 0, d_model, kv * d, d).transpose(), QW);
  QW *= static_cast<Element>(call.softmax_scale);
  add_product(dO, tile_of(call.W_V, 0, 0, 0, d_model, kv * d, d).transpose(), GW);
  run_rows(tile.dQ, all, d).setZero();
  run_rows(tile.SX, all, d_model).setZero();
  run_rows(tile.PX, all, d_model).setZero();
}

/// Computes P and dS of one run.
template <class Element>
void pair_probabilities(const StreamedBackwardCall<Element>& call,
                        const StreamedTile<Element>& tile, const Run& run) {
  const std::int64_t d = call.head_dim, kv = call.kv_head(tile.h);
  const std::int64_t first = tile.first + run.first;
  auto P = run_pairs(tile.P, run), dS = run_pairs(tile.dS, run);
  P.setZero();
  dS.setZero();
  add_product(tile_of(call.Q, tile.b, tile.h, first, run.num_rows, 0, d),
              tile_of(call.K, tile.b, kv, run.first_key, run.num_keys, 0, d).transpose(), P);
  add_product(tile_of(call.dO, tile.b, tile.h, first, run.num_rows, 0, d),
              tile_of(call.V, tile.b, kv, run.first_key, run.num_keys, 0, d).transpose(), dS);
  const Element scale = static_cast<Element>(call.softmax_scale);
  for (std::int64_t row = 0; row < run.num_rows; ++row) {
    const Element lse = tile.lse[run.first + row], delta = tile.delta[run.first + row];
    P.row(row) = (P.row(row).array() * scale - lse).exp();
    dS.row(row) = P.row(row).array() * (dS.row(row).array() - delta);
  }
}

/// Adds one tile of keys to this thread's sums and to dX.
template <class Element>
void add_streamed_keys(const StreamedBackwardCall<Element>& call, const StreamedTile<Element>& tile,
                       std::int64_t first_key) {
  const std::int64_t d = call.head_dim, d_model = call.d_model, kv = call.kv_head(tile.h);
  each_run(call, tile, first_key, kBlock, [&](const Run& run) {
    pair_probabilities(call, tile, run);
    auto P = run_pairs(tile.P, run), dS = run_pairs(tile.dS, run);
    auto dX = tile_of(call.dX, tile.b, 0, run.first_key, run.num_keys, 0, d_model);
    add_product(dS.transpose(), run_rows(tile.QW, run, d_model), dX);
    add_product(P.transpose(), run_rows(tile.GW, run, d_model), dX);

    dS *= static_cast<Element>(call.softmax_scale);
    const auto x = tile_of(call.X, tile.b, 0, run.first_key, run.num_keys, 0, d_model);
    add_product(dS, tile_of(call.K, tile.b, kv, run.first_key, run.num_keys, 0, d),
                run_rows(tile.dQ, run, d));
    add_product(dS, x, run_rows(tile.SX, run, d_model));
    add_product(P, x, run_rows(tile.PX, run, d_model));
  });
}

/// Adds the finished sums of a tile of queries to the group's rows of dW, and to dX if the tile
/// belongs to the group.
template <class Element>
void add_sums(const StreamedBackwardCall<Element>& call, const StreamedTile<Element>& tile,
              std::int64_t group, std::int64_t num_groups) {
  const std::int64_t d = call.head_dim, d_model = call.d_model, kv = call.kv_head(tile.h);
  const std::int64_t first = group * d_model / num_groups;
  const std::int64_t count = (group + 1) * d_model / num_groups - first;
  each_weighed_run(tile, [&](const Run& run) {
    const std::int64_t query = tile.first + run.first;
    const auto dQ = run_rows(tile.dQ, run, d);
    if (tile.index % num_groups == group) {
      add_product(dQ, tile_of(call.W_Q, 0, 0, 0, d_model, tile.h * d, d).transpose(),
                  tile_of(call.dX, tile.b, 0, query, run.num_rows, 0, d_model));
    }
    const auto q = tile_of(call.Q, tile.b, tile.h, query, run.num_rows, 0, d);
    const auto dO = tile_of(call.dO, tile.b, tile.h, query, run.num_rows, 0, d);
    const auto x = tile_of(call.X, tile.b, 0, query, run.num_rows, first, count);
    const auto SX = run_rows(tile.SX, run, d_model).middleCols(first, count);
    const auto PX = run_rows(tile.PX, run, d_model).middleCols(first, count);
    add_product(x.transpose(), dQ, tile_of(call.dW_Q, 0, 0, first, count, tile.h * d, d));
    add_product(SX.transpose(), q, tile_of(call.dW_K, 0, 0, first, count, kv * d, d));
    add_product(PX.transpose(), dO, tile_of(call.dW_V, 0, 0, first, count, kv * d, d));
  });
}

/// One thread's part of the step that begins with tile first_item. Barriers keep all threads of the
/// team in the same round.
template <class Element>
void streamed_step(const StreamedBackwardCall<Element>& call, StreamedTile<Element>& tile,
                   std::int64_t first_item, std::int64_t num_items) {
  const std::int64_t thread = omp_get_thread_num(), num_groups = omp_get_num_threads();
  const bool has_work = first_item + thread < num_items && !call.progress->cancelled();
  if (has_work) begin(call, tile, first_item + thread);
  for (std::int64_t round = 0; round < num_groups; ++round) {
    const std::int64_t group = (thread + round) % num_groups;
    for (std::int64_t j = group * kBlock; has_work && j < call.seqlen_k; j += num_groups * kBlock) {
      add_streamed_keys(call, tile, j);
    }
#pragma omp barrier
  }
  for (std::int64_t round = 0; round < num_groups; ++round) {
    if (has_work) add_sums(call, tile, (thread + round) % num_groups, num_groups);
#pragma omp barrier
  }
  if (has_work) call.progress->finished();
}

template <class Element>
void clear_gradients(const StreamedBackwardCall<Element>& call) {
  const std::int64_t q_width = call.num_heads * call.head_dim;
  const std::int64_t kv_width = call.num_kv_heads * call.head_dim;
#pragma omp for schedule(static)
  for (std::int64_t row = 0; row < call.d_model; ++row) {
    tile_of(call.dW_Q, 0, 0, row, 1, 0, q_width).setZero();
    tile_of(call.dW_K, 0, 0, row, 1, 0, kv_width).setZero();
    tile_of(call.dW_V, 0, 0, row, 1, 0, kv_width).setZero();
  }
#pragma omp for schedule(static) collapse(2)
  for (std::int64_t b = 0; b < call.batch; ++b) {
    for (std::int64_t row = 0; row < call.seqlen_q; ++row) {
      tile_of(call.dX, b, 0, row, 1, 0, call.d_model).setZero();
    }
  }
}

}  // namespace

template <class Element>
void projections_streamed(const StreamedBackwardCall<Element>& call) {
  const std::int64_t num_items =
      call.batch * call.num_heads * ((call.seqlen_q + kBlock - 1) / kBlock);
  const std::int64_t elements = StreamedTile<Element>::elements(call.head_dim, call.d_model);
  Element* const memory = call.workspace->template allocate<Element>(call.num_threads * elements);
  call.progress->begin(num_items);
#pragma omp parallel num_threads(call.num_threads)
  {
    clear_gradients(call);
    StreamedTile<Element> tile(memory + omp_get_thread_num() * elements, call.head_dim,
                               call.d_model);
    const std::int64_t num_threads = omp_get_num_threads();
    for (std::int64_t item = 0; item < num_items; item += num_threads) {
      streamed_step(call, tile, item, num_items);
    }
  }
}

template void projections_streamed(const StreamedBackwardCall<float>&);
template void projections_streamed(const StreamedBackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
