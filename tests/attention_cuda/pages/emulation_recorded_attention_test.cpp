// What kernels with tensor cores do in the emulation, for the pictures of chapter 10:
// docs/results/attention_record.json.
#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/tensor.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/observer.hpp"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/ldmatrix.cuh"
#include "attention_cuda/ptx/mma.cuh"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/attention_cuda/pages/record_text.hpp"
#include "tests/catch_shim.hpp"

namespace emulation = flashlab::cuda::emulation;
namespace ptx = flashlab::cuda::ptx;
using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr int kLanes = 32;

// A row over lanes, and rows over banks

/// Each lane's four sums of I B, where B[r][c] = 8 r + c: where they are in the tile.
__global__ void sums_kernel(float* sums) {
  const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
  const auto pair = [](float first, float second) { return ptx::pack(BFloat16{}, first, second); };
  const auto unit = [&](int row, int column) {
    return pair(row == column ? 1.f : 0.f, row == column + 1 ? 1.f : 0.f);
  };
  const std::uint32_t a[4] = {unit(g, 2 * t), unit(g + 8, 2 * t), unit(g, 2 * t + 8),
                              unit(g + 8, 2 * t + 8)};
  const auto cell = [](int row, int column) { return static_cast<float>(8 * row + column); };
  const std::uint32_t b[2] = {pair(cell(2 * t, g), cell(2 * t + 1, g)),
                              pair(cell(2 * t + 8, g), cell(2 * t + 9, g))};
  float d[4] = {};
  ptx::mma_m16n8k16(BFloat16{}, d, a, b);
  for (int i = 0; i < 4; ++i) sums[4 * lane + i] = d[i];
}

/// The lane that has each sum of a 16 x 8 tile.
std::vector<std::vector<int>> lanes_of_sums() {
  std::vector<float> sums(4 * kLanes);
  launch(1, kLanes, 0, sums_kernel, sums.data());
  std::vector<std::vector<int>> lanes(16, std::vector<int>(8, -1));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto cell = static_cast<std::size_t>(sums[i]);
    lanes[cell / 8][cell % 8] = static_cast<int>(i / 4);
  }
  return lanes;
}

using WideTile = cuda::SharedTile<BFloat16, 8, 64>;

/// Reads chunk 0 of eight rows of 128 bytes, each at its place, or all in order.
__global__ void eight_rows_kernel(bool is_permuted, int* places) {
  const WideTile tile{shared_as<BFloat16>()};
  const int row = static_cast<int>(threadIdx.x) % WideTile::kRows;
  const BFloat16* const in_order = tile.data + row * WideTile::kColumns;
  std::uint32_t to[4];
  ptx::ldmatrix_x4(to, is_permuted ? tile.chunk(row, 0) : in_order);
  for (int chunk = 0; is_permuted && chunk < WideTile::kChunks; ++chunk) {
    const auto offset = tile.chunk(row, chunk) - in_order;
    places[row * WideTile::kChunks + offset / WideTile::kChunkElements] = chunk;
  }
}

struct EightRows {
  std::vector<std::vector<int>> chunk_at;  // by row and place
  std::int64_t passes, passes_in_order;    // over the banks, for one matrix
};

EightRows eight_rows() {
  std::vector<int> places(WideTile::kRows * WideTile::kChunks, -1);
  const auto passes = [&](bool is_permuted) {
    emulation::reset_statistics();
    launch(1, kLanes, WideTile::kBytes, eight_rows_kernel, is_permuted, places.data());
    return 1 + emulation::statistics().ldmatrix_conflicts / 4;  // four equal matrices
  };
  EightRows result;
  result.passes_in_order = passes(false);
  result.passes = passes(true);
  for (auto row = places.begin(); row != places.end(); row += WideTile::kChunks) {
    result.chunk_at.emplace_back(row, row + WideTile::kChunks);
  }
  return result;
}

// Who loads when

constexpr std::int64_t kRecordedQueries = 128, kRecordedKeys = 256, kRecordedHeadDim = 64,
                       kRecordedRowBytes = 2 * kRecordedHeadDim;

/// What each thread of a block of flash2_mma_sm80 does with the K/V tiles' places in shared memory.
class CopyObserver : public emulation::Observer {
 public:
  struct Step {
    std::string what;   // copy, read, barrier
    std::string tile;   // of a copy: K0
    std::size_t place;  // in tiles from the start of shared memory
    int accesses;       // of 16 bytes
    bool operator==(const Step&) const = default;
  };

  /// tensors: where K and V begin, and their names.
  CopyObserver(std::map<const void*, std::string> tensors, std::size_t tensor_bytes)
      : tensors_(std::move(tensors)), tensor_bytes_(tensor_bytes) {
    emulation::set_observer(this);
  }
  ~CopyObserver() override { emulation::set_observer(nullptr); }

  void took_address(const char* operation, const void* address) override {
    const std::string_view name = operation;
    if (name == "cp.async") {
      to_ = emulation::shared_offset(address, 16, operation) / kTileBytes;
    } else if (name == "cp.async from global memory") {
      if (const std::string tile = tile_at(address); !tile.empty()) {
        places_.insert(to_);
        take({"copy", tile, to_, 1});
      }
    } else if (name == "ldmatrix") {
      const std::size_t place = emulation::shared_offset(address, 16, operation) / kTileBytes;
      if (places_.count(place) == 1) take({"read", "", place, 1});
    }
  }
  void met(const char* operation) override {
    if (std::string_view(operation) == "__syncthreads") take({"barrier", "", 0, 1});
  }

  /// By thread.
  const std::map<int, std::vector<Step>>& steps() const { return steps_; }

  static constexpr std::size_t kTileBytes = 64 * 64 * 2;

 private:
  /// "K1" for a tile of K or V, "" elsewhere.
  std::string tile_at(const void* address) const {
    for (const auto& [first, name] : tensors_) {
      const auto offset =
          reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(first);
      if (offset < tensor_bytes_) return name + std::to_string(offset / kTileBytes);
    }
    return "";
  }
  void take(const Step& step) {
    std::vector<Step>& own = steps_[emulation::thread_number()];
    const bool goes_on = !own.empty() && own.back().what == step.what &&
                         own.back().tile == step.tile && own.back().place == step.place;
    if (goes_on && step.what != "barrier") {
      ++own.back().accesses;
    } else {
      own.push_back(step);
    }
  }

  std::map<const void*, std::string> tensors_;
  std::size_t tensor_bytes_, to_ = 0;  // to_: of the copy that the thread is about to note
  std::set<std::size_t> places_;
  std::map<int, std::vector<Step>> steps_;
};

/// Numbers from 0 to 1 in bf16, which is the upper half of a float.
std::vector<BFloat16> some_numbers(std::int64_t count) {
  std::vector<BFloat16> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto value = static_cast<float>(i % 64) / 64;
    numbers[i].bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  }
  return numbers;
}

std::string attention_json() {
  const Shape q = {1, 1, kRecordedQueries, kRecordedHeadDim},
              k = {1, 1, kRecordedKeys, kRecordedHeadDim};
  const std::vector<BFloat16> numbers = some_numbers(kRecordedKeys * kRecordedHeadDim);
  const DeviceMemory Q(kRecordedQueries * kRecordedRowBytes), K(kRecordedKeys * kRecordedRowBytes),
      V(kRecordedKeys * kRecordedRowBytes), O(kRecordedQueries * kRecordedRowBytes);
  for (const DeviceMemory* const input : {&Q, &K, &V}) {
    check_call(cudaMemcpy(input->get(), numbers.data(), input->bytes(), cudaMemcpyHostToDevice));
  }
  const auto tensor = [](const DeviceMemory& memory, const Shape& shape) {
    return view(static_cast<BFloat16*>(memory.get()), shape);
  };
  emulation::set_schedule_seed(1);
  const CopyObserver observer({{K.get(), "K"}, {V.get(), "V"}}, K.bytes());
  cuda::ExecutionOptions execution;
  execution.kernel = "flash2_mma_sm80";
  cuda::attention_forward("flash2",
                          {tensor(Q, q), tensor(K, k), tensor(V, k), tensor(O, q), TensorView{}},
                          {}, execution);
  std::vector<std::string> steps;
  const std::vector<CopyObserver::Step>& first = observer.steps().at(0);
  for (const auto& [thread, own] : observer.steps()) CHECK(own == first);
  for (const CopyObserver::Step& step : first) {
    steps.push_back(list(std::vector{in_marks(step.what), in_marks(step.tile),
                                     std::to_string(step.place), std::to_string(step.accesses)}));
  }
  return "  \"flash2_mma_sm80\": {\n    \"queries\": " + std::to_string(kRecordedQueries) +
         ", \"keys\": " + std::to_string(kRecordedKeys) +
         ", \"head_dim\": " + std::to_string(kRecordedHeadDim) +
         ", \"tile_bytes\": " + std::to_string(CopyObserver::kTileBytes) +
         ", \"threads\": " + std::to_string(observer.steps().size()) +
         ",\n    \"each_thread\": " + lists(steps) + "\n  }";
}

}  // namespace

TEST_CASE("a row of sums lies in four lanes, and eight rows in all banks", "[emulation]") {
  const auto lanes = lanes_of_sums();
  CHECK(lanes[0] == std::vector{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(lanes[9] == std::vector{4, 4, 5, 5, 6, 6, 7, 7});
  const EightRows rows = eight_rows();
  CHECK(rows.passes == 1);
  CHECK(rows.passes_in_order == 8);
  CHECK(rows.chunk_at[3] == std::vector{3, 2, 1, 0, 7, 6, 5, 4});
}

TEST_CASE("the record of kernels with tensor cores is what they do", "[emulation]") {
  const EightRows rows = eight_rows();
  check_record("attention_record.json", "{\n  \"sums\": " + row_lists(lanes_of_sums()) +
                                            ",\n  \"eight_rows\": {\n    \"passes_in_order\": " +
                                            std::to_string(rows.passes_in_order) +
                                            ", \"passes\": " + std::to_string(rows.passes) +
                                            ",\n    \"chunk_at\": " + row_lists(rows.chunk_at) +
                                            "\n  },\n" + attention_json() + "\n}\n");
}
