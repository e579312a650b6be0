// Where a program stands: what its registers and its DRAM hold, as far as it is of use.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::optimal {

/// Of a matrix product. Partial sums may stand in several places, and several of one output.
struct ProductStanding {
  enum class Kind : std::uint8_t { kNothing, kInput, kSum };  // kNothing: of no use to anything
  struct Content {
    Kind kind = Kind::kNothing;
    int item = 0;             // the input's number, or the output's
    std::uint64_t terms = 0;  // of a sum: bit p for a_ip b_pj; never none
  };
  std::vector<Content> registers;  // by register; fewer than the machine has: the rest hold nothing
  std::vector<Content> stored;     // sums in DRAM, finished or not; where they lie does not matter
  std::uint64_t finished = 0;      // bit by output: its cell holds the finished sum
};

/// Of a value algebra.
struct ValueStanding {
  std::vector<int> held;     // values in registers; -1 for what is none of the algebra's
  std::vector<int> scratch;  // values in scratch cells
  std::uint64_t stored = 0;  // bit by output: its cell holds it
  int loads = 0;             // so far, for machines that limit them
};

}  // namespace flashlab::optimal
