// What `flashlab optimal` is asked: a computation, machines, and how long to search.
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

/// The flags as they were given.
struct OptimalOptions {
  ComputationOptions computation;
  std::string registers, operands, costs, most_bytes = "8GiB", witness, svg, along;
  double most_seconds = 60;  // for each machine
  std::string checkpoint;
  std::optional<int> scratch;
  unsigned jobs = 0;  // 0: one for each core
  bool spills = false, times = false, no_plot = false, json = false, count = false;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
};

/// The same, understood.
struct OptimalRequest {
  optimal::Computation computation;
  bool says_allowed = false;   // which programs the proof is about, in the heading
  std::vector<int> registers;  // ascending
  std::vector<toy::OperandRule> rules;
  toy::CostTable costs;
  std::size_t most_bytes = 0;
  std::optional<int> most_loads;               // that an exercise accepts
  int scratch_cells = 0;                       // of DRAM, for an algebra's values in between
  bool scratch_in_outputs = false;             // they are the cells of an exercise's results
  std::map<std::string, std::int64_t> params;  // of a program that is judged
  std::optional<toy::Count> program_cycles;    // of the program that says what to compute

  bool is_one_machine() const { return registers.size() == 1 && rules.size() == 1; }
};
/// Throws Failure for a value that is none, and for flags that do not go together.
OptimalRequest understand(const OptimalOptions& options);

/// "any", "pinned".
std::string rule_name(toy::OperandRule rule);

}  // namespace flashlab::cli
