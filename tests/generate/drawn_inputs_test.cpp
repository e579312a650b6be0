// The inputs that a GPU draws, as the host computes them, and numbers in the types of a GPU's memory.
#include "generate/run/drawn_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/catch_shim.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::test {
namespace {

using toy::ElementType;

constexpr ElementType kAllTypes[] = {ElementType::kFloat, ElementType::kDouble, ElementType::kBf16,
                                     ElementType::kFp16};

generate::GpuJob two_arrays() {
  generate::GpuJob job;
  job.arrays = {{"x", ElementType::kBf16, 100, toy::ArrayRole::kInput},
                {"y", ElementType::kFloat, 3, toy::ArrayRole::kOutput}};
  return job;
}

}  // namespace

TEST_CASE("the rounding unit is half the distance from 1 to the next number of the type") {
  for (const ElementType type : kAllTypes) {
    const double unit = generate::rounding_unit(type);
    CHECK(toy::round_to(type, 1 + 2 * unit) == 1 + 2 * unit);
    CHECK(toy::round_to(type, 1 + unit) == 1);  // a tie goes to the even number
    if (type != ElementType::kDouble) {
      CHECK(toy::round_to(type, 1 + 1.01 * unit) == 1 + 2 * unit);
    }
  }
}

TEST_CASE("drawn inputs differ by call, problem and array, and spread from -1 to 1") {
  const generate::GpuJob job = two_arrays();
  const auto first = generate::drawn_dram(job, 1, 0);
  REQUIRE(first.size() == 103);
  const auto inputs = [](const std::vector<double>& dram) {
    return std::vector<double>(dram.begin(), dram.begin() + 100);
  };
  CHECK(inputs(first) == inputs(generate::drawn_dram(job, 1, 0)));
  CHECK(inputs(first) != inputs(generate::drawn_dram(job, 2, 0)));
  CHECK(inputs(first) != inputs(generate::drawn_dram(job, 1, 1)));
  CHECK(std::isnan(first[100]));
  const auto [low, high] = std::minmax_element(first.begin(), first.begin() + 100);
  CHECK(*low >= -1);
  CHECK(*low < -0.8);
  CHECK(*high > 0.8);
  CHECK(*high <= 1);
  CHECK(generate::stream_of(job, 1, 0) != generate::stream_of(job, 1, 1));
}

TEST_CASE("inputs are drawn from the range of their array") {
  generate::GpuJob job = two_arrays();
  job.arrays[0].low = 1;
  job.arrays[0].high = 8;
  const auto dram = generate::drawn_dram(job, 1, 0);
  const auto [low, high] = std::minmax_element(dram.begin(), dram.begin() + 100);
  CHECK(*low >= 1);
  CHECK(*low < 2);
  CHECK(*high > 7);
  CHECK(*high <= 8);
}

TEST_CASE("numbers of 16 bits have their values") {
  const std::uint16_t bits[] = {0x3f80, 0xc000, 0x0001, 0x7f80};  // as bf16, and as fp16
  std::byte bytes[sizeof bits];
  std::memcpy(bytes, bits, sizeof bits);
  const auto bf16 = generate::numbers_of(ElementType::kBf16, bytes);
  CHECK(bf16[0] == 1);
  CHECK(bf16[1] == -2);
  CHECK(bf16[2] == 0x1p-133);
  CHECK(std::isinf(bf16[3]));
  const auto fp16 = generate::numbers_of(ElementType::kFp16, bytes);
  CHECK(fp16[0] == 1.875);
  CHECK(fp16[1] == -2);
  CHECK(fp16[2] == 0x1p-24);
  CHECK(std::isnan(fp16[3]));
}

}  // namespace flashlab::test
