// The states that a search has reached, each with its cost so far and the state it came from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flashlab::optimal::detail {

/// A state of a search in one word; what its bits mean is the search space's matter.
using State = std::uint64_t;

/// A hash table with open addressing over nodes that never move.
class NodeTable {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = UINT32_MAX;
  struct Node {
    State state = 0;
    Id parent = kNone;
    std::uint32_t cost = 0;
  };

  NodeTable() : slots_(std::size_t{1} << 10, kNone) {}

  Node& operator[](Id id) { return blocks_[id >> kBlockBits][id & (kBlockSize - 1)]; }
  const Node& operator[](Id id) const { return blocks_[id >> kBlockBits][id & (kBlockSize - 1)]; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const {
    return blocks_.size() * kBlockSize * sizeof(Node) + slots_.size() * sizeof(Id);
  }
  /// What so many new states may take in addition.
  std::size_t bytes_to_grow(std::size_t count) const {
    return (count + kBlockSize) * sizeof(Node) +
           (is_crowded_by(size_ + count) ? slots_.size() * sizeof(Id) : 0);
  }

  /// The states from the first one to a node's.
  std::vector<State> path_to(Id id) const {
    std::vector<State> result;
    for (; id != kNone; id = (*this)[id].parent) result.push_back((*this)[id].state);
    std::reverse(result.begin(), result.end());
    return result;
  }

  /// The state's node, and whether it is new: then with no parent and cost 0.
  std::pair<Id, bool> insert(State state) {
    if (is_crowded_by(size_)) grow();
    std::size_t slot = first_slot(state);
    for (; slots_[slot] != kNone; slot = (slot + 1) & (slots_.size() - 1)) {
      if ((*this)[slots_[slot]].state == state) return {slots_[slot], false};
    }
    if ((size_ & (kBlockSize - 1)) == 0) blocks_.emplace_back(kBlockSize);
    const Id id = static_cast<Id>(size_++);
    slots_[slot] = id;
    (*this)[id].state = state;
    return {id, true};
  }

 private:
  static constexpr std::size_t kBlockBits = 16, kBlockSize = std::size_t{1} << kBlockBits;

  bool is_crowded_by(std::size_t count) const { return count * 3 >= slots_.size() * 2; }
  std::size_t first_slot(State state) const {
    state ^= state >> 31;  // a mix of all bits into the low ones
    state *= 0x9E3779B97F4A7C15U;
    state ^= state >> 29;
    state *= 0xBF58476D1CE4E5B9U;
    return (state ^ state >> 32) & (slots_.size() - 1);
  }
  void grow() {
    const std::size_t count = slots_.size() * 2;
    std::vector<Id>().swap(slots_);  // the nodes remember all: no need for both tables at once
    slots_.assign(count, kNone);
    for (Id id = 0; id < size_; ++id) {
      std::size_t slot = first_slot((*this)[id].state);
      while (slots_[slot] != kNone) slot = (slot + 1) & (count - 1);
      slots_[slot] = id;
    }
  }

  std::vector<std::vector<Node>> blocks_;
  std::vector<Id> slots_;
  std::size_t size_ = 0;
};

}  // namespace flashlab::optimal::detail
