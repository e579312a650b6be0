// Which intervals are kept, against all subsets.
#include "optimal/search/interval_packing.hpp"

#include <algorithm>
#include <random>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

namespace {

using namespace flashlab::optimal::detail;  // NOLINT: a test of that namespace

struct Puzzle {
  std::vector<Interval> intervals;
  std::vector<std::int32_t> room;
};

bool fits(const Puzzle& puzzle, const std::vector<char>& kept) {
  for (std::size_t p = 0; p < puzzle.room.size(); ++p) {
    std::int32_t taken = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Interval& one = puzzle.intervals[i];
      const auto point = static_cast<std::int32_t>(p);
      if (kept[i] != 0 && one.start <= point && point < one.end) ++taken;
    }
    if (taken > puzzle.room[p]) return false;
  }
  return true;
}

/// How many are kept, and how many of them are preferred.
std::pair<int, int> worth(const Puzzle& puzzle, const std::vector<char>& kept) {
  std::pair<int, int> all{0, 0};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    ++all.first;
    if (puzzle.intervals[i].preferred) ++all.second;
  }
  return all;
}

std::pair<int, int> best_of_all_subsets(const Puzzle& puzzle) {
  std::pair<int, int> best{0, 0};
  for (unsigned subset = 0; subset < (1U << puzzle.intervals.size()); ++subset) {
    std::vector<char> kept(puzzle.intervals.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = (subset >> i & 1U) != 0 ? 1 : 0;
    if (worth(puzzle, kept) > best && fits(puzzle, kept)) best = worth(puzzle, kept);
  }
  return best;
}

Puzzle random_puzzle(std::mt19937_64& generator, int most_intervals, int points) {
  const auto below = [&](int end) {
    return static_cast<std::int32_t>(generator() % static_cast<std::uint64_t>(end));
  };
  Puzzle puzzle;
  for (int p = 0; p < points; ++p) puzzle.room.push_back(below(4));
  const int number = below(most_intervals + 1);
  for (int i = 0; i < number; ++i) {
    const std::int32_t start = below(points);
    puzzle.intervals.push_back({start, start + 1 + below(points - start), false});
  }
  std::vector<char> kept(puzzle.intervals.size(), 0);  // the preferred ones fit by themselves
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = below(2) == 0 ? 1 : 0;
    if (!fits(puzzle, kept)) kept[i] = 0;
    puzzle.intervals[i].preferred = kept[i] != 0;
  }
  return puzzle;
}

}  // namespace

TEST_CASE("as many intervals are kept as any subset has, and as many preferred ones", "[packing]") {
  std::mt19937_64 generator(flashlab::test::seeded(11));
  int better_than_preferred = 0;
  for (int round = 0; round < 1500; ++round) {
    const Puzzle puzzle = random_puzzle(generator, 10, 7);
    const auto best = best_of_all_subsets(puzzle);
    const std::vector<char> kept = pack_intervals(puzzle.intervals, puzzle.room);
    REQUIRE(fits(puzzle, kept));
    REQUIRE(worth(puzzle, kept).first == best.first);
    const auto near = pack_intervals_near_preferred(puzzle.intervals, puzzle.room, kept, 1'000'000);
    REQUIRE(near.size() == puzzle.intervals.size());
    REQUIRE(fits(puzzle, near));
    REQUIRE(worth(puzzle, near) == best);
    const auto own = std::count_if(puzzle.intervals.begin(), puzzle.intervals.end(),
                                   [](const Interval& one) { return one.preferred; });
    if (best.first > own) ++better_than_preferred;
  }
  CHECK(better_than_preferred > 300);
}

TEST_CASE("both ways of packing keep equally many of a thousand intervals", "[packing]") {
  std::mt19937_64 generator(flashlab::test::seeded(12));
  for (int round = 0; round < 5; ++round) {
    Puzzle puzzle = random_puzzle(generator, 1000, 300);
    for (std::int32_t& room : puzzle.room) room += 5;
    const auto kept = pack_intervals(puzzle.intervals, puzzle.room);
    const auto near =
        pack_intervals_near_preferred(puzzle.intervals, puzzle.room, kept, 1'000'000'000);
    REQUIRE(fits(puzzle, near));
    CHECK(worth(puzzle, near).first == worth(puzzle, kept).first);
    CHECK(worth(puzzle, near).second >= worth(puzzle, kept).second);
  }
}

TEST_CASE("no interval at all is kept where there is none, or no room", "[packing]") {
  CHECK(pack_intervals({}, {1, 2}).empty());
  CHECK(pack_intervals({{0, 2, true}}, {1, 0}) == std::vector<char>{0});
  CHECK(pack_intervals({{0, 2, false}}, {1, 1}) == std::vector<char>{1});
}

TEST_CASE("the search for the nearest packing gives up where it may take too long", "[packing]") {
  std::mt19937_64 generator(flashlab::test::seeded(13));
  const Puzzle puzzle = random_puzzle(generator, 2000, 300);
  const auto kept = pack_intervals(puzzle.intervals, puzzle.room);
  CHECK(pack_intervals_near_preferred(puzzle.intervals, puzzle.room, kept, 3).empty());
}
