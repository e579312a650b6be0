// The cheapest program for a matrix product, and the proof that there is no cheaper one.
//
// A* over the states of optimal/detail/product_states.hpp, one of each class of symmetric states,
// after a beam search whose program bounds the answer from above. What a program may do, and why no
// other program need be looked at, is argued there; plain_search() checks it without the arguments.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "optimal/matrix_product.hpp"

namespace flashlab::optimal {

struct Progress {
  std::uint64_t states = 0;  // reached
  double seconds = 0;
  double states_per_s = 0;
  std::int64_t lower_cycles = 0;             // no program costs less
  std::optional<std::int64_t> upper_cycles;  // of the best program so far
  std::size_t bytes = 0;
};

struct SolveLimits {
  std::size_t max_bytes = std::size_t{8} << 30;
  double max_seconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;  // set by another thread or a signal: stop soon
  double progress_every_s = 1;
  std::function<void(const Progress&)> progress;
  std::size_t beam_width = 500;  // states that the search for a first program keeps; 0: none
};

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
  std::int64_t lower_cycles = 0;   // meaningless when infeasible
  std::optional<Witness> program;  // the cheapest that is known
  std::uint64_t states = 0;        // reached, the beam's not counted
  double seconds = 0;
  std::size_t bytes = 0;  // that the search held at its end
};

/// Errors: std::invalid_argument for sizes below 1, products whose states do not fit 64 bits (as
/// 3 x 4 x 4 with spills), and costs of LOAD and STORE too far apart to add up in 32 bits.
Answer solve(const MatrixProduct& product, const ProductMachine& machine,
             const SolveLimits& limits = {});

}  // namespace flashlab::optimal
