// What is proved about an exercise's cheapest programs: proven.json in its folder. `flashlab
// exercises prove` writes it, and every score is shown beside it.
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
  kOptimal,      // at_least_cycles == at_most_cycles, and the grader accepts the witness
  kBounded,      // the search ended early, or the exercise does not accept its program
  kNotSearched,  // too large for the solver: at_least_cycles is floor_cycles
};
/// "optimal", "bounded", "not searched".
std::string_view to_string(ProofVerdict verdict);

/// One size of an exercise. Cycles follow the default cost table.
struct ProvenSize {
  Size size;
  ProofVerdict verdict = ProofVerdict::kNotSearched;
  std::string computation;  // the solver's input, "2x2x2"; empty: the solver was not run
  std::string allowed;      // the programs that the proof is about, as part of a sentence
  toy::Count floor_loads, floor_cycles;     // compulsory: a minimum for every program
  toy::Count at_least_cycles;               // proved
  toy::Count at_most_cycles;                // of `program`, or of the exercise's solution
  std::optional<toy::Count> loads, stores;  // of `program`
  std::string program;                      // a program of at_most_cycles; empty: the solution
  std::string programs;                     // the number of optimal programs; empty: not counted
  std::string programs_up_to_symmetry;      // the same, with symmetric programs counted once
  std::uint64_t states = 0;                 // reached by the search
  double seconds = 0;                       // duration of the search
};

struct Proven {
  std::string command;            // the command that wrote the file
  std::string task;               // SHA-256 of the task that was proved, see proven_task()
  std::vector<ProvenSize> sizes;  // one for each size of the exercise, in its order

  /// Returns the entry of a size, or null.
  const ProvenSize* at(const Size& size) const;
  /// Returns whether the sizes and the task are still those of the exercise.
  bool in_step_with(const ProgramTask& task) const;
};

/// Returns the SHA-256 of everything that a proof depends on: machine, arrays, sizes, checked
/// outputs, what is accepted, and the texts of reference and solution. 64 hexadecimal digits.
std::string proven_task(const ProgramTask& task);

/// Parses proven.json. Errors, each with its place ("sizes[1].at_least_cycles", or line and column
/// if the text is not JSON): another format or version, a missing, unknown or repeated key, an
/// invalid count, bounds that cross, "optimal" with bounds that differ.
toy::Result<Proven> parse_proven(const std::string& text);
/// Returns {"format": "flashlab-proven", "version": 1, "command": …, "task": …, "sizes": […]}, one
/// line for each size except for its program, which is a list of lines. Counts above 2^53 are
/// strings; counts of programs are always strings. Missing values are left out.
std::string to_json(const Proven& proven);

}  // namespace flashlab::exercises
