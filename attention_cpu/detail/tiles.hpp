// The tiles of a call: their rows, the visible keys of their queries, and the parallel
// loops over them.
#pragma once

#include <omp.h>

#include "attention_cpu/detail/call.hpp"
#include "attention_cpu/detail/matrix.hpp"
#include "attention_cpu/detail/visible_in_tile.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

// Both are 64 for float and 32 for double: with the largest head_dim, Eigen packs products of such
// tiles on the stack (variants/products.cpp).
template <class Element>
inline constexpr std::int64_t kBlockQ = 256 / std::int64_t{sizeof(Element)};
template <class Element>
inline constexpr std::int64_t kBlockKV = 256 / std::int64_t{sizeof(Element)};

struct QueryTile {
  std::int64_t b, h;
  Range queries;
};

/// A range of rows of a head.
template <class Element>
ConstTile<Element> rows_of(const Heads<const Element>& heads, std::int64_t b, std::int64_t h,
                           const Range& rows, std::int64_t head_dim) {
  return {heads.head(b, h) + rows.first * heads.row_stride, rows.count, head_dim,
          Eigen::OuterStride<>(heads.row_stride)};
}
template <class Element>
Tile<Element> rows_of(const Heads<Element>& heads, std::int64_t b, std::int64_t h,
                      const Range& rows, std::int64_t head_dim) {
  return {heads.head(b, h) + rows.first * heads.row_stride, rows.count, head_dim,
          Eigen::OuterStride<>(heads.row_stride)};
}

/// Allocates row_size numbers per query: [batch, num_heads, seqlen_q, row_size].
template <class Element>
Element* allocate_rows(const Sizes& sizes, Workspace& workspace, std::int64_t row_size) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t num_rows = sizes.batch * sizes.num_heads * sizes.seqlen_q;
  const bool overflows = row_size > 0 && num_rows > kMost / row_size;
  return workspace.allocate<Element>(overflows ? kMost : num_rows * row_size);
}

/// One number for each query of a tile, in a workspace array [batch, num_heads, seqlen_q].
template <class Element>
Column<Element> stored_column(Element* array, const Sizes& sizes, const QueryTile& tile) {
  const std::int64_t row = (tile.b * sizes.num_heads + tile.h) * sizes.seqlen_q;
  return {array + row + tile.queries.first, tile.queries.count};
}

/// Returns the keys to which query i gives a weight.
template <class Element>
KeyRange weighed_keys(const ForwardCall<Element>& call, std::int64_t b, std::int64_t,
                      std::int64_t i) {
  return call.visible_keys(b, i);
}
/// Returns no key if lse is -inf: such a query is excluded.
template <class Element>
KeyRange weighed_keys(const BackwardCall<Element>& call, std::int64_t b, std::int64_t h,
                      std::int64_t i) {
  return call.lse.at(b, h, i) == -kInfinity<Element> ? KeyRange{} : call.visible_keys(b, i);
}

/// The same for each query of a tile, within `keys`: counted from their first.
template <class Element>
struct WeighedKeys {
  KeyRange of_row[kBlockQ<Element>];

  template <class Call>
  WeighedKeys(const Call& call, const QueryTile& tile, const Range& keys) {
    for (std::int64_t r = 0; r < tile.queries.count; ++r) {
      of_row[r] = within(weighed_keys(call, tile.b, tile.h, tile.queries.first + r), keys.first,
                         keys.count);
    }
  }
};

/// Returns the keys from the first to the last that some query of the tile sees.
inline KeyRange visible_to_tile(const Sizes& sizes, const QueryTile& tile) {
  return sizes.keys_seen_by(tile.b, tile.queries.first, tile.queries.count);
}

/// A tile of scores, row maxima and row sums per thread, allocated before the parallel loop.
template <class Element>
class ThreadMemory {
 public:
  explicit ThreadMemory(const ForwardCall<Element>& call)
      : data_(call.workspace->template allocate<Element>(call.num_threads * kSize)) {}

  Tile<Element> S(const QueryTile& tile, const Range& keys) const {
    return {own(), tile.queries.count, keys.count, Eigen::OuterStride<>(kBlockKV<Element>)};
  }
  Column<Element> row_max(const QueryTile& tile) const {
    return {own() + kBlockQ<Element> * kBlockKV<Element>, tile.queries.count};
  }
  Column<Element> row_sum(const QueryTile& tile) const {
    return {own() + kBlockQ<Element> * (kBlockKV<Element> + 1), tile.queries.count};
  }

 private:
  static constexpr std::int64_t kSize = kBlockQ<Element> * (kBlockKV<Element> + 2);
  Element* own() const { return data_ + omp_get_thread_num() * kSize; }

  Element* data_;
};

/// Writes lse of a tile's queries from their maxima and sums; sets O = 0 for
/// queries without weights.
template <class Element>
void write_statistics(const ForwardCall<Element>& call, const QueryTile& tile,
                      const Column<Element>& row_max, const Column<Element>& row_sum,
                      Tile<Element> O) {
  for (std::int64_t r = 0; r < tile.queries.count; ++r) {
    call.lse.at(tile.b, tile.h, tile.queries.first + r) = logsumexp(row_max[r], row_sum[r]);
    if (row_sum[r] == 0) O.row(r).setZero();
  }
}

/// Calls body(Range) for the keys of a range in blocks.
template <std::int64_t kBlock, class Body>
void for_each_block(const KeyRange& range, const Body& body) {
  for (std::int64_t first = range.first; first < range.end; first += kBlock) {
    body(Range{first, range.end - first < kBlock ? range.end - first : kBlock});
  }
}
/// The same for 0 … total.
template <std::int64_t kBlock, class Body>
void for_each_block(std::int64_t total, const Body& body) {
  for_each_block<kBlock>(KeyRange{0, total}, body);
}

/// Calls body(b, h, Range) for all batch entries, heads and blocks of rows, on all threads. This is
/// the `pass`th of `num_passes` such loops.
template <std::int64_t kBlock, class Call, class Body>
void for_each_block_of_heads(const Call& call, std::int64_t num_heads, std::int64_t num_rows,
                             std::int64_t pass, std::int64_t num_passes, const Body& body) {
  const std::int64_t num_blocks = (num_rows + kBlock - 1) / kBlock;
  call.progress->begin(call.batch * num_heads * num_blocks, static_cast<int>(pass),
                       static_cast<int>(num_passes));
#pragma omp parallel for collapse(3) num_threads(call.num_threads) schedule(dynamic)
  for (std::int64_t b = 0; b < call.batch; ++b) {
    for (std::int64_t h = 0; h < num_heads; ++h) {
      for (std::int64_t block = 0; block < num_blocks; ++block) {
        if (call.progress->cancelled()) continue;
        const std::int64_t first = block * kBlock, left = num_rows - first;
        body(b, h, Range{first, left < kBlock ? left : kBlock});
        call.progress->finished();
      }
    }
  }
}

/// Calls body(QueryTile) in parallel.
template <class Element, class Call, class Body>
void for_each_query_tile(const Call& call, std::int64_t pass, std::int64_t num_passes,
                         const Body& body) {
  for_each_block_of_heads<kBlockQ<Element>>(
      call, call.num_heads, call.seqlen_q, pass, num_passes,
      [&](std::int64_t b, std::int64_t h, const Range& queries) {
        body(QueryTile{b, h, queries});
      });
}

/// Calls body(b, kv_head, Range) in parallel.
template <class Element, class Body>
void for_each_key_block(const BackwardCall<Element>& call, std::int64_t pass,
                        std::int64_t num_passes, const Body& body) {
  for_each_block_of_heads<kBlockKV<Element>>(call, call.num_kv_heads, call.seqlen_k, pass,
                                             num_passes, body);
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
