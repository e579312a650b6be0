#include "generate/run/drawn_inputs.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "toymachine/execute/dram.hpp"

namespace flashlab::generate {
namespace {

std::uint64_t scrambled(std::uint64_t x) {  // SplitMix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

double half_number(std::uint16_t bits, bool is_bf16) {
  if (is_bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(fraction + 0x400, exponent - 25);
}

template <class Number>
Number number_in(std::span<const std::byte> bytes, std::size_t index) {
  Number number;
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

}  // namespace

std::uint64_t stream_of(const GpuJob& job, int call, std::size_t array) {
  const std::uint64_t of_call =
      scrambled(job.seed + kGolden * static_cast<std::uint64_t>(call + 1));
  return scrambled(of_call + kGolden * (array + 1));
}

float drawn_number(std::uint64_t stream, std::int64_t element) {
  const std::uint64_t x = scrambled(stream + static_cast<std::uint64_t>(element) * kGolden);
  return static_cast<float>(static_cast<int>(x >> 40) - (1 << 23)) * 0x1p-23f;
}

float drawn_in_range(const JobArray& array, float number) {
  const DrawnRange range = drawn_range(array);
  const float product = range.half * number;  // rounded, as on the GPU
  return range.middle + product;
}

DrawnRange drawn_range(const JobArray& array) {
  return {static_cast<float>((array.low + array.high) / 2),
          static_cast<float>((array.high - array.low) / 2)};
}

std::vector<double> drawn_dram(const GpuJob& job, int call, std::int64_t problem) {
  std::vector<double> dram;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const JobArray& array = job.arrays[a];
    if (array.role != toy::ArrayRole::kInput) {
      dram.insert(dram.end(), static_cast<std::size_t>(array.elements),
                  std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const std::uint64_t stream = stream_of(job, call, a);
    for (std::int64_t i = 0; i < array.elements; ++i) {
      const float number = drawn_number(stream, problem * array.elements + i);
      dram.push_back(toy::round_to(array.type, drawn_in_range(array, number)));
    }
  }
  return dram;
}

double rounding_unit(toy::ElementType type) {
  switch (type) {
    case toy::ElementType::kFloat:
      return 0x1p-24;
    case toy::ElementType::kDouble:
      return 0x1p-53;
    case toy::ElementType::kBf16:
      return 0x1p-8;
    case toy::ElementType::kFp16:
      return 0x1p-11;
  }
  return 0;
}

std::vector<double> numbers_of(toy::ElementType type, std::span<const std::byte> bytes) {
  std::vector<double> numbers(bytes.size() / static_cast<std::size_t>(toy::element_bytes(type)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    switch (type) {
      case toy::ElementType::kFloat:
        numbers[i] = number_in<float>(bytes, i);
        break;
      case toy::ElementType::kDouble:
        numbers[i] = number_in<double>(bytes, i);
        break;
      case toy::ElementType::kBf16:
      case toy::ElementType::kFp16:
        numbers[i] =
            half_number(number_in<std::uint16_t>(bytes, i), type == toy::ElementType::kBf16);
        break;
    }
  }
  return numbers;
}

}  // namespace flashlab::generate
