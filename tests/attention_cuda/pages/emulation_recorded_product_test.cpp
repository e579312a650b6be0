// What each thread of the product of docs/09a_before_a_gpu.md reads and writes, and when:
// docs/results/tile_product_record.json.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/observer.hpp"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/attention_cuda/pages/record_text.hpp"
#include "tests/catch_shim.hpp"

namespace emulation = flashlab::cuda::emulation;
using namespace flashlab::test;

namespace recorded {

/// A thread reads or writes a number, or comes to a barrier (no address).
struct Access {
  int block, thread;
  const void* address;
  bool writes;
};
std::vector<Access> accesses;
bool is_recording = false;

void note(const void* address, bool writes) {
  if (!is_recording) return;
  accesses.push_back({static_cast<int>(blockIdx.x + gridDim.x * blockIdx.y),
                      emulation::thread_number(), address, writes});
}

/// A float that notes when a thread reads or writes it.
class Number {
 public:
  constexpr Number() = default;
  Number(float value) : value_(value) {}  // NOLINT: as a float is converted
  Number(const Number& other) : value_(other) {}
  operator float() const {  // NOLINT: as a float is converted
    note(this, false);
    return value_;
  }
  Number& operator=(const Number& other) {
    value_ = other;
    note(this, true);
    return *this;
  }
  Number& operator+=(float more) {
    value_ += more;
    return *this;
  }
  float unnoted() const { return value_; }

 private:
  float value_ = std::numeric_limits<float>::quiet_NaN();
};

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define __shared__ static thread_local
#define float Number  // so that each number of the kernel notes who reads it
#include "docs/examples/tile_product.cu"
#undef float
#undef __shared__
#ifdef __clang__
#pragma clang diagnostic pop
#endif

}  // namespace recorded

namespace {

using recorded::kTile, recorded::Number;

constexpr int kRowsOfC = 48, kColumnsOfC = 64, kTermsOfC = 32;  // of C, and k
constexpr int kShownThread = 37;  // the thread whose reads the picture shows
constexpr int kShownBlock = 6;    // whose tiles the picture shows
constexpr int kWarpThreads = 32, kBlockThreads = kTile * kTile;

/// Notes the barriers of recorded::tile_product among its accesses.
class BarrierObserver : public emulation::Observer {
 public:
  BarrierObserver() {
    emulation::set_observer(this);
    recorded::is_recording = true;
  }
  ~BarrierObserver() override {
    emulation::set_observer(nullptr);
    recorded::is_recording = false;
  }
  void took_address(const char*, const void*) override {}
  void met(const char*) override { recorded::note(nullptr, false); }
};

/// A run of tile_product, and what each of its threads did.
class ProductRun {
 public:
  ProductRun() {
    for (std::size_t i = 0; i < A_.size(); ++i) A_[i] = static_cast<float>(i % 7);
    for (std::size_t i = 0; i < B_.size(); ++i) B_[i] = static_cast<float>(i % 5);
    recorded::accesses.clear();
    emulation::set_schedule_seed(1);
    {
      const BarrierObserver observer;
      launch(dim3(kColumnsOfC / kTile, kRowsOfC / kTile), dim3(kTile, kTile), 0,
             recorded::tile_product, A_.data(), B_.data(), C_.data(), kColumnsOfC, kTermsOfC);
    }
    all_.swap(recorded::accesses);
    find_shared_tiles();
  }

  bool is_right() const {
    for (int row = 0; row < kRowsOfC; ++row) {
      for (int column = 0; column < kColumnsOfC; ++column) {
        float sum = 0;
        for (int p = 0; p < kTermsOfC; ++p) {
          sum += number(A_, row * kTermsOfC + p) * number(B_, p * kColumnsOfC + column);
        }
        if (number(C_, row * kColumnsOfC + column) != sum) return false;
      }
    }
    return true;
  }

  /// The block that wrote each tile of C.
  std::vector<std::vector<int>> blocks() const {
    std::vector<std::vector<int>> result(kRowsOfC / kTile,
                                         std::vector<int>(kColumnsOfC / kTile, -1));
    for (const recorded::Access& access : all_) {
      const int at = index_in(C_, access.address);
      if (at < 0) continue;
      int& block = result[static_cast<std::size_t>(at / kColumnsOfC / kTile)]
                         [static_cast<std::size_t>(at % kColumnsOfC / kTile)];
      CHECK((block == -1 || block == access.block));
      block = access.block;
    }
    return result;
  }

  /// The thread of block 0 that wrote each number of its tile of C.
  std::vector<std::vector<int>> threads() const {
    std::vector<std::vector<int>> result(kTile, std::vector<int>(kTile, -1));
    for (const recorded::Access& access : all_) {
      const int at = index_in(C_, access.address);
      if (at < 0 || access.block != 0) continue;
      result[static_cast<std::size_t>(at / kColumnsOfC)]
            [static_cast<std::size_t>(at % kColumnsOfC)] = access.thread;
    }
    return result;
  }

  /// The tiles of A or B that a block reads, as "tile row, tile column".
  std::vector<std::string> tiles_of_A(int block) const { return tiles_read(A_, kTermsOfC, block); }
  std::vector<std::string> tiles_of_B(int block) const {
    return tiles_read(B_, kColumnsOfC, block);
  }

  /// How often each number of a tile in shared memory is read in the first round of block 0; or, of one
  /// thread alone.
  std::vector<std::vector<int>> reads(const Number* tile, int thread = -1) const {
    std::vector<std::vector<int>> result(kTile, std::vector<int>(kTile, 0));
    std::vector<int> barriers(kBlockThreads, 0);
    for (const recorded::Access& access : all_) {
      if (access.block != 0) continue;
      const int at = index_in(tile, kBlockThreads, access.address);
      int& passed = barriers[static_cast<std::size_t>(access.thread)];
      if (access.address == nullptr) ++passed;
      if (at < 0 || access.writes || passed != 1) continue;
      if (thread >= 0 && access.thread != thread) continue;
      ++result[static_cast<std::size_t>(at / kTile)][static_cast<std::size_t>(at % kTile)];
    }
    return result;
  }
  const Number* sA() const { return sA_; }
  const Number* sB() const { return sB_; }

  /// Numbers that all blocks read from A and B.
  std::int64_t loaded() const {
    return std::count_if(all_.begin(), all_.end(), [&](const recorded::Access& access) {
      return index_in(A_, access.address) >= 0 || index_in(B_, access.address) >= 0;
    });
  }

  /// The warps of block 0 in the order of their turns, for each stretch between two barriers. In a turn,
  /// the warp's threads run up to the next barrier, or to their end.
  std::vector<std::vector<int>> turns() const {
    std::vector<std::vector<int>> stretches(1);
    std::vector<int> passed(kBlockThreads, 0);  // stretches, by thread
    for (const recorded::Access& access : all_) {
      const bool stores = index_in(C_, access.address) >= 0;
      if (access.block != 0 || (access.address != nullptr && !stores)) continue;
      const auto stretch =
          static_cast<std::size_t>(passed[static_cast<std::size_t>(access.thread)]++);
      if (stretches.size() <= stretch) stretches.resize(stretch + 1);
      CHECK(stretch + 1 == stretches.size());  // nobody passes the barrier before all have come
      std::vector<int>& warps = stretches[stretch];
      if (warps.empty() || warps.back() != access.thread / kWarpThreads) {
        warps.push_back(access.thread / kWarpThreads);
      }
    }
    for (const std::vector<int>& warps : stretches)
      CHECK(warps.size() == kBlockThreads / kWarpThreads);
    return stretches;
  }

 private:
  std::vector<std::string> tiles_read(const std::vector<Number>& array, int columns,
                                      int block) const {
    std::set<std::array<int, 2>> tiles;
    for (const recorded::Access& access : all_) {
      const int at = index_in(array, access.address);
      if (at >= 0 && access.block == block)
        tiles.insert({at / columns / kTile, at % columns / kTile});
    }
    std::vector<std::string> places;
    for (const std::array<int, 2>& tile : tiles) places.push_back(list(tile));
    return places;
  }
  static float number(const std::vector<Number>& array, int at) {
    return array[static_cast<std::size_t>(at)].unnoted();
  }
  static int index_in(const Number* first, std::size_t size, const void* address) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(first);
    return address == nullptr || offset >= size * sizeof(Number)
               ? -1
               : static_cast<int>(offset / sizeof(Number));
  }
  static int index_in(const std::vector<Number>& array, const void* address) {
    return index_in(array.data(), array.size(), address);
  }

  /// A thread's first write is to its own place in sA, its second to that in sB.
  void find_shared_tiles() {
    for (const recorded::Access& access : all_) {
      if (access.block != 0 || access.thread != 0 || !access.writes) continue;
      const auto* const place = static_cast<const Number*>(access.address);
      (sA_ == nullptr ? sA_ : sB_) = place;
      if (sB_ != nullptr) return;
    }
  }

  // Not in braces, where a size would be the only element.
  std::vector<Number> A_ = std::vector<Number>(kRowsOfC * kTermsOfC);
  std::vector<Number> B_ = std::vector<Number>(kTermsOfC * kColumnsOfC);
  std::vector<Number> C_ = std::vector<Number>(kRowsOfC * kColumnsOfC);
  std::vector<recorded::Access> all_;
  const Number *sA_ = nullptr, *sB_ = nullptr;
};

std::string product_json(const ProductRun& run) {
  const auto places = [&](const Number* tile) {
    std::vector<std::string> result;
    const std::vector<std::vector<int>> reads = run.reads(tile, kShownThread);
    for (std::size_t y = 0; y < kTile; ++y) {
      for (std::size_t x = 0; x < kTile; ++x) {
        if (reads[y][x] > 0) result.push_back(list(std::array{y, x}));
      }
    }
    return list(result);
  };
  std::ostringstream text;
  text << "{\n  \"n\": " << kRowsOfC << ", \"m\": " << kColumnsOfC << ", \"k\": " << kTermsOfC
       << ", \"tile\": " << kTile << ", \"loaded\": " << run.loaded()
       << ",\n  \"blocks\": " << row_lists(run.blocks()) << ",\n  \"block\": " << kShownBlock
       << ", \"block_reads\": {\"A\": " << list(run.tiles_of_A(kShownBlock))
       << ", \"B\": " << list(run.tiles_of_B(kShownBlock))
       << "},\n  \"threads\": " << row_lists(run.threads()) << ",\n  \"reader\": " << kShownThread
       << ", \"times_read\": " << run.reads(run.sA())[0][0]
       << ",\n  \"reads\": {\"A\": " << places(run.sA()) << ",\n    \"B\": " << places(run.sB())
       << "},\n  \"turns\": " << row_lists(run.turns()) << "\n}\n";
  return text.str();
}

}  // namespace

TEST_CASE("a block of the page's product computes one tile, and reads each number 16 times",
          "[page][emulation]") {
  const ProductRun run;
  CHECK(run.is_right());
  std::set<int> blocks;
  for (const auto& row : run.blocks()) blocks.insert(row.begin(), row.end());
  CHECK(blocks.size() == 3 * 4);
  CHECK(*blocks.begin() == 0);
  // Each of the 12 blocks loads two tiles in each of two rounds: what given.toy counts with these tiles.
  CHECK(run.loaded() == 12 * 2 * 2 * 256);
  for (const Number* const tile : {run.sA(), run.sB()}) {
    for (const auto& row : run.reads(tile)) CHECK(row == std::vector<int>(kTile, 16));
  }
  CHECK(run.threads()[2][5] == kShownThread);
}

TEST_CASE("the record of the page's product is what it does", "[page][emulation]") {
  check_record("tile_product_record.json", product_json(ProductRun()));
}
