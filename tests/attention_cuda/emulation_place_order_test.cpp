// Orders of tiles: those by products and shifts are the ones by divisions, and every walk meets all.
#include <cstdint>
#include <set>
#include <utility>

#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::cuda;

TEST_CASE("a divisor divides like the processor", "[async]") {
  for (const std::int64_t divisor :
       {1, 2, 3, 5, 6, 7, 12, 31, 32, 33, 641, 65535, 65536, 65537, 1 << 30, 2147483647}) {
    const Divisor by(divisor);
    for (const std::int64_t number : {0, 1, 2, 100, 1 << 30, 2147483646, 2147483647}) {
      CHECK(by.quotient(static_cast<int>(number)) == number / divisor);
    }
    for (std::int64_t k = 1; k * divisor <= INT32_MAX && k < 50'000; k += 997) {
      CHECK(by.quotient(static_cast<int>(k * divisor)) == k);
      CHECK(by.quotient(static_cast<int>(k * divisor - 1)) == k - 1);
    }
  }
}

TEST_CASE("places of groups of heads are those that divisions give", "[async]") {
  struct Shape {
    int batch, heads, together, tiles;
  };
  for (const auto& [batch, heads, together, tiles] :
       {Shape{1, 1, 1, 1}, {2, 6, 4, 3}, {3, 5, 15, 2}, {1, 7, 3, 5}, {2, 8, 1, 4}}) {
    AttentionProblem problem;
    problem.batch = batch;
    problem.num_heads = problem.num_kv_heads = heads;
    Sizes sizes = {};
    sizes.batch = batch;
    sizes.num_heads = heads;
    const PlaceOrder order(problem, together, tiles);
    REQUIRE(order.num_places == batch * heads * tiles);
    for (int place = 0; place < order.num_places; ++place) {
      const GroupedTile expected = grouped_tile(sizes, together, place, order.num_places);
      const GroupedTile tile = order.tile(place);
      CHECK((tile.b == expected.b && tile.h == expected.h && tile.q_tile == expected.q_tile));
    }
  }
}

TEST_CASE("groups of kv heads take part 0 of each head first, and the last group the heads left",
          "[async]") {
  Sizes sizes = {};
  sizes.batch = 1;
  sizes.num_kv_heads = 5;
  constexpr int kParts = 2, kBlocks = 10;
  constexpr HeadGroups kGroups = {2, 2};  // heads 0 and 1, then 2 to 4
  constexpr int kHeads[kBlocks] = {0, 1, 0, 1, 2, 3, 4, 2, 3, 4};
  constexpr int kPartsOf[kBlocks] = {0, 0, 1, 1, 0, 0, 0, 1, 1, 1};
  for (int block = 0; block < kBlocks; ++block) {
    const Place place = place_of_kv_in_groups(block, kBlocks, kParts, kGroups, sizes);
    CHECK(place.h == kHeads[block]);
    CHECK(place.part == kPartsOf[block]);
  }
}

TEST_CASE("groups of one kv head are the order of place_of_kv", "[async]") {
  Sizes sizes = {};
  sizes.batch = 2;
  sizes.num_kv_heads = 3;
  constexpr int kParts = 4, kBlocks = 24;
  for (int block = 0; block < kBlocks; ++block) {
    const Place expected = place_of_kv(block, kParts, sizes);
    const Place place = place_of_kv_in_groups(block, kBlocks, kParts, {1, 6}, sizes);
    CHECK((place.b == expected.b && place.h == expected.h && place.part == expected.part));
  }
}

TEST_CASE("K/V tiles of a head meet all query tiles, staggered ones no tile at the same time",
          "[async]") {
  using Config = BwdWgmmaConfig<BFloat16, BwdWgmmaShape{64, 128}>;
  constexpr int kTiles = 4, kHeads = 2;  // two heads of one kv head
  BwdWgmmaArguments arguments = {};
  Sizes& sizes = arguments.sizes;
  sizes.batch = sizes.num_kv_heads = 1;
  sizes.num_heads = sizes.heads_per_kv_head = kHeads;
  sizes.seqlen_q = kTiles * Config::kBlockQ - 1;
  sizes.seqlen_k = kTiles * Config::kBlockKV - 1;
  arguments.mask.mask = Mask::kNone;
  arguments.num_key_tiles = kTiles;
  for (const bool staggers : {false, true}) {
    arguments.staggers = staggers;
    std::set<std::pair<std::uint32_t, int>> met;  // at which step of a block which query tile
    for (int keys = 0; keys < kTiles; ++keys) {
      const BwdWgmmaWork<Config> work(arguments, keys);
      std::set<std::pair<int, int>> walked;
      for (BwdWgmmaTile tile = work.first(sizes); work.is_there(tile); tile = work.next(tile)) {
        REQUIRE(tile.number == walked.size());
        CHECK(tile.head == static_cast<int>(tile.number) / kTiles);
        CHECK((tile.q_tile >= 0 && tile.q_tile < kTiles));
        walked.insert({tile.head, tile.q_tile});
        met.insert({tile.number, tile.q_tile});
      }
      CHECK(walked.size() == kHeads * kTiles);
    }
    CHECK(met.size() == (staggers ? kHeads * kTiles * kTiles : kHeads * kTiles));
  }
}
