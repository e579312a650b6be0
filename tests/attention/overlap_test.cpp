// Overlap against the definition: the set of bytes of one tensor, and of the other.
#include "attention/overlap.hpp"

#include <cstddef>
#include <random>
#include <set>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

using namespace flashlab;

namespace {

alignas(64) std::byte memory[4096];

/// Byte offsets of the elements' beginnings, one for each index.
std::vector<std::int64_t> element_offsets(const TensorView& tensor) {
  std::vector<std::int64_t> offsets = {static_cast<const std::byte*>(tensor.data) - memory};
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t k = 0; k < tensor.shape[axis]; ++k) {
        longer.push_back(offset + k * tensor.strides[axis] * size_in_bytes(tensor.dtype));
      }
    }
    offsets = longer;
  }
  return offsets;
}

std::set<std::int64_t> bytes_of(const TensorView& tensor) {
  std::set<std::int64_t> bytes;
  for (const std::int64_t offset : element_offsets(tensor)) {
    for (std::int64_t k = 0; k < size_in_bytes(tensor.dtype); ++k) bytes.insert(offset + k);
  }
  return bytes;
}

bool share_bytes(const TensorView& a, const TensorView& b) {
  const std::set<std::int64_t> bytes = bytes_of(a);
  for (const std::int64_t byte : bytes_of(b)) {
    if (bytes.contains(byte)) return true;
  }
  return false;
}

bool shares_elements(const TensorView& tensor) {
  const std::vector<std::int64_t> offsets = element_offsets(tensor);
  return std::set<std::int64_t>(offsets.begin(), offsets.end()).size() < offsets.size();
}

/// Small, with strides of either sign and of 0, somewhere in the middle of `memory`.
TensorView random_tensor(std::mt19937& random) {
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat64, DataType::kBFloat16};
  TensorView tensor;
  tensor.dtype = kTypes[between(0, 2)];
  for (int axis = between(1, 4); axis > 0; --axis) {
    tensor.shape.push_back(between(0, 40) == 0 ? 0 : between(1, 4));
    tensor.strides.push_back(between(-14, 14));
  }
  tensor.data = memory + 2048 + 8 * between(-16, 16);
  return tensor;
}

}  // namespace

TEST_CASE("overlap of small tensors is what their bytes say", "[overlap]") {
  std::mt19937 random(flashlab::test::seeded(5));
  int num_overlapping = 0;
  constexpr int kNumPairs = 4000;
  for (int k = 0; k < kNumPairs; ++k) {
    const TensorView a = random_tensor(random), b = random_tensor(random);
    const bool share = share_bytes(a, b);
    num_overlapping += share;
    INFO("pair " << k);
    CHECK(may_overlap(a, b) == share);
    CHECK(may_overlap(b, a) == share);
  }
  CHECK((num_overlapping > kNumPairs / 10 && num_overlapping < 9 * kNumPairs / 10));
}

TEST_CASE("a tensor that is said not to overlap itself does not", "[overlap]") {
  std::mt19937 random(flashlab::test::seeded(6));
  int num_free = 0;
  for (int k = 0; k < 4000; ++k) {
    const TensorView tensor = random_tensor(random);
    INFO("tensor " << k);
    if (may_overlap_itself(tensor)) continue;
    ++num_free;
    CHECK_FALSE(shares_elements(tensor));
  }
  CHECK(num_free > 200);
}

TEST_CASE("a permuted or padded tensor does not overlap itself", "[overlap]") {
  float* const data = reinterpret_cast<float*>(memory);
  CHECK_FALSE(may_overlap_itself(view(data, {2, 3, 4, 5})));
  CHECK_FALSE(may_overlap_itself(view(data, {2, 3, 4, 5}, {60, 5, 15, 1})));
  CHECK_FALSE(may_overlap_itself(view(data, {2, 3, 4, 5}, {100, 32, 8, 1})));
  CHECK_FALSE(may_overlap_itself(view(data + 59, {3, 4, 5}, {20, -5, 1})));
  CHECK(may_overlap_itself(view(data, {3, 4, 5}, {20, 4, 1})));
  CHECK(may_overlap_itself(view(data, {2, 5}, {0, 1})));
}

TEST_CASE("interleaved tensors of full size are told apart exactly", "[overlap]") {
  // Rows of [3, heads, head_dim]; the addresses are never read.
  constexpr std::int64_t kBatch = 3, kHeads = 16, kRows = 8192, kHeadDim = 128;
  constexpr std::int64_t kPart = kHeads * kHeadDim, kRow = 3 * kPart;
  const std::vector<std::int64_t> shape = {kBatch, kHeads, kRows, kHeadDim},
                                  strides = {kRows * kRow, kHeadDim, kRow, 1};
  const auto part = [&](std::int64_t first) {
    TensorView tensor = view(reinterpret_cast<float*>(memory), shape, strides);
    tensor.data = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) +
                                          static_cast<std::uintptr_t>(4 * first));
    return tensor;
  };
  CHECK_FALSE(may_overlap(part(0), part(kPart)));
  CHECK_FALSE(may_overlap(part(0), part(2 * kPart)));
  CHECK_FALSE(may_overlap(part(2 * kPart), part(kPart)));
  CHECK(may_overlap(part(0), part(kPart - 1)));
  CHECK(may_overlap(part(kPart), part(2 * kPart - kHeadDim)));
  CHECK(may_overlap(part(0), part(0)));
}

TEST_CASE("a tensor without elements overlaps nothing", "[overlap]") {
  float* const data = reinterpret_cast<float*>(memory);
  const TensorView none = view(data, {2, 0, 3}), some = view(data, {2, 2, 3});
  CHECK_FALSE(may_overlap(none, some));
  CHECK_FALSE(may_overlap(some, none));
  CHECK_FALSE(may_overlap_itself(none));
}
