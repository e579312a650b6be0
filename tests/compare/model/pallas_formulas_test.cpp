#include "compare/model/pallas_formulas.hpp"

#include "tests/catch_shim.hpp"

using namespace flashlab::compare;

namespace {

constexpr PallasShape kShape = {4, 8, 4096, 64, 2};  // the Pallas post's largest: B, H, T, D, bf16

}  // namespace

// The Pallas post prints "FLOP COUNT BY ALGORITHM (GFLOP)" for it; the figures here are its
// formulas by hand.
TEST_CASE("the Pallas post's FLOPs", "[compare][sources]") {
  const std::int64_t scores = std::int64_t{4} * 8 * 4096 * 4096;
  CHECK(pallas_flops("naive", kShape) == 4 * scores * 64 + 5 * scores);
  CHECK(pallas_flops("flash2", kShape) == pallas_flops("naive", kShape));
  CHECK(pallas_flops("bwd-naive", kShape) == 8 * scores * 64);
  CHECK(pallas_flops("bwd-onepass", kShape) == 10 * scores * 64);
  CHECK(pallas_flops("bwd-twopass", kShape) == 14 * scores * 64);
}

TEST_CASE("the Pallas post's bytes count the matrix of scores once, its prose five times",
          "[compare][sources]") {
  const std::int64_t rows = std::int64_t{4} * 8 * 4096, matrix = rows * 64, scores = rows * 4096;
  CHECK(pallas_bytes("naive", kShape, 0).formula == 2 * (4 * matrix + scores));
  CHECK(pallas_bytes("naive", kShape, 0).prose == 2 * (4 * matrix + 5 * scores));
}

TEST_CASE("the Pallas post's bytes of flash load K and V once, its prose once a tile",
          "[compare][sources]") {
  const std::int64_t rows = std::int64_t{4} * 8 * 4096, matrix = rows * 64;
  CHECK(pallas_bytes("flash2", kShape, 128).formula == 2 * (4 * matrix + rows));
  CHECK(pallas_bytes("flash2", kShape, 128).prose == 2 * (2 * matrix + 2 * matrix * 32 + rows));
  CHECK(pallas_bytes("bwd-twopass", kShape, 128).formula == 2 * (8 * matrix + rows));
}

TEST_CASE("the Pallas post's prose loads K and V more often in its tiles of 64 than in ours of 128",
          "[compare][sources]") {
  // 64 tiles of queries at T = 4096: "each tile of Q loads all of K and V".
  const std::int64_t rows = std::int64_t{4} * 8 * 4096, matrix = rows * 64;
  CHECK(pallas_bytes("flash2", kShape, kPallasBlock).prose ==
        2 * (2 * matrix + 2 * matrix * 64 + rows));
}

// "Choosing Kernel and Embedding Size": 8, 8, 8, 16, 16 and 1.25 KB, and 16 KB of a second stage for
// C = 64; 48 for Q, K and V, 32, 16, 1.25 and 32 for C = 128.
TEST_CASE("the Pallas post's list of shared memory, entry by entry", "[compare][sources]") {
  constexpr std::int64_t kKib = 1024;
  const PallasSharedMemory narrow = pallas_shared_memory(64), wide = pallas_shared_memory(128);
  CHECK(narrow.Q == 8 * kKib);
  CHECK(narrow.K == 8 * kKib);
  CHECK(narrow.V == 8 * kKib);
  CHECK(narrow.O == 16 * kKib);
  CHECK(narrow.S == 16 * kKib);
  CHECK(narrow.statistics == 1280);
  CHECK(narrow.second_stage == 16 * kKib);
  CHECK(narrow.all() == 73 * kKib + 256);
  CHECK(wide.Q + wide.K + wide.V == 48 * kKib);
  CHECK(wide.O == 32 * kKib);
  CHECK(wide.S == 16 * kKib);
  CHECK(wide.second_stage == 32 * kKib);
}

TEST_CASE("the Pallas post's time is that of its FLOPs or its bytes", "[compare][sources]") {
  MachineModel sheet;
  sheet.dram_copy = Rate{1e12, false};
  sheet.products["bf16"] = Rate{1e14, false};
  const double flops = static_cast<double>(pallas_flops("flash2", kShape));
  const auto close_to = [](double ms) { return Catch::Matchers::WithinAbs(ms, 1e-9); };
  CHECK_THAT(*pallas_ms("flash2", kShape, sheet, "bf16", "native"), close_to(1e3 * flops / 1e14));
  sheet.dram_copy = Rate{1e10, false};
  const double bytes = static_cast<double>(pallas_bytes("flash2", kShape, 0).formula);
  CHECK_THAT(*pallas_ms("flash2", kShape, sheet, "bf16", "native"), close_to(1e3 * bytes / 1e10));
  CHECK_FALSE(pallas_ms("flash2", kShape, MachineModel{}, "bf16", "native").has_value());
}
