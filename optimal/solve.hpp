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
#include <stdexcept>
#include <string>

#include "optimal/matrix_product.hpp"
#include "optimal/program_frame.hpp"
#include "optimal/standing.hpp"

namespace flashlab::optimal {

struct Progress {
  std::uint64_t states = 0;  // reached
  double seconds = 0;
  double states_per_s = 0;
  std::int64_t lower_cycles = 0;             // no program costs less
  std::optional<std::int64_t> upper_cycles;  // of the best program so far
  std::size_t bytes = 0;
  /// What is left, if the states that are open and not above the upper bound go on becoming fewer
  /// as fast as lately: a rough estimate, and nothing while they do not become fewer.
  std::optional<double> seconds_left;
};

struct SolveLimits {
  std::size_t max_bytes = std::size_t{8} << 30;
  double max_seconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;  // set by another thread or a signal: stop soon
  double progress_every_s = 1;
  std::function<void(const Progress&)> progress;
  std::size_t beam_width = 500;  // states that the search for a first program keeps; 0: none
  unsigned jobs = 1;             // threads; the answer is the same for every number
  /// A file that the search is written to when it ends early, and now and then before; where it is
  /// there already, the search goes on from it, to the same answer. Empty: none. It is removed when
  /// the search has finished. A beam search that is cut short leaves none.
  std::string checkpoint;
  double checkpoint_every_s = 60;
};

/// A checkpoint that cannot be written or read, is damaged, or is another search's.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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
  std::int64_t lower_cycles = 0;             // meaningless when infeasible
  std::optional<std::int64_t> upper_cycles;  // the cheapest known
  std::optional<Witness> program;            // that costs so much: only for a start from nothing
  std::uint64_t states = 0;                  // reached, the beam's not counted
  double seconds = 0;                        // of this run, whatever a checkpoint's took
  std::size_t bytes = 0;                     // that the search held at its end
};

/// The cheapest completion from where a program stands, all cycles being those that remain; from
/// nothing, the cheapest program. Sums in DRAM other than finished ones in their cells are of use
/// only to a machine that allows spills. `frame` is the program's: by default product_frame().
/// Errors: std::invalid_argument for sizes below 1, products whose states do not fit 64 bits (as
/// 3 x 4 x 4 with spills), costs too far apart to add up in 30 bits, and for a
/// standing that the machine cannot have, or with too many sums to choose from.
Answer solve(const MatrixProduct& product, const ProductMachine& machine,
             const SolveLimits& limits = {}, const ProductStanding& from = {},
             const ProgramFrame& frame = {});

}  // namespace flashlab::optimal
