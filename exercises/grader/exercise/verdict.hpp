// The result of grading a submission. Every output format (terminal, JSON, JUnit, Gradescope, CSV,
// HTML) is made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/proven.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::exercises {

/// From best to worst.
enum class Outcome : std::uint8_t {
  kFull,        // right, for all points
  kCostly,      // right, but it costs more than full marks allow
  kPartial,     // questions: some answers are right
  kTooCostly,   // right where it was run, but at a cost that the exercise does not accept
  kWrong,       // a wrong result, or an error in the run
  kRejected,    // it does not assemble, or does not fit the machine or the exercise
  kLimit,       // too long, too large, too many steps
  kUnreadable,  // not a regular file, or changed while it was read
  kCrashed,     // the grader itself crashed on the submission
};
std::string_view to_string(Outcome outcome);
/// Returns whether the submission is right, at a cost that is accepted.
constexpr bool passes(Outcome outcome) { return outcome <= Outcome::kCostly; }

/// What a sentence of a finding states about the program: a statement that can be checked at other
/// sizes and on other inputs than those it was found with.
struct Claim {
  enum class Kind : std::uint8_t {
    kRight,      // the program `text` is right
    kMoreRight,  // of the program `text`, more outputs are right
    kValues,     // with values of the solution's line `other_line`, the program is right
    kRemark,     // `name` is a remark on the run that holds of `line` and, if not empty, `text`
    kRatio,      // every element of the output `name` is `text` times what it should be
    kTerms,      // terms of the output `name` are `text`: missing, or too many
    kNoRounds,   // the loop in `line` runs no round once, unlike the solution's
    kUndefined,  // a result of `line` is NaN or +inf, made of the values `text`
  };
  Kind kind = Kind::kRight;
  std::uint32_t line = 0, other_line = 0;
  std::string name, text;
};

/// A message to the learner. Texts are UTF-8 without control characters, even if the submission has
/// some. `details` are lines that are shown unchanged.
struct Finding {
  std::string what;                  // one sentence
  std::vector<std::string> details;  // the source line and caret, what was expected, a state
  std::uint32_t line = 0;            // of the submission; 0: none
  std::uint64_t step = 0;            // of the run on `inputs`; 0: none
  std::string inputs;                // "n = 2, random inputs"; may be empty
  bool is_about_cost = false;        // of a program with right results
  std::vector<Claim> claims = {};    // what `details` state; not part of a report
};

/// Messages of checks that were skipped after an earlier failure.
inline constexpr const char* kNotRun = "not run";
inline constexpr const char* kNotCounted = "not counted";

/// One row of a report: the results at one size, a cost, or a question.
struct Check {
  std::string name;  // "results at n = 8", "cycles", "kv_loads"
  bool passed = false;
  double points = 0, max_points = 0;
  std::string message;  // one line; empty if it passed without a remark
};

/// A counter at the largest public size.
struct CostLine {
  std::string key;  // "cycles"
  toy::Count value;
  toy::Count full;      // for all points
  toy::Count solution;  // of the exercise's solution
  toy::Count naive;     // this cost earns no points
  double share = 1;     // of its points: the minimum over all sizes, drawn sizes included

  /// Whether it is more than full marks allow, at this size or at a drawn one.
  bool is_dear() const { return share < 1 || value > full; }
};

/// Loads of one line of the program, over all its executions.
struct LoadLine {
  std::uint32_t line = 0;
  toy::Count compulsory;  // first loads of the values that the order of operations needs
  toy::Count forced;      // further loads that the best schedule of that order also makes
  toy::Count avoidable;   // loads that the best schedule does not make
  std::string why;        // how the first avoidable load could be saved; empty: none
};

/// The cost of the submission's own order of operations and stores with an optimal placement of
/// loads (optimal/products/load_schedule.hpp), at one size.
struct OrderCost {
  toy::Count cycles;         // of its operations and stores, and the optimal loads
  toy::Count loads;          // of the optimal schedule
  toy::Count copy_cycles;    // of the submission's copies; an unrolled program needs none
  toy::Count unused_cycles;  // of results that no output depends on
};

/// A size with a proof, or the size at which costs are counted.
struct SizeScore {
  Size size;
  toy::Count cycles, loads;         // the submission's
  std::optional<OrderCost> order;   // nothing: Verdict::order_unknown says why
  std::optional<ProvenSize> proof;  // without its program, because that is a solution

  /// Returns whether something beyond the floor is proved.
  bool is_searched() const { return proof && proof->verdict != ProofVerdict::kNotSearched; }
  /// Returns whether it is proved that no program is cheaper.
  bool is_best() const {
    return proof && proof->verdict == ProofVerdict::kOptimal && cycles == proof->at_most_cycles;
  }
  /// Returns whether the cost is below the proved bound. Then the submission is outside the class
  /// of programs that the proof is about (ProvenSize::allowed).
  bool is_beyond_proof() const { return is_searched() && cycles < proof->at_least_cycles; }
};

/// The DRAM traffic of a program at each size of a ranking.
struct RankedTraffic {
  std::string name;  // of a program of the exercise; empty: the submission
  std::vector<toy::Count> bytes;
};

/// The submission beside the exercise's programs, at sizes that were drawn.
struct Ranking {
  std::vector<Size> sizes;
  std::vector<RankedTraffic> programs;  // most bytes first, by the sum over the sizes
  /// Every input read once and every result written once: no program moves fewer bytes.
  std::vector<toy::Count> lower_bound;
};

/// The most registers that hold values still to be read, at one point of a program
/// (toy::peak_registers).
struct RegisterUse {
  std::int64_t value = 0;     // the submission's
  std::int64_t solution = 0;  // of the exercise's solution
};

struct Verdict {
  Outcome outcome = Outcome::kUnreadable;
  double points = 0, max_points = 0;
  std::vector<Check> checks;
  std::vector<Finding> findings;         // the most important first; may be empty
  std::vector<CostLine> costs;           // right results only
  Size size;                             // at which the costs were counted
  std::optional<RegisterUse> registers;  // at `size`; of exercises that limit registers
  std::vector<SizeScore> scores;   // right programs only; smallest size first, the last is `size`
  std::vector<LoadLine> loads;     // lines that load, at `size`, in program order
  std::string order_unknown;       // why the order's minimum cost is not known; may be empty
  std::optional<Ranking> ranking;  // right programs of exercises with counted sizes

  bool passed() const { return passes(outcome); }
};

}  // namespace flashlab::exercises
