// The options of `flashlab optimal`: a computation, machines, and the limits of the search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/optimal/computation.hpp"
#include "cli/options/options.hpp"
#include "optimal/problem/computation.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

inline constexpr int kMostProductRegisters = 64;
inline constexpr int kMostScratchCells = 8;

/// The flags as given.
struct OptimalOptions {
  ComputationOptions computation;
  std::string registers, operands, costs, most_bytes = "8GiB", witness, svg, along;
  double most_seconds = 60;  // for each machine
  std::string checkpoint;
  std::optional<int> scratch;
  unsigned jobs = 0;  // 0: one per core
  bool spills = false, times = false, no_plot = false, json = false, count = false;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
};

/// The parsed request.
struct OptimalRequest {
  optimal::Computation computation;
  bool says_allowed = false;   // whether the heading says which programs the proof is about
  std::vector<int> registers;  // ascending
  std::vector<toy::OperandRule> rules;
  toy::CostTable costs;
  std::size_t most_bytes = 0;
  std::optional<int> most_loads;               // the exercise's maximum
  int scratch_cells = 0;                       // of DRAM, for an algebra's intermediate values
  bool scratch_in_outputs = false;             // they are cells of an exercise's results
  std::map<std::string, std::int64_t> params;  // of the judged program
  std::optional<toy::Count> program_cycles;    // of the program that defines the computation

  bool is_one_machine() const { return registers.size() == 1 && rules.size() == 1; }
};
/// Parses the flags. Throws Failure for an invalid value, and for flags that contradict each other.
OptimalRequest understand(const OptimalOptions& options);

/// Returns "any", "pinned".
std::string rule_name(toy::OperandRule rule);

}  // namespace flashlab::cli
