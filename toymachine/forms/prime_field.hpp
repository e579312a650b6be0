// Arithmetic modulo the three primes at which normal forms are evaluated.
//
// A form is evaluated modulo the first prime. Its exponentials need a homomorphism e^(a + b) =
// e^a e^b from sums to products: g^exponent, with the exponent modulo the order of g. The second
// prime is therefore the order of a g modulo the first prime, and the third is the order of a g
// modulo the second.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace flashlab::toy::detail {

inline constexpr std::size_t kNumFields = 3;
inline constexpr std::array<std::uint64_t, kNumFields> kPrimes{
    6485183463413142781U,  // 60 * the next + 1
    108086391056885713U,   // 48 * the next + 1
    2251799813685119U};
/// The order of each generator is the next prime.
inline constexpr std::array<std::uint64_t, kNumFields - 1> kGenerators{std::uint64_t{1} << 60,
                                                                       std::uint64_t{1} << 48};

constexpr std::uint64_t times(std::size_t field, std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % kPrimes[field]);
}

constexpr std::uint64_t plus(std::size_t field, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;  // below 2^64: the primes are below 2^63
  return sum >= kPrimes[field] ? sum - kPrimes[field] : sum;
}

constexpr std::uint64_t power(std::size_t field, std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = times(field, result, base);
    base = times(field, base, base);
  }
  return result;
}

/// The inverse of 0 is 0.
constexpr std::uint64_t inverse(std::size_t field, std::uint64_t a) {
  return a == 1 ? 1 : power(field, a, kPrimes[field] - 2);
}

/// Computes g^exponent from a table, with one multiplication for every four bits of the exponent.
class GeneratorPowers {
 public:
  constexpr explicit GeneratorPowers(std::size_t field) : field_(field) {
    std::uint64_t base = kGenerators[field];
    for (auto& digits : table_) {
      digits[0] = 1;
      for (std::size_t i = 1; i < digits.size(); ++i) digits[i] = times(field, digits[i - 1], base);
      base = times(field, digits.back(), base);
    }
  }
  constexpr std::uint64_t operator()(std::uint64_t exponent) const {
    std::uint64_t result = 1;
    for (std::size_t i = 0; exponent != 0; ++i, exponent >>= 4) {
      if ((exponent & 15) != 0) result = times(field_, result, table_[i][exponent & 15]);
    }
    return result;
  }

 private:
  std::size_t field_;
  std::array<std::array<std::uint64_t, 16>, 16> table_{};
};

inline constexpr std::array<GeneratorPowers, kNumFields - 1> kGeneratorPowers{GeneratorPowers(0),
                                                                              GeneratorPowers(1)};

static_assert(power(0, kGenerators[0], kPrimes[1]) == 1 && kGenerators[0] != 1);
static_assert(power(1, kGenerators[1], kPrimes[2]) == 1 && kGenerators[1] != 1);

/// Mixes two words into one, each bit of which depends on all bits of both
/// (splitmix64's finalizer).
constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15U + b + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Returns a field value that represents some content; never 0.
constexpr std::uint64_t pseudo_random(std::size_t field, std::uint64_t hash) {
  return mixed(hash, field) % (kPrimes[field] - 1) + 1;
}

}  // namespace flashlab::toy::detail
