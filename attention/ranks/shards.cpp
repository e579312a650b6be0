#include "attention/ranks/shards.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "attention/detail/arguments.hpp"

namespace flashlab {
namespace {

/// The mask between rows of two shards whose tokens are neighbours: query row i sees key row j if
/// i + offset - left <= j <= i + offset + right.
struct ShiftedMask {
  std::int64_t left = 0, right = 0, offset = 0;

  bool operator==(const ShiftedMask&) const = default;
  bool hides_all(const KeyRange& queries, const KeyRange& keys) const {
    if (queries.count() == 0 || keys.count() == 0 || left + right < 0) return true;
    return queries.end - 1 + offset + right < keys.first ||
           queries.first + offset - left > keys.end - 1;
  }
  bool shows_all(const KeyRange& queries, const KeyRange& keys) const {
    return queries.first + offset + right >= keys.end - 1 &&
           queries.end - 1 + offset - left <= keys.first;
  }
};

KeyRange rows_of(const ShardPiece& piece) {
  return {piece.first_row, piece.first_row + piece.count};
}

/// Pieces of a shard that are neighbours in it.
using Pieces = std::span<const ShardPiece>;

KeyRange rows_of(Pieces pieces) {
  return {rows_of(pieces.front()).first, rows_of(pieces.back()).end};
}

/// Finds calls for pieces of queries and keys.
class CallFinder {
 public:
  explicit CallFinder(const VisibleKeys& whole) : whole_(whole) {}

  /// Adds the calls for all pairs of pieces. `queries` and `keys` have one or two pieces.
  void add(std::vector<ShardCall>& calls, Pieces queries, Pieces keys) const {
    shrink(queries, keys);
    if (queries.empty()) return;
    if (const auto call = one_call(queries, keys)) {
      calls.push_back(*call);
    } else if (queries.size() > 1) {
      for (std::size_t k = 0; k < queries.size(); ++k) add(calls, queries.subspan(k, 1), keys);
    } else {
      for (std::size_t k = 0; k < keys.size(); ++k) add(calls, queries, keys.subspan(k, 1));
    }
  }

 private:
  ShiftedMask mask(const ShardPiece& query, const ShardPiece& key) const {
    return {whole_.left, whole_.right,
            query.first_token - query.first_row + whole_.shift - (key.first_token - key.first_row)};
  }
  bool hides_all(Pieces queries, Pieces keys) const {
    return std::ranges::all_of(queries, [&](const ShardPiece& query) {
      return std::ranges::all_of(keys, [&](const ShardPiece& key) {
        return mask(query, key).hides_all(rows_of(query), rows_of(key));
      });
    });
  }
  /// Leaves out first and last pieces of which nothing is visible.
  void shrink(Pieces& queries, Pieces& keys) const {
    while (!queries.empty() && hides_all(queries.first(1), keys)) queries = queries.subspan(1);
    while (!queries.empty() && hides_all(queries.last(1), keys))
      queries = queries.first(queries.size() - 1);
    while (!keys.empty() && hides_all(queries, keys.first(1))) keys = keys.subspan(1);
    while (!keys.empty() && hides_all(queries, keys.last(1))) keys = keys.first(keys.size() - 1);
  }
  /// Returns whether one mask shows the visible pairs of all pieces, and no others.
  bool agrees(const ShiftedMask& candidate, Pieces queries, Pieces keys) const {
    for (const ShardPiece& query : queries) {
      for (const ShardPiece& key : keys) {
        const ShiftedMask own = mask(query, key);
        const KeyRange query_rows = rows_of(query), key_rows = rows_of(key);
        const bool both_hide = own.hides_all(query_rows, key_rows) &&
                               candidate.hides_all(query_rows, key_rows),
                   both_show = own.shows_all(query_rows, key_rows) &&
                               candidate.shows_all(query_rows, key_rows);
        if (candidate != own && !both_hide && !both_show) return false;
      }
    }
    return true;
  }
  std::optional<ShardCall> one_call(Pieces queries, Pieces keys) const {
    const KeyRange query_rows = rows_of(queries), key_rows = rows_of(keys);
    const ShiftedMask everything = {kUnlimited, kUnlimited, 0};
    if (agrees(everything, queries, keys)) return ShardCall{query_rows, key_rows, true, 0};
    for (const ShardPiece& query : queries) {
      for (const ShardPiece& key : keys) {
        const ShiftedMask candidate = mask(query, key);
        if (!agrees(candidate, queries, keys)) continue;
        return ShardCall{query_rows, key_rows, false,
                         candidate.offset + query_rows.first - key_rows.first};
      }
    }
    return std::nullopt;
  }

  const VisibleKeys& whole_;
};

/// Returns the mask of each batch entry, which is the same for all.
VisibleKeys mask_of(const AttentionProblem& whole) {
  return whole.mask_rule().of(0, whole.seqlen_q, 0, whole.seqlen_k);
}

}  // namespace

std::string_view to_string(Sharding sharding) {
  return sharding == Sharding::kZigzag ? "zigzag" : "contiguous";
}

std::vector<ShardPiece> Shards::pieces(int rank, std::int64_t length) const {
  const int num_chunks = pieces_of_rank() * num_ranks;
  std::vector<ShardPiece> result;
  std::int64_t first_row = 0;
  const auto add_chunk = [&](int chunk) {
    const std::int64_t first = length * chunk / num_chunks, end = length * (chunk + 1) / num_chunks;
    result.push_back({first_row, first, end - first});
    first_row += end - first;
  };
  add_chunk(rank);
  if (sharding == Sharding::kZigzag) add_chunk(num_chunks - 1 - rank);
  return result;
}

std::int64_t Shards::num_rows(int rank, std::int64_t length) const {
  const ShardPiece last = pieces(rank, length).back();
  return last.first_row + last.count;
}

std::int64_t Shards::most_rows(std::int64_t length) const {
  std::int64_t most = 0;
  for (int rank = 0; rank < num_ranks; ++rank) most = std::max(most, num_rows(rank, length));
  return most;
}

std::vector<ShardCall> ShardedProblem::calls(int query_rank, int key_rank) const {
  const std::vector<ShardPiece> queries = shards.pieces(query_rank, whole.seqlen_q),
                                keys = shards.pieces(key_rank, whole.seqlen_k);
  const VisibleKeys mask = mask_of(whole);
  std::vector<ShardCall> result;
  CallFinder(mask).add(result, queries, keys);
  return result;
}

std::vector<ShardCall> ShardedProblem::calls_of_half(int query_rank, int key_rank, int half) const {
  const std::vector<ShardPiece> queries = shards.pieces(query_rank, whole.seqlen_q);
  ShardPiece keys = shards.pieces(key_rank, whole.seqlen_k).front();
  const std::int64_t first = shards.sharding == Sharding::kZigzag ? keys.count : keys.count / 2;
  if (half == 0) {
    keys.count = first;
  } else if (shards.sharding == Sharding::kZigzag) {
    keys = shards.pieces(key_rank, whole.seqlen_k).back();
  } else {
    keys = {keys.first_row + first, keys.first_token + first, keys.count - first};
  }
  const VisibleKeys mask = mask_of(whole);
  std::vector<ShardCall> result;
  CallFinder(mask).add(result, queries, Pieces(&keys, 1));
  return result;
}

AttentionProblem ShardedProblem::problem_of(const ShardCall& call, int key_rank) const {
  AttentionProblem result = whole;
  result.seqlen_q = call.queries.count();
  result.seqlen_k = call.keys.count();
  result.query_offset = call.query_offset;
  if (call.sees_all) {
    result.mask = Mask::kNone;
    result.window_left = result.window_right = std::nullopt;
  } else if (whole.mask == Mask::kCausalBottomRight) {
    result.mask = Mask::kCausalTopLeft;  // query_offset has moved it
  }
  for (std::int64_t& length : result.key_lengths) {
    std::int64_t rows = 0;  // of the shard that are before the length: its first ones
    for (const ShardPiece& piece : shards.pieces(key_rank, whole.seqlen_k)) {
      rows += std::clamp(length - piece.first_token, std::int64_t{0}, piece.count);
    }
    length = std::clamp(rows - call.keys.first, std::int64_t{0}, call.keys.count());
  }
  return result;
}

AttentionProblem whole_problem(const AttentionProblem& sizes, const AttentionOptions& options) {
  const auto check = [](const char* name, std::int64_t size, std::int64_t least) {
    if (size >= least) return;
    throw ProblemError(name, std::to_string(size), std::to_string(least) + " or more");
  };
  check("batch", sizes.batch, 0);
  check("seqlen_q", sizes.seqlen_q, 0);
  check("seqlen_k", sizes.seqlen_k, 0);
  check("num_heads", sizes.num_heads, 1);
  check("num_kv_heads", sizes.num_kv_heads, 1);
  check("head_dim", sizes.head_dim, 1);
  if (sizes.num_heads % sizes.num_kv_heads != 0) {
    throw ProblemError("num_heads", std::to_string(sizes.num_heads),
                       "a multiple of num_kv_heads, " + std::to_string(sizes.num_kv_heads));
  }
  AttentionProblem result = sizes;
  detail::check_options(result, options);
  return result;
}

void check_sharded(const ShardedProblem& problem) {
  if (problem.shards.num_ranks < 1) {
    throw ProblemError("num_ranks", std::to_string(problem.shards.num_ranks), "at least 1");
  }
  if (problem.whole.is_packed()) {
    throw ProblemError("cu_seqlens_q", "given", "no packed sequences over several ranks");
  }
  if (!problem.whole.key_lengths.empty() && problem.whole.mask == Mask::kCausalBottomRight) {
    throw ProblemError("key_lengths", "given",
                       "none with causal-bottom-right over several ranks: each length would have a "
                       "mask of its own");
  }
}

}  // namespace flashlab
