// Arithmetic on 64-bit integers modulo 2^64. Binding proves that an index fits, but partial sums and
// products on the way to it may not. Their end is right all the same if they wrap.
#pragma once

#include <cstdint>

namespace flashlab::toy::detail {

constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

constexpr std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace flashlab::toy::detail
