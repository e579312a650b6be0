// The order of query tiles by products and shifts is the one by divisions.
#include <cstdint>

#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/device/places.cuh"
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
