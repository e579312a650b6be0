// The seeds of tests that draw what they try.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace flashlab::test {

/// Returns `own`, the seed that a test names, so that `./lab test` draws the same each time. With
/// FLASHLAB_SEED=N in the environment (`./lab test --seed N`), another seed for each N and `own`; what
/// fails then says N once.
inline std::uint64_t seeded(std::uint64_t own) {
  static const std::uint64_t given = [] {
    const char* const text = std::getenv("FLASHLAB_SEED");
    const std::uint64_t number = text == nullptr ? 0 : std::stoull(text);
    if (number != 0) std::cerr << "drawn with ./lab test --seed " << number << std::endl;
    return number;
  }();
  if (given == 0) return own;
  // SplitMix64, by Sebastiano Vigna: neighbours give seeds that have nothing in common.
  std::uint64_t mixed = given * 0x9e37'79b9'7f4a'7c15u + own;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace flashlab::test
