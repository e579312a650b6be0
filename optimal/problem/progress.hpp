// The state of a partly executed program: what its registers and its DRAM hold, as far as
// it is useful.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::optimal {

/// For a matrix product. A partial sum may be in several places, and an output may have
/// several partial sums.
struct ProductProgress {
  enum class Kind : std::uint8_t { kNothing, kInput, kSum };  // kNothing: useless content
  struct Content {
    Kind kind = Kind::kNothing;
    int item = 0;             // number of the input or the output
    std::uint64_t terms = 0;  // for a sum: bit p for a_ip b_pj; never 0
  };
  std::vector<Content> registers;  // by register; missing registers hold nothing
  std::vector<Content> stored;     // sums in DRAM, finished or not; their cells do not matter
  std::uint64_t finished = 0;      // one bit per output: whether its cell holds the finished sum
};

/// For a value algebra.
struct ValueProgress {
  std::vector<int> held;     // values in registers; -1 for content that is not in the algebra
  std::vector<int> scratch;  // values in scratch cells
  std::uint64_t stored = 0;  // one bit per output: whether its cell holds it
  int loads = 0;             // so far, for machines that limit them
};

}  // namespace flashlab::optimal
