// What is proved about an exercise's cheapest programs: proven.json in its folder, which
// `flashlab exercises prove` writes and every score is shown beside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

enum class ProofVerdict : std::uint8_t {
  kOptimal,      // at_least_cycles == at_most_cycles, the witness accepted at this size
  kBounded,      // the search ended early, or its program is not one that the exercise accepts
  kNotSearched,  // too large for the solver: at_least_cycles is the floor
};
/// "optimal", "bounded", "not searched".
std::string_view to_string(ProofVerdict verdict);

/// One size of an exercise. Cycles are those of the default cost table.
struct ProvenSize {
  Size size;
  ProofVerdict verdict = ProofVerdict::kNotSearched;
  std::string computation;  // what the solver was given, "2x2x2"; empty when it was given nothing
  std::string allowed;      // which programs the proof is about, as a sentence's middle
  toy::Count floor_loads, floor_cycles;     // compulsory: what any program at all must spend
  toy::Count at_least_cycles;               // proved
  toy::Count at_most_cycles;                // of `program`, or of the exercise's solution
  std::optional<toy::Count> loads, stores;  // of `program`
  std::string program;                      // that takes at_most_cycles; empty: the solution does
  std::string programs;                     // how many optimal ones there are; empty: not counted
  std::string programs_up_to_symmetry;      // the same, symmetric ones taken as one
  std::uint64_t states = 0;                 // that the search reached
  double seconds = 0;                       // that it took
};

struct Proven {
  std::string command;            // that made it
  std::string task;               // SHA-256 of what was proved about, see proven_task()
  std::vector<ProvenSize> sizes;  // one for each size of the exercise, in its order

  /// Null when there is none.
  const ProvenSize* at(const Size& size) const;
  /// Whether the sizes are the task's, and what was proved is still what the exercise asks for.
  bool in_step_with(const ProgramTask& task) const;
};

/// SHA-256 of all that a proof depends on: machine, arrays, sizes, checked outputs, what is
/// accepted, and the texts of reference and solution. 64 hexadecimal digits.
std::string proven_task(const ProgramTask& task);

/// Errors, each with its place ("sizes[1].at_least_cycles"; line and column where the text is no
/// JSON): another format or version, a key that is missing, unknown or there twice, a count that is
/// none, bounds that cross, "optimal" where they do not meet.
toy::Result<Proven> parse_proven(const std::string& text);
/// {"format": "flashlab-proven", "version": 1, "command": …, "task": …, "sizes": […]}, a line a
/// size but for its program, which is a list of lines. Counts above 2^53 are strings; those of
/// programs are always. What a size does not have is left out.
std::string to_json(const Proven& proven);

}  // namespace flashlab::exercises
