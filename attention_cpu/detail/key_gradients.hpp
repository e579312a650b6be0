// dK and dV of one K/V tile: loops over all queries that see it, in every head that reads it.
#pragma once

#include "attention_cpu/detail/backward_step.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Keys and values of one tile: with P, dS, dK and dV they fit a part of L2.
inline constexpr std::int64_t kBackwardBlockKV = 192;

template <class Element>
class KeyGradients {
 public:
  /// `memory`: elements() elements.
  KeyGradients(const BackwardCall<Element>& call, const BackwardQueries<Element>& queries,
               Element* memory)
      : call_(call), queries_(queries), memory_(memory) {}

  static std::int64_t elements(std::int64_t head_dim) {
    return 2 * kBackwardBlockKV * (kGroup<Element> + padded_head_dim<Element>(head_dim));
  }

  /// add_to(tile, queries, h, g) sets in the tile where and when the group's dQ [head_dim, kGroup] is
  /// added, and may replace the group's delta.
  template <class AddTo>
  void run(std::int64_t b, std::int64_t kv_head, std::int64_t first_key, const AddTo& add_to) {
    BackwardTile<Element> tile = tile_at(b, kv_head, first_key);
    const std::int64_t per_kv_head = call_.num_heads / call_.num_kv_heads;
    const KeyRange seeing = call_.queries_that_see(b, first_key, tile.num_keys);
    for (std::int64_t h = kv_head * per_kv_head; h < (kv_head + 1) * per_kv_head; ++h) {
      for (std::int64_t g = seeing.first / kGroup<Element>; g * kGroup<Element> < seeing.end; ++g) {
        QueryGroup<Element> queries = queries_.group(b, h, g);
        if (within(queries.seen_by_any, first_key, tile.num_keys).count() == 0) continue;
        add_to(tile, queries, h, g);
        backward::meet(queries, tile);
      }
    }
    write(call_.dK, tile.dK, tile.num_keys, b, kv_head, first_key,
          static_cast<Element>(call_.softmax_scale));
    write(call_.dV, tile.dV, tile.num_keys, b, kv_head, first_key, 1);
  }

 private:
  BackwardTile<Element> tile_at(std::int64_t b, std::int64_t kv_head, std::int64_t first_key) {
    const std::int64_t padded = padded_head_dim<Element>(call_.head_dim);
    const std::int64_t rest = call_.seqlen_k - first_key;
    BackwardTile<Element> tile = {};
    tile.K = {call_.K.head(b, kv_head) + first_key * call_.K.row_stride, call_.K.row_stride};
    tile.V = {call_.V.head(b, kv_head) + first_key * call_.V.row_stride, call_.V.row_stride};
    tile.first_key = first_key;
    tile.num_keys = rest < kBackwardBlockKV ? rest : kBackwardBlockKV;
    tile.head_dim = call_.head_dim;
    tile.sP = memory_;
    tile.sdS = tile.sP + kBackwardBlockKV * kGroup<Element>;
    tile.dK = tile.sdS + kBackwardBlockKV * kGroup<Element>;
    tile.dV = tile.dK + kBackwardBlockKV * padded;
    for (std::int64_t k = 0; k < 2 * kBackwardBlockKV * padded; ++k) tile.dK[k] = 0;
    return tile;
  }

  void write(const Heads<Element>& to, const Element* gradient, std::int64_t num_keys,
             std::int64_t b, std::int64_t kv_head, std::int64_t first_key, Element scale) const {
    const std::int64_t padded = padded_head_dim<Element>(call_.head_dim);
    for (std::int64_t j = 0; j < num_keys; ++j) {
      Element* const row = to.head(b, kv_head) + (first_key + j) * to.row_stride;
      for (std::int64_t c = 0; c < call_.head_dim; ++c) row[c] = scale * gradient[j * padded + c];
    }
  }

  const BackwardCall<Element>& call_;
  const BackwardQueries<Element>& queries_;
  Element* memory_;
};

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
