// The states that a search has reached, each with its cost so far and its predecessor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flashlab::optimal::detail {

/// A state of a search in one word. The search space defines what the bits mean.
using State = std::uint64_t;
/// A state of a search that needs more than one word.
template <std::size_t kWords>
using WideState = std::array<std::uint64_t, kWords>;

inline std::uint64_t mixed_bits(std::uint64_t bits) {
  bits ^= bits >> 31;
  bits *= 0x9E3779B97F4A7C15U;
  bits ^= bits >> 29;
  bits *= 0xBF58476D1CE4E5B9U;
  return bits ^ bits >> 32;
}
inline std::uint64_t hash_of(State state) { return mixed_bits(state); }
template <std::size_t kWords>
std::uint64_t hash_of(const WideState<kWords>& state) {
  std::uint64_t result = 0;
  for (const std::uint64_t word : state) result = mixed_bits(result ^ word);
  return result;
}

/// The number of a node, with its shard in the lowest bits.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;
inline constexpr unsigned kShardBits = 4, kShards = 1U << kShardBits;

/// The most that one move may cost. A path has fewer than 2^12 moves, so its cost fits a node's 30
/// bits.
inline constexpr std::int64_t kMaxMoveCost = 1 << 18;

/// A hash table with open addressing, whose nodes never move. The highest bits of a state's hash
/// select the shard, and the lowest bits the slot in the shard's table.
template <class State>
class NodeTable {
 public:
  struct Node {
    State state{};
    NodeId parent = kNoNode;
    std::uint32_t cost : 30 = 0, is_expanded : 1 = 0;
    std::uint32_t is_refined : 1 = 0;  // the second bound of this state has been computed
  };
  static constexpr std::uint32_t kMostNodes = UINT32_MAX >> kShardBits;

  NodeTable() : slots_(std::size_t{1} << 8, kNoNode) {}

  static unsigned shard_of(std::uint64_t hash) {
    return static_cast<unsigned>(hash >> (64 - kShardBits));
  }

  Node& operator[](std::uint32_t index) {
    return blocks_[index >> kBlockBits][index & (kBlockSize - 1)];
  }
  const Node& operator[](std::uint32_t index) const {
    return blocks_[index >> kBlockBits][index & (kBlockSize - 1)];
  }
  std::uint32_t size() const { return size_; }
  std::size_t bytes() const {
    return blocks_.size() * kBlockSize * sizeof(Node) + slots_.size() * sizeof(std::uint32_t);
  }
  /// An upper bound on the additional bytes for this many new states.
  std::size_t bytes_to_grow(std::size_t count) const {
    std::size_t slots = slots_.size();
    while (is_crowded(size_ + count, slots)) slots *= 2;
    return (count + kBlockSize) * sizeof(Node) + (slots - slots_.size()) * sizeof(std::uint32_t);
  }

  template <class Writer>
  void save(Writer& file) const {
    file.value(size_);
    for (std::uint32_t index = 0; index < size_; ++index) {
      const Node& node = (*this)[index];
      const std::uint32_t cost = node.cost, is_expanded = node.is_expanded;
      const std::uint32_t is_refined = node.is_refined;
      file.value(node.state);
      file.value(node.parent);
      file.value(is_refined << 31 | is_expanded << 30 | cost);
    }
  }
  /// Fills an empty table with what save() wrote.
  template <class Reader>
  void restore(Reader& file) {
    for (auto count = file.template value<std::uint32_t>(); count > 0; --count) {
      const State state = file.template value<State>();
      Node& node = (*this)[insert(state, hash_of(state)).first];
      node.parent = file.template value<NodeId>();
      const auto word = file.template value<std::uint32_t>();
      node.cost = word & 0x3FFFFFFFU;
      node.is_expanded = (word >> 30 & 1U) != 0;
      node.is_refined = (word >> 31) != 0;
    }
  }

  /// Prefetches the slot at which the state's node is looked up.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[first_slot(hash)]); }

  /// Returns the state's node, and whether it is new. A new node has no parent and cost 0.
  std::pair<std::uint32_t, bool> insert(const State& state, std::uint64_t hash) {
    if (is_crowded(size_, slots_.size())) grow();
    std::size_t slot = first_slot(hash);
    for (; slots_[slot] != kNoNode; slot = (slot + 1) & (slots_.size() - 1)) {
      if ((*this)[slots_[slot]].state == state) return {slots_[slot], false};
    }
    if ((size_ & (kBlockSize - 1)) == 0) blocks_.emplace_back(kBlockSize);
    const std::uint32_t index = size_++;
    slots_[slot] = index;
    (*this)[index].state = state;
    return {index, true};
  }

 private:
  static constexpr std::size_t kBlockBits = 12, kBlockSize = std::size_t{1} << kBlockBits;

  static bool is_crowded(std::size_t count, std::size_t slots) { return count * 3 >= slots * 2; }
  std::size_t first_slot(std::uint64_t hash) const { return hash & (slots_.size() - 1); }
  void grow() {
    const std::size_t count = slots_.size() * 2;
    std::vector<std::uint32_t>().swap(slots_);  // frees first: the nodes hold all states
    slots_.assign(count, kNoNode);
    for (std::uint32_t index = 0; index < size_; ++index) {
      std::size_t slot = first_slot(hash_of((*this)[index].state));
      while (slots_[slot] != kNoNode) slot = (slot + 1) & (count - 1);
      slots_[slot] = index;
    }
  }

  std::vector<std::vector<Node>> blocks_;
  std::vector<std::uint32_t> slots_;
  std::uint32_t size_ = 0;
};

/// The node tables of a search. Only one thread at a time uses a shard's table.
template <class State>
class ShardedNodes {
 public:
  using Table = NodeTable<State>;

  static NodeId id_of(unsigned shard, std::uint32_t index) { return index << kShardBits | shard; }
  Table& shard(unsigned number) { return tables_[number]; }
  const Table& shard(unsigned number) const { return tables_[number]; }
  typename Table::Node& operator[](NodeId id) {
    return tables_[id & (kShards - 1)][id >> kShardBits];
  }
  const typename Table::Node& operator[](NodeId id) const {
    return tables_[id & (kShards - 1)][id >> kShardBits];
  }
  std::pair<NodeId, bool> insert(const State& state) {
    const std::uint64_t hash = hash_of(state);
    const unsigned number = Table::shard_of(hash);
    const auto [index, is_new] = tables_[number].insert(state, hash);
    return {id_of(number, index), is_new};
  }
  std::uint64_t size() const {
    std::uint64_t result = 0;
    for (const Table& table : tables_) result += table.size();
    return result;
  }
  std::size_t bytes() const {
    std::size_t result = 0;
    for (const Table& table : tables_) result += table.bytes();
    return result;
  }
  /// An estimate of the additional bytes for this many new states, spread evenly over the shards.
  std::size_t bytes_to_grow(std::size_t count) const {
    std::size_t result = 0;
    for (const Table& table : tables_) result += table.bytes_to_grow(count / kShards + 1);
    return result;
  }
  /// Whether there are node numbers left for this many new states.
  bool has_numbers_for(std::size_t count) const {
    for (const Table& table : tables_) {
      if (table.size() + count > Table::kMostNodes) return false;
    }
    return true;
  }

  /// The states on the path from a start to the node.
  std::vector<State> path_to(NodeId id) const {
    std::vector<State> result;
    for (; id != kNoNode; id = (*this)[id].parent) result.push_back((*this)[id].state);
    return {result.rbegin(), result.rend()};
  }

 private:
  std::array<Table, kShards> tables_;
};

}  // namespace flashlab::optimal::detail
