#include "compare/model/block_schedule.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/catch_shim.hpp"

using namespace flashlab::compare;
using flashlab::cuda::BlockOrder;

namespace {

auto about_clock(double value) { return Catch::Matchers::WithinAbs(value, 1e-3); }

/// One block per multiprocessor takes 10 clocks per pair; two of them together 8.
constexpr double kOne[] = {10}, kTwo[] = {10, 8};

BlockQueue equal_blocks(std::size_t count, double pairs) {
  return {std::vector<double>(count, pairs)};
}

}  // namespace

TEST_CASE("equal blocks run in waves, and the last wave has fewer", "[compare]") {
  CHECK_THAT(finish_clock(equal_blocks(4, 3), kOne, 4), about_clock(30));
  CHECK_THAT(finish_clock(equal_blocks(5, 3), kOne, 4), about_clock(60));
  // Two at once: 6 pairs in 48 clocks. The fifth block is alone with a multiprocessor.
  CHECK_THAT(finish_clock(equal_blocks(4, 3), kTwo, 2), about_clock(48));
  CHECK_THAT(finish_clock(equal_blocks(5, 3), kTwo, 2), about_clock(48 + 30));
}

TEST_CASE("blocks that are fewer than multiprocessors have one each", "[compare]") {
  CHECK_THAT(finish_clock(equal_blocks(3, 2), kTwo, 5), about_clock(20));
}

TEST_CASE("a block starts where another one has ended", "[compare]") {
  // On two multiprocessors: 6 | 2, then 3 after the 2, then 1 after the 3.
  CHECK_THAT(finish_clock({{6, 2, 3, 1}}, kOne, 2), about_clock(60));
  // In the other order the longest one starts last: 1 and 3, 2 after the 1, 6 after the 3.
  CHECK_THAT(finish_clock({{1, 3, 2, 6}}, kOne, 2), about_clock(90));
}

TEST_CASE("blocks that follow at the same clock go to the multiprocessors in turn", "[compare]") {
  // Each of two multiprocessors ends two blocks at 48. The next two are one for each, not both for the first.
  CHECK_THAT(finish_clock(equal_blocks(6, 3), kTwo, 2), about_clock(48 + 30));
  CHECK_THAT(finish_clock(equal_blocks(7, 3), kTwo, 2), about_clock(48 + 48));
}

TEST_CASE("a short block leaves the units to the long one beside it", "[compare]") {
  // Both get on at 16 clocks per pair until the short one has its pair; then the other one at 10.
  CHECK_THAT(finish_clock({{1, 3}}, kTwo, 1), about_clock(16 + 2 * 10));
}

TEST_CASE("starts and ends add up alone, and are hidden by another block", "[compare]") {
  BlockQueue queue = equal_blocks(3, 4);
  queue.start = 20;
  queue.end = 5;
  CHECK_THAT(finish_clock(queue, kOne, 1), about_clock(3 * (20 + 40 + 5)));
  // Two start together, and end together: 20 + 4 x 16 + 5. The third one is alone.
  CHECK_THAT(finish_clock(queue, kTwo, 1), about_clock(20 + 64 + 5 + 20 + 40 + 5));
  // The first of these ends at 41, and the third one starts until 61. The long one is alone meanwhile:
  // it has half a pair left, at 16 clocks per pair. Then the third one has its other half alone.
  queue.pairs = {1, 4, 1};
  CHECK_THAT(finish_clock(queue, kTwo, 1), about_clock(20 + 16 + 25 + 8 + 5 + 5));
}

TEST_CASE("a block that loads ahead starts once", "[compare]") {
  BlockQueue queue = equal_blocks(3, 4);
  queue.start = 20;
  queue.loads_ahead = true;
  CHECK_THAT(finish_clock(queue, kOne, 1), about_clock(20 + 3 * 40));
}

TEST_CASE("blocks without visible pairs start and end all the same", "[compare]") {
  BlockQueue queue = {{0, 2, 0}};
  queue.start = 7;
  queue.end = 1;
  CHECK_THAT(finish_clock(queue, kOne, 1), about_clock(3 * 8 + 20));
  CHECK(finish_clock({}, kOne, 1) == 0);
}

TEST_CASE("under a causal mask a block has the tiles that its last query sees", "[compare]") {
  // 256 queries and keys. Tiles of 64 queries see 1, 2, 3 and 4 tiles of 64 keys.
  const HeadBlocks squares = {256, 256, 64, 64, false};
  CHECK(causal_pairs(squares, 2, BlockOrder::kHeadByHead) ==
        std::vector<double>{4, 3, 2, 1, 4, 3, 2, 1});
  CHECK(causal_pairs(squares, 2, BlockOrder::kLongestFirst) ==
        std::vector<double>{4, 4, 3, 3, 2, 2, 1, 1});
  CHECK(causal_pairs(squares, 2, BlockOrder::kPairs) == std::vector<double>{5, 5, 5, 5});
  // Tiles of 128 queries see 2 and 4; of 32 keys each, 4 and 8.
  CHECK(causal_pairs({256, 256, 128, 64, false}, 1, BlockOrder::kHeadByHead) ==
        std::vector<double>{4, 2});
  CHECK(causal_pairs({256, 256, 128, 32, false}, 1, BlockOrder::kHeadByHead) ==
        std::vector<double>{8, 4});
}

TEST_CASE("under a causal mask a block of keys has the tiles of queries that see one of them",
          "[compare]") {
  // Keys 0 … 127 are seen by all 4 tiles of 64 queries, keys 128 … 255 by the last two.
  CHECK(causal_pairs({256, 256, 128, 64, true}, 1, BlockOrder::kHeadByHead) ==
        std::vector<double>{4, 2});
  // Tiles of 128 queries: keys 64 … 127 are seen by both, keys 192 … 255 by the last one.
  CHECK(causal_pairs({256, 256, 64, 128, true}, 1, BlockOrder::kHeadByHead) ==
        std::vector<double>{2, 2, 1, 1});
}

TEST_CASE("an odd tile in the middle has no partner", "[compare]") {
  CHECK(causal_pairs({192, 192, 64, 64, false}, 1, BlockOrder::kPairs) ==
        std::vector<double>{4, 2});
}

TEST_CASE("blocks see no more tiles than there are", "[compare]") {
  CHECK(causal_pairs({256, 128, 64, 64, false}, 1, BlockOrder::kHeadByHead) ==
        std::vector<double>{2, 2, 2, 1});
  CHECK(causal_pairs({256, 128, 64, 64, true}, 1, BlockOrder::kHeadByHead) ==
        std::vector<double>{2, 1, 0, 0});
}

TEST_CASE("tiles that reach beyond a head's rows are computed as whole tiles", "[compare]") {
  using flashlab::compare::computed_per_score;
  CHECK(computed_per_score({256, 256, 64, 64, false}, false) == 1);
  CHECK(computed_per_score({256, 256, 64, 64, false}, true) == 1);
  CHECK(computed_per_score({}, false) == 1);  // a step without tiles
  // 160 queries in tiles of 64, 192 keys in tiles of 128: 192 x 256 instead of 160 x 192.
  CHECK_THAT(computed_per_score({160, 192, 64, 128, false}, false), about_clock(1.6));
  // Causal: the tiles of queries end at 64, 128 and 160, and see 1, 1 and 2 tiles of keys.
  const double computed = 64 * (128 + 128 + 256), needed = 64 * (128 + 128) + 32 * 192;
  CHECK_THAT(computed_per_score({160, 192, 64, 128, false}, true), about_clock(computed / needed));
  // Tiles of 128 keys, 0 to 127 and 128 to 191: all three tiles of queries, and the last one.
  const double of_keys = 128 * (192 + 64), of_real_keys = 128 * 160 + 64 * 32;
  CHECK_THAT(computed_per_score({192, 160, 128, 64, true}, true),
             about_clock(of_keys / of_real_keys));
}
