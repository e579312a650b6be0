// 16-bit floats, in every build of the kernels, against the definition of the formats.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "attention_cpu/detail/dispatch.hpp"
#include "tests/attention_cpu/half_formats.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

struct NamedFormat {
  DataType dtype;
  HalfFormat format;
};

constexpr NamedFormat kFormats[] = {{DataType::kBFloat16, kBFloat16Format},
                                    {DataType::kFloat16, kFloat16Format}};

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t k = 0; k < patterns.size(); ++k) patterns[k] = static_cast<std::uint16_t>(k);
  return patterns;
}

bool is_nan(std::uint16_t bits, const HalfFormat& format) {
  return std::isnan(value_of(bits, format));
}

/// Values around every boundary between two neighbours, and random bits.
std::vector<float> values_to_round(const HalfFormat& format) {
  std::vector<float> values;
  const int infinity = format.special_exponent() << format.fraction_bits;
  for (int bits = 0; bits < infinity; ++bits) {
    const double low = value_of(static_cast<std::uint16_t>(bits), format);
    const double high = bits + 1 < infinity
                            ? value_of(static_cast<std::uint16_t>(bits + 1), format)
                            : 2 * low - value_of(static_cast<std::uint16_t>(bits - 1), format);
    const float middle = static_cast<float>((low + high) / 2);
    for (const float value : {static_cast<float>(low), middle, std::nextafter(middle, 0.0f),
                              std::nextafter(middle, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  for (const float value : {INFINITY, -INFINITY, 3.4028235e38f, -3.4028235e38f, 1e-45f, -1e-45f}) {
    values.push_back(value);
  }
  std::mt19937 random(flashlab::test::seeded(16));
  for (int k = 0; k < 200'000; ++k) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
  return values;
}

std::vector<std::uint16_t> stored(const cpu::detail::KernelTable& kernels, DataType dtype,
                                  const std::vector<float>& values) {
  std::vector<std::uint16_t> bits(values.size());
  kernels.store_floats(values.data(), std::ssize(values), bits.data(), dtype, 1);
  return bits;
}

}  // namespace

TEST_CASE("all 65536 patterns of a 16-bit float load exactly", "[half]") {
  const std::vector<std::uint16_t> patterns = all_patterns();
  std::vector<float> floats(patterns.size());
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    for (const auto& [dtype, format] : kFormats) {
      INFO(to_string(set) << ", " << to_string(dtype));
      cpu::detail::kernels_for(set).load_floats(patterns.data(), dtype, 1, 65536, floats.data());
      int num_wrong = 0;
      for (std::size_t k = 0; k < patterns.size(); ++k) {
        const float expected = static_cast<float>(value_of(patterns[k], format));
        num_wrong += std::isnan(expected) ? !std::isnan(floats[k])
                                          : std::bit_cast<std::uint32_t>(expected) !=
                                                std::bit_cast<std::uint32_t>(floats[k]);
      }
      CHECK(num_wrong == 0);
    }
  }
}

TEST_CASE("a float is stored as the nearest 16-bit float, ties to even", "[half]") {
  for (const auto& [dtype, format] : kFormats) {
    const std::vector<float> values = values_to_round(format);
    std::vector<std::uint16_t> expected;
    for (const float value : values) expected.push_back(nearest(value, format));
    for (const cpu::InstructionSet set : cpu::instruction_sets()) {
      INFO(to_string(set) << ", " << to_string(dtype));
      const std::vector<std::uint16_t> bits = stored(cpu::detail::kernels_for(set), dtype, values);
      int num_wrong = 0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const bool right = std::isnan(values[k]) ? is_nan(bits[k], format) : bits[k] == expected[k];
        if (!right && num_wrong++ == 0) UNSCOPED_INFO("first wrong: " << values[k]);
      }
      CHECK(num_wrong == 0);
    }
  }
}

TEST_CASE("16-bit floats are read and written at any stride", "[half]") {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    for (const auto& [dtype, format] : kFormats) {
      for (const std::int64_t stride : {-3, -1, 2, 5}) {
        INFO(to_string(set) << ", " << to_string(dtype) << ", stride " << stride);
        std::vector<std::uint16_t> memory(2 * 40 * 5 + 1, 0x1234);
        std::uint16_t* const origin = memory.data() + 40 * 5;
        std::vector<float> values(40), back(40);
        for (int k = 0; k < 40; ++k) values[static_cast<std::size_t>(k)] = static_cast<float>(k);
        const cpu::detail::KernelTable& kernels = cpu::detail::kernels_for(set);
        kernels.store_floats(values.data(), 40, origin, dtype, stride);
        kernels.load_floats(origin, dtype, stride, 40, back.data());
        CHECK(back == values);
        CHECK(std::count(memory.begin(), memory.end(), 0x1234) == std::ssize(memory) - 40);
      }
    }
  }
}

TEST_CASE("the definition of the formats agrees with known values", "[half]") {
  CHECK(value_of(0x3c00, kFloat16Format) == 1);
  CHECK(value_of(0x7bff, kFloat16Format) == 65504);
  CHECK(value_of(0x0001, kFloat16Format) == 0x1p-24);
  CHECK(value_of(0xbf80, kBFloat16Format) == -1);
  CHECK(value_of(0x0001, kBFloat16Format) == 0x1p-133);
  CHECK(nearest(65519.9, kFloat16Format) == 0x7bff);
  CHECK(nearest(65520, kFloat16Format) == 0x7c00);
  CHECK(nearest(1 + 0x1p-11, kFloat16Format) == 0x3c00);
  CHECK(nearest(1 + 3 * 0x1p-11, kFloat16Format) == 0x3c02);
  CHECK(nearest(0x1p-25, kFloat16Format) == 0);
  CHECK(nearest(0x1.8p-25, kFloat16Format) == 1);
}
