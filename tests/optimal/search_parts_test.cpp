// The parts of a search: packing at full and at empty points, shared tasks, checksums, node tables.
#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "optimal/search/checkpoint.hpp"
#include "optimal/search/interval_packing.hpp"
#include "optimal/search/node_table.hpp"
#include "optimal/search/workers.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::optimal::detail {
namespace {

using Kept = std::vector<char>;

constexpr std::int64_t kEnoughWork = 1'000'000;

}  // namespace

TEST_CASE("as many intervals are kept at a point as it has room, the shortest first", "[search]") {
  struct Case {
    std::vector<Interval> intervals;
    std::vector<std::int32_t> room;
    Kept kept;
  };
  const Case cases[] = {
      {{}, {1, 1}, {}},
      {{{0, 1}}, {1}, {1}},
      {{{0, 1}}, {0}, {0}},
      {{{0, 2}, {0, 1}}, {1, 1}, {0, 1}},  // the one that ends last is dropped
      {{{0, 2}, {0, 1}}, {2, 1}, {1, 1}},
      {{{0, 1}, {1, 2}}, {1, 1}, {1, 1}},  // one ends where the other starts
      {{{0, 2}, {1, 3}}, {1, 1, 1}, {1, 0}},
      {{{0, 3}, {1, 2}}, {1, 1, 1}, {0, 1}},
      {{{0, 3}}, {1, 0, 1}, {0}},  // a full point in the middle
      {{{0, 1}, {2, 3}}, {1, 0, 1}, {1, 1}},
      {{{0, 2, true}, {0, 2, false}}, {1, 1}, {1, 0}},  // of equals the preferred one stays
      {{{0, 2, false}, {0, 2, true}}, {1, 1}, {0, 1}},
      {{{0, 3, true}, {0, 2, false}}, {1, 1, 1}, {0, 1}}};
  for (const Case& one : cases) CHECK(pack_intervals(one.intervals, one.room) == one.kept);
}

TEST_CASE("preferred intervals are kept where that costs none", "[search]") {
  struct Case {
    std::vector<Interval> intervals;
    std::vector<std::int32_t> room;
    Kept kept;
  };
  const Case cases[] = {
      {{{0, 2, true}, {0, 1, false}}, {1, 1}, {1, 0}},
      {{{0, 1, false}, {0, 2, true}, {1, 2, false}}, {1, 1}, {1, 0, 1}},  // two are worth more
      {{{0, 1, true}, {1, 2, false}}, {1, 1}, {1, 1}},
      {{{0, 3, true}, {1, 2, false}}, {1, 1, 1}, {1, 0}}};
  for (const Case& one : cases) {
    const Kept largest = pack_intervals(one.intervals, one.room);
    CHECK(pack_intervals_near_preferred(one.intervals, one.room, largest, kEnoughWork) == one.kept);
  }
}

TEST_CASE("every task runs once, whatever the number of threads", "[search]") {
  for (const unsigned jobs : {1U, 2U, 3U}) {
    Workers workers(jobs);
    for (const std::size_t count : {0U, 1U, 7U}) {
      std::array<std::atomic<int>, 7> runs{};
      std::atomic<bool> strange = false;
      workers.run(count, [&](std::size_t number, unsigned worker) {
        ++runs[number];
        if (worker >= jobs) strange = true;
      });
      CHECK_FALSE(strange);
      for (std::size_t i = 0; i < runs.size(); ++i) CHECK(runs[i] == (i < count ? 1 : 0));
    }
  }
}

TEST_CASE("a task's exception reaches the caller, and the next round starts afresh", "[search]") {
  for (const unsigned jobs : {1U, 2U}) {
    Workers workers(jobs);
    std::atomic<int> later = 0;
    CHECK_THROWS_AS(workers.run(3, [](std::size_t, unsigned) { throw std::runtime_error("x"); }),
                    std::runtime_error);
    CHECK_NOTHROW(workers.run(3, [&](std::size_t, unsigned) { ++later; }));
    CHECK(later == 3);
  }
}

TEST_CASE("a checksum depends on every byte and its place, not on the pieces", "[search]") {
  const auto sum = [](const std::string& text, std::size_t piece) {
    Checksum checksum;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      checksum.add(text.data() + at, std::min(piece, text.size() - at));
    }
    return checksum.value();
  };
  const std::string text = "0123456789abcdefghijk";
  for (const std::size_t piece : {1U, 3U, 7U, 8U, 9U, 16U, 20U}) {
    CHECK(sum(text, piece) == sum(text, text.size()));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] ^= 1;
    CHECK(sum(other, 8) != sum(text, 8));
  }
  CHECK(sum(text + std::string(1, '\0'), 8) != sum(text, 8));
  CHECK(sum(text.substr(1), 8) != sum(text, 8));
}

TEST_CASE("a fingerprint tells texts from their parts and values from their order", "[search]") {
  const auto of = [](const auto&... parts) {
    Fingerprint fingerprint;
    (fingerprint.add(parts), ...);
    return fingerprint.value();
  };
  const std::string ab = "ab", a = "a", b = "b", none;
  CHECK(of(ab) == of(ab));
  CHECK(of(ab) != of(a, b));
  CHECK(of(ab) != of(ab, none));
  CHECK(of(std::int64_t{1}, std::int64_t{2}) != of(std::int64_t{2}, std::int64_t{1}));
  CHECK(of(std::int64_t{0}) != of());
}

TEST_CASE("a node is found again, also after its table has grown", "[search]") {
  ShardedNodes<State> nodes;
  constexpr State kMany = 100'000;  // more than one block in each shard
  CHECK(nodes.size() == 0);
  CHECK(nodes.has_numbers_for(1));
  std::vector<NodeId> ids;
  for (State state = 0; state < kMany; ++state) {
    const auto [id, is_new] = nodes.insert(state);
    REQUIRE(is_new);
    REQUIRE(nodes[id].parent == kNoNode);
    nodes[id].parent = ids.empty() ? kNoNode : ids.back();
    ids.push_back(id);
  }
  CHECK(nodes.size() == kMany);
  bool all_found = true;
  for (State state = 0; state < kMany; ++state) {
    const auto [id, is_new] = nodes.insert(state);
    all_found = all_found && !is_new && id == ids[state] && nodes[id].state == state;
  }
  CHECK(all_found);
  CHECK(nodes.size() == kMany);
  CHECK(nodes.path_to(ids[3]) == std::vector<State>{0, 1, 2, 3});
  CHECK(nodes.path_to(ids[0]) == std::vector<State>{0});
  CHECK(nodes.path_to(kNoNode).empty());
  CHECK(nodes.bytes() >= kMany * sizeof(NodeTable<State>::Node));
  CHECK_FALSE(nodes.has_numbers_for(NodeTable<State>::kMostNodes));
}

TEST_CASE("a table never needs more bytes than it says before", "[search]") {
  NodeTable<State> table;
  State next = 0;
  for (const std::size_t count : {1U, 100U, 69U, 1U, 1U, 5000U, 4000U, 100U}) {
    const std::size_t before = table.bytes(), more = table.bytes_to_grow(count);
    for (std::size_t i = 0; i < count; ++i, ++next) table.insert(next, hash_of(next));
    CHECK(table.bytes() <= before + more);
    CHECK(table.size() == next);
  }
}

}  // namespace flashlab::optimal::detail
