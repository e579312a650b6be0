#include "optimal/products/placed_loads.hpp"

#include <algorithm>
#include <cstddef>

#include "optimal/search/index.hpp"
#include "optimal/search/interval_packing.hpp"

namespace flashlab::optimal::detail {
namespace {

/// Limit for the search for the schedule nearest to the program's: about ten milliseconds.
constexpr std::int64_t kMostWork = 200'000;

/// The points of the line: before and after each event.
std::int32_t before(std::int32_t event) { return 2 * event; }
std::int32_t after(std::int32_t event) { return 2 * event + 1; }

class Placement {
 public:
  Placement(const OperationOrder& order, std::optional<std::int64_t> registers,
            toy::OperandRule rule)
      : order_(order), registers_(registers), pinned_(rule == toy::OperandRule::kPinned) {}

  PlacedLoads run() {
    placed_.load_before.assign(order_.gaps.size(), kNone);
    placed_.in_factor_seat.assign(order_.events.size(), 0);
    change_.assign(2 * order_.events.size() + 1, 0);
    take_operands();
    if (pinned_) pair_factors();
    for (std::size_t g = 0; g < order_.gaps.size(); ++g) add_gap(g);
    if (pinned_) add_flexible_sums();
    if (registers_ && !make_room()) return std::move(placed_);
    settle(registers_ ? packed() : std::vector<char>(intervals_.size(), 1));
    for (const std::int32_t event : placed_.load_before) {
      if (event != kNone) ++placed_.loads;
    }
    return std::move(placed_);
  }

 private:
  /// The gap of an interval, or the event whose result the interval keeps out of R0 and R1.
  struct Meaning {
    std::int32_t gap = kNone, sum = kNone;
  };
  /// A product and the next one: the gaps of the factors that both have in the same place.
  struct Segment {
    std::int32_t first_gap = kNone, second_gap = kNone;  // into order_.gaps
    bool both() const { return first_gap != kNone && second_gap != kNone; }
  };

  void take(std::int32_t start, std::int32_t end) {
    if (start >= end) return;
    ++change_[at(start)];
    --change_[at(end)];
  }

  /// Reserves registers for distinct operands before their event. The line does not include the
  /// factor registers of pinned operands.
  void take_operands() {
    for (std::size_t g = 0; g < order_.gaps.size(); ++g) {
      const Gap& gap = order_.gaps[g];
      if (gap.seat == Seat::kAny && !is_flexible_use(gap)) take(before(gap.to), after(gap.to));
    }
  }

  /// Whether a sum is only stored before the next product. The place of such a sum is decided
  /// as a whole.
  bool is_flexible(std::int32_t event) const { return pinned_ && last_store_[at(event)] != kNone; }
  bool is_flexible_use(const Gap& gap) {
    if (!pinned_) return false;
    if (last_store_.empty()) find_flexible_sums();
    const std::int32_t maker = maker_[at(gap.value)];
    return maker != kNone && is_flexible(maker);
  }

  void find_flexible_sums() {
    maker_.assign(at(order_.num_values), kNone);
    last_store_.assign(order_.events.size(), kNone);
    for (std::size_t e = 0; e < order_.events.size(); ++e) {
      const std::int32_t result = order_.events[e].result;
      if (result != kNone) maker_[at(result)] = static_cast<std::int32_t>(e);
    }
    std::vector<char> waits(order_.events.size(), 0);  // until after the next product
    for (const Gap& gap : order_.gaps) {
      const std::int32_t maker = maker_[at(gap.value)];
      if (maker == kNone) continue;
      const OrderEvent &made = order_.events[at(maker)], &used = order_.events[at(gap.to)];
      const bool soon = !used.has_factors && used.products_before == made.products_before + 1;
      if (!soon) waits[at(maker)] = 1;
      last_store_[at(maker)] = gap.to;
    }
    for (std::size_t e = 0; e < waits.size(); ++e) {
      if (waits[e] != 0) last_store_[e] = kNone;
    }
  }

  /// A factor can stay from one product to the next if both have it in the same place. After that,
  /// another factor takes its register.
  void pair_factors() {
    segments_.assign(order_.events.size(), {});
    for (std::size_t g = 0; g < order_.gaps.size(); ++g) {
      const Gap& gap = order_.gaps[g];
      if (gap.seat == Seat::kAny) continue;
      const bool stays = gap.from != kNone && order_.events[at(gap.to)].products_before ==
                                                  order_.events[at(gap.from)].products_before + 1;
      if (!stays) {
        placed_.load_before[g] = gap.to;
        continue;
      }
      Segment& segment = segments_[at(gap.from)];
      (gap.seat == Seat::kFirst ? segment.first_gap : segment.second_gap) =
          static_cast<std::int32_t>(g);
    }
  }

  void add_gap(std::size_t g) {
    const Gap& gap = order_.gaps[g];
    if (gap.seat != Seat::kAny || is_flexible_use(gap)) return;
    const bool never_there = gap.from == kNone;
    const bool is_loadable = gap.until == kLasting || gap.until > gap.from;
    if (!never_there && !is_loadable) return take(after(gap.from), before(gap.to));
    const std::int32_t latest = std::min(gap.until, gap.to);
    take(before(latest), before(gap.to));  // from there on DRAM does not hold it
    placed_.load_before[g] = latest;
    if (never_there) return;
    add_interval(after(gap.from), before(latest), gap.kept, {static_cast<std::int32_t>(g), kNone});
  }

  void add_interval(std::int32_t start, std::int32_t end, bool preferred, Meaning meaning) {
    intervals_.push_back({start, end, preferred});
    meanings_.push_back(meaning);
  }

  /// If two consecutive products share both factors, a sum between them is elsewhere, or one of
  /// the factors goes.
  void add_flexible_sums() {
    if (last_store_.empty()) find_flexible_sums();
    for (std::size_t e = 0; e < order_.events.size(); ++e) {
      const auto event = static_cast<std::int32_t>(e);
      if (!is_flexible(event)) continue;
      placed_.in_factor_seat[e] = 1;
      const Segment& segment = segments_[e];
      if (!segment.both()) continue;
      const bool kept =
          order_.gaps[at(segment.first_gap)].kept && order_.gaps[at(segment.second_gap)].kept;
      add_interval(after(event), after(last_store_[e]), kept, {kNone, event});
    }
  }

  bool make_room() {
    const std::int64_t all = pinned_ ? *registers_ - 2 : *registers_;
    room_.assign(change_.size() - 1, 0);
    std::int64_t taken = 0;
    for (std::size_t p = 0; p < room_.size(); ++p) {
      taken += change_[p];
      if (taken > all) {
        placed_.unknown = "the order needs more than " + std::to_string(*registers_) + " registers";
        return false;
      }
      room_[p] = static_cast<std::int32_t>(std::min<std::int64_t>(all - taken, INT32_MAX));
    }
    return true;
  }

  /// Prefers the program's own choice if none is better.
  std::vector<char> packed() const {
    std::vector<char> kept = pack_intervals(intervals_, room_);
    std::ptrdiff_t own = 0;
    for (const Interval& one : intervals_) own += one.preferred ? 1 : 0;
    const auto most = std::count(kept.begin(), kept.end(), char{1});
    if (own == most) {
      for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = intervals_[i].preferred ? 1 : 0;
      return kept;
    }
    const auto nearest = pack_intervals_near_preferred(intervals_, room_, kept, kMostWork);
    return nearest.empty() ? kept : nearest;
  }

  void settle(const std::vector<char>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto [gap, sum] = meanings_[i];
      if (gap != kNone) {
        if (kept[i] != 0) placed_.load_before[at(gap)] = kNone;
      } else if (kept[i] != 0) {
        placed_.in_factor_seat[at(sum)] = 0;
      } else {
        give_way(segments_[at(sum)]);
      }
    }
  }

  /// One of two factors that could have stayed is loaded again, preferably the one that
  /// the program loads.
  void give_way(const Segment& segment) {
    const bool keeps_first = order_.gaps[at(segment.first_gap)].kept;
    const std::int32_t gap = keeps_first ? segment.second_gap : segment.first_gap;
    placed_.load_before[at(gap)] = order_.gaps[at(gap)].to;
  }

  const OperationOrder& order_;
  const std::optional<std::int64_t> registers_;
  const bool pinned_;
  PlacedLoads placed_;
  std::vector<std::int32_t> change_;  // in the places taken, by point
  std::vector<std::int32_t> room_;    // by point
  std::vector<Interval> intervals_;
  std::vector<Meaning> meanings_;
  std::vector<Segment> segments_;         // by product's event: the segment after it
  std::vector<std::int32_t> maker_;       // by value: the event that makes it
  std::vector<std::int32_t> last_store_;  // by event: of its result, if that sum is flexible
};

}  // namespace

PlacedLoads place_loads(const OperationOrder& order, std::optional<std::int64_t> registers,
                        toy::OperandRule rule) {
  return Placement(order, registers, rule).run();
}

}  // namespace flashlab::optimal::detail
