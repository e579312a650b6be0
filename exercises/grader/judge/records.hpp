// What a program does better than the exercise's solution, or than full marks ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// The key of RegisterUse among costs.
inline constexpr std::string_view kRegisters = "registers";

/// A count that is better than another program's.
struct Record {
  std::string key;      // of a cost, or kRegisters
  toy::Count value;     // the submission's
  toy::Count beaten;    // what it is below
  bool is_of_solution;  // whether `beaten` is the solution's; else it is the limit of full marks
};

/// Returns the records of a verdict with full marks; of other verdicts none. The solution is named
/// before the limit.
std::vector<Record> records_of(const Verdict& verdict);

/// Returns "174 cycles: one fewer than our solution." Empty if there are no records.
std::string record_sentence(const Verdict& verdict);

/// Returns "174 cycles", "1 load of k", "83 µs": a count with what it counts. Keys that end in _ns are
/// times.
std::string count_words(std::string_view key, const toy::Count& value);

/// Returns what a key counts: "cycles", "loads of k", "DRAM bytes", "predicted time".
std::string counted_things(std::string_view key);

}  // namespace flashlab::exercises
