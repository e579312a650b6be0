// What a search found: a program, or a bound, or that there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace flashlab::optimal {

enum class Verdict : std::uint8_t {
  kOptimal,     // lower_cycles == upper_cycles
  kInfeasible,  // every state was visited and no program found
  kBounded,     // a limit or the caller ended the search
};

/// A program for the toy machine, and what it costs.
struct Witness {
  std::string text;
  std::int64_t loads = 0, stores = 0, products = 0, cycles = 0;
};

struct Answer {
  Verdict verdict = Verdict::kBounded;
  std::int64_t lower_cycles = 0;             // meaningless when infeasible
  std::optional<std::int64_t> upper_cycles;  // the cheapest known
  std::optional<Witness> program;            // that costs so much: only for a start from nothing
  std::uint64_t states = 0;                  // reached, the beam's not counted
  double seconds = 0;                        // of this run, whatever a checkpoint's took
  std::size_t bytes = 0;                     // that the search held at its end
};

}  // namespace flashlab::optimal
