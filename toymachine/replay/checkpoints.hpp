// States of a run at several steps, with limited memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "toymachine/replay/paged_memory.hpp"

namespace flashlab::toy::detail {

template <class Saved, class Cell>
struct Checkpoint {
  Saved saved;
  typename PagedMemory<Cell>::Contents cells;

  /// Without the pages, which checkpoints share.
  std::int64_t own_bytes() const {
    return saved.bytes() + static_cast<std::int64_t>(cells.size() * sizeof(cells[0]));
  }
};

/// Checkpoints by step. If they become too many or too large, every second one is dropped.
template <class Saved, class Cell>
class Checkpoints {
 public:
  using Entry = Checkpoint<Saved, Cell>;

  explicit Checkpoints(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Adds a checkpoint of a step after those of all others, whose pages take `new_bytes` more.
  /// Returns true if some were dropped.
  bool add(Entry entry, std::int64_t new_bytes) {
    bytes_ += new_bytes + entry.own_bytes();
    entries_.push_back(std::move(entry));
    bool dropped = false;
    while (entries_.size() > 2 && (entries_.size() > kMost || bytes_ > most_bytes_)) {
      std::size_t kept = 1;
      for (std::size_t i = 2; i < entries_.size(); i += 2) {
        entries_[kept++] = std::move(entries_[i]);
      }
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(kept), entries_.end());
      measure();
      dropped = true;
    }
    return dropped;
  }

  const Entry& last() const { return entries_.back(); }
  /// Returns the last one with at most that many steps.
  const Entry& at_or_before(std::uint64_t steps) const {
    const auto found = std::upper_bound(
        entries_.begin(), entries_.end(), steps,
        [](std::uint64_t wanted, const Entry& entry) { return wanted < entry.saved.steps; });
    return *std::prev(found);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kMost = 2048;

  void measure() {
    std::unordered_set<const void*> counted;
    bytes_ = 0;
    for (const Entry& entry : entries_) {
      bytes_ += entry.own_bytes();
      for (const auto& page : entry.cells) {
        if (page && counted.insert(page.get()).second) {
          bytes_ += static_cast<std::int64_t>(page->size() * sizeof(Cell));
        }
      }
    }
  }

  std::int64_t most_bytes_;
  std::vector<Entry> entries_;
  std::int64_t bytes_ = 0;
};

}  // namespace flashlab::toy::detail
