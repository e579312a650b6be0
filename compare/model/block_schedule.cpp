#include "compare/model/block_schedule.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace flashlab::compare {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-7;  // pairs that are left by rounding only

struct ResidentBlock {
  double starts_until, pairs_left, ends_at;  // ends_at: kNever before its last pair
  bool computes(double now) const { return starts_until <= now && pairs_left > 0; }
};

class Multiprocessor {
 public:
  /// Moves on to `clock`, and removes blocks that have ended.
  void advance(double clock, std::span<const double> clocks_per_pair, double end) {
    const double done = pairs_until(clock, clocks_per_pair);
    for (ResidentBlock& block : blocks_) {
      if (!block.computes(now_)) continue;
      block.pairs_left -= done;
      if (block.pairs_left > kRounding) continue;
      block.pairs_left = 0;
      block.ends_at = clock + end;
    }
    now_ = clock;
    std::erase_if(blocks_, [&](const ResidentBlock& block) { return block.ends_at <= now_; });
  }

  void add(double pairs, double start, double end) {
    blocks_.push_back({now_ + start, pairs, pairs > 0 ? kNever : now_ + start + end});
  }

  std::size_t num_blocks() const { return blocks_.size(); }

  /// When the next block starts or stops computing, or ends.
  double next_clock(std::span<const double> clocks_per_pair) const {
    double next = kNever;
    const double each = clocks_of_each(clocks_per_pair);
    for (const ResidentBlock& block : blocks_) {
      if (block.starts_until > now_) {
        next = std::min(next, block.starts_until);
      } else {
        next =
            std::min(next, block.pairs_left > 0 ? now_ + block.pairs_left * each : block.ends_at);
      }
    }
    return next;
  }

 private:
  /// Clocks of a block per pair, as all that compute get on alike.
  double clocks_of_each(std::span<const double> clocks_per_pair) const {
    const auto computing = static_cast<std::size_t>(
        std::count_if(blocks_.begin(), blocks_.end(),
                      [&](const ResidentBlock& block) { return block.computes(now_); }));
    return computing == 0 ? 0 : static_cast<double>(computing) * clocks_per_pair[computing - 1];
  }
  double pairs_until(double clock, std::span<const double> clocks_per_pair) const {
    const double each = clocks_of_each(clocks_per_pair);
    return each > 0 ? (clock - now_) / each : 0;
  }

  double now_ = 0;
  std::vector<ResidentBlock> blocks_;
};

std::int64_t num_tiles(std::int64_t rows, std::int64_t length) {
  return (rows + length - 1) / length;
}

/// The first tile that block k of a head visits under a causal mask, and the one after the last.
std::pair<std::int64_t, std::int64_t> causal_tiles(const HeadBlocks& blocks, std::int64_t k) {
  const std::int64_t all = num_tiles(blocks.others, blocks.other_length);
  if (blocks.has_keys) return {std::min(all, k * blocks.length / blocks.other_length), all};
  return {0, std::min(all, num_tiles((k + 1) * blocks.length, blocks.other_length))};
}

}  // namespace

double finish_clock(const BlockQueue& queue, std::span<const double> clocks_per_pair,
                    std::int64_t num_sms) {
  using Event = std::pair<double, std::size_t>;  // clock, multiprocessor
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<Multiprocessor> sms(static_cast<std::size_t>(num_sms));
  std::size_t next = 0;
  double finished = 0;
  // The first blocks: one for each multiprocessor, then a second one for each.
  for (std::size_t round = 0; round < clocks_per_pair.size(); ++round) {
    for (Multiprocessor& sm : sms) {
      if (next < queue.pairs.size()) sm.add(queue.pairs[next++], queue.start, queue.end);
    }
  }
  for (std::size_t k = 0; k < sms.size(); ++k) {
    if (sms[k].num_blocks() > 0) events.emplace(sms[k].next_clock(clocks_per_pair), k);
  }
  const double later_start = queue.loads_ahead ? 0 : queue.start;
  std::vector<std::size_t> at_once;  // multiprocessors where something happens at the same clock
  while (!events.empty()) {
    const double clock = events.top().first;
    at_once.clear();
    while (!events.empty() && events.top().first <= clock * (1 + kRounding)) {
      at_once.push_back(events.top().second);
      events.pop();
      sms[at_once.back()].advance(clock, clocks_per_pair, queue.end);
    }
    finished = std::max(finished, clock);
    // As at the start: one block for each that has room, then a second one for each.
    const auto has_room = [&](std::size_t k) {
      return next < queue.pairs.size() && sms[k].num_blocks() < clocks_per_pair.size();
    };
    while (std::ranges::any_of(at_once, has_room)) {
      for (const std::size_t k : at_once) {
        if (has_room(k)) sms[k].add(queue.pairs[next++], later_start, queue.end);
      }
    }
    for (const std::size_t k : at_once) {
      if (sms[k].num_blocks() > 0) events.emplace(sms[k].next_clock(clocks_per_pair), k);
    }
  }
  return finished;
}

std::vector<double> causal_pairs(const HeadBlocks& blocks, std::int64_t num_heads,
                                 cuda::BlockOrder order) {
  std::vector<double> of_head;  // the longest first
  for (std::int64_t k = num_tiles(blocks.rows, blocks.length) - 1; k >= 0; --k) {
    const auto [begin, end] = causal_tiles(blocks, k);
    of_head.push_back(static_cast<double>(end - begin));
  }
  std::sort(of_head.begin(), of_head.end(), std::greater<>());
  if (order == cuda::BlockOrder::kPairs) {
    std::vector<double> units;
    for (std::size_t k = 0; k < (of_head.size() + 1) / 2; ++k) {
      const std::size_t other = of_head.size() - 1 - k;
      units.push_back(of_head[k] + (other > k ? of_head[other] : 0));
    }
    of_head = units;
  }
  std::vector<double> all;
  all.reserve(of_head.size() * static_cast<std::size_t>(num_heads));
  if (order == cuda::BlockOrder::kHeadByHead) {
    for (std::int64_t head = 0; head < num_heads; ++head) {
      all.insert(all.end(), of_head.begin(), of_head.end());
    }
  } else {
    for (const double pairs : of_head) {
      all.insert(all.end(), static_cast<std::size_t>(num_heads), pairs);
    }
  }
  return all;
}

double computed_per_score(const HeadBlocks& blocks, bool is_causal) {
  if (blocks.length < 1 || blocks.other_length < 1) return 1;  // a step without tiles
  if (blocks.length == 1 && blocks.other_length == 1) return 1;
  double computed = 0, needed = 0;
  const auto add = [&](std::int64_t rows, std::int64_t num_blocks, std::int64_t begin,
                       std::int64_t end) {
    const std::int64_t first = std::min(begin * blocks.other_length, blocks.others),
                       last = std::min(end * blocks.other_length, blocks.others);
    computed += static_cast<double>(num_blocks * blocks.length) *
                static_cast<double>((end - begin) * blocks.other_length);
    needed += static_cast<double>(rows) * static_cast<double>(last - first);
  };
  const std::int64_t num_blocks = num_tiles(blocks.rows, blocks.length);
  if (!is_causal) add(blocks.rows, num_blocks, 0, num_tiles(blocks.others, blocks.other_length));
  for (std::int64_t k = 0; is_causal && k < num_blocks; ++k) {
    const auto [begin, end] = causal_tiles(blocks, k);
    add(std::min<std::int64_t>(blocks.length, blocks.rows - k * blocks.length), 1, begin, end);
  }
  return needed > 0 ? computed / needed : 1;
}

}  // namespace flashlab::compare
