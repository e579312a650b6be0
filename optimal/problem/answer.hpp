// The result of a search: a program, a bound, or the proof that no program exists.
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
  /// Costs upper_cycles. Empty if the search started from a partly executed program.
  std::optional<Witness> program;
  std::uint64_t states = 0;  // reached, not counting the beam search's
  double seconds = 0;        // of this run; not of the runs that it resumes
  std::size_t bytes = 0;     // held by the search at its end
};

}  // namespace flashlab::optimal
