// What grading a submission comes to. Every rendering (terminal, JSON, JUnit, Gradescope, CSV,
// HTML) is made from this.
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
  kFull,        // right, at full marks
  kCostly,      // right, but it costs more than full marks allow
  kPartial,     // questions: some answers are right
  kWrong,       // a wrong result, an error while running, or more than the exercise accepts
  kRejected,    // it does not assemble, or does not fit the machine or the exercise
  kLimit,       // too long, too large, too many steps
  kUnreadable,  // no regular file, or it changed while it was read
  kCrashed,     // the grader did, on it
};
std::string_view to_string(Outcome outcome);
/// Right, whatever it costs.
constexpr bool passes(Outcome outcome) { return outcome <= Outcome::kCostly; }

/// Something said to the learner. Texts are UTF-8 without control characters, whatever was
/// submitted; `details` are lines to be shown as they are.
struct Finding {
  std::string what;                  // one sentence
  std::vector<std::string> details;  // the source line and caret, what was expected, a state
  std::uint32_t line = 0;            // of the submission; 0: none
  std::uint64_t step = 0;            // of the run on `inputs`; 0: none
  std::string inputs;                // "n = 2, random inputs"; may be empty
  bool is_about_cost = false;        // of a right program
};

/// Messages of checks that an earlier failure left out.
inline constexpr const char* kNotRun = "not run";
inline constexpr const char* kNotCounted = "not counted";

/// One row of a report: a size's results, a cost, a question.
struct Check {
  std::string name;  // "results at n = 8", "cycles", "kv_loads"
  bool passed = false;
  double points = 0, max_points = 0;
  std::string message;  // one line; empty when it passed and there is nothing to say
};

/// A counter at the largest size that everybody sees.
struct CostLine {
  std::string key;  // "cycles"
  toy::Count value;
  toy::Count full;      // for all points
  toy::Count solution;  // the exercise's own
  double share = 1;     // of its points: the least of all sizes, those that were drawn included
};

/// Loads of one line of the program, over all its executions.
struct LoadLine {
  std::uint32_t line = 0;
  toy::Count compulsory;  // first loads of what the order of operations needs
  toy::Count forced;      // that the best schedule of that order makes, too
  toy::Count avoidable;   // that it does not make
  std::string why;        // the first avoidable one could have been saved; empty: there is none
};

/// What the submission's own order of operations and stores would cost with its loads placed as
/// well as can be (optimal/products/load_schedule.hpp), at one size.
struct OrderCost {
  toy::Count cycles;         // with its operations and stores, and the best loads
  toy::Count loads;          // of that schedule
  toy::Count copy_cycles;    // the submission's copies: written out, a program needs none
  toy::Count unused_cycles;  // what it computes and stores though no output depends on it
};

/// A size at which something is proved, or the one that costs are counted at.
struct SizeScore {
  Size size;
  toy::Count cycles, loads;         // the submission's
  std::optional<OrderCost> order;   // nothing: Verdict::order_unknown says why
  std::optional<ProvenSize> proof;  // without its program: nothing here gives a solution away

  /// Something is proved beyond the floor.
  bool is_searched() const { return proof && proof->verdict != ProofVerdict::kNotSearched; }
  /// The submission costs as little as any program can, which is proved.
  bool is_best() const {
    return proof && proof->verdict == ProofVerdict::kOptimal && cycles == proof->at_most_cycles;
  }
  /// It costs less: it is none of the programs that the proof is about (ProvenSize::allowed).
  bool is_beyond_proof() const { return is_searched() && cycles < proof->at_least_cycles; }
};

struct Verdict {
  Outcome outcome = Outcome::kUnreadable;
  double points = 0, max_points = 0;
  std::vector<Check> checks;
  std::vector<Finding> findings;  // the most important first; may be empty
  std::vector<CostLine> costs;    // right results only
  Size size;                      // that the costs were counted at
  std::vector<SizeScore> scores;  // right programs only; smallest size first, the last is `size`
  std::vector<LoadLine> loads;    // lines that load, at `size`, in the program's order
  std::string order_unknown;      // why the order's own best cost is not known; may be empty

  bool passed() const { return passes(outcome); }
};

}  // namespace flashlab::exercises
