// What `flashlab optimal` is asked: a computation, machines, and how long to search.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "cli/options.hpp"
#include "optimal/matrix_product.hpp"
#include "optimal/value_algebra.hpp"

namespace flashlab::cli {

/// "2x2x2", "dot:8" (a product of 1 x 8 and 8 x 1), "sum:4", "max:4", "softmax:2".
struct Computation {
  std::string name;
  std::variant<optimal::MatrixProduct, optimal::ValueAlgebra> what;

  /// Null where it is a sum, a maximum, a softmax.
  const optimal::MatrixProduct* product() const {
    return std::get_if<optimal::MatrixProduct>(&what);
  }
};
/// Throws Failure for what is none of these, or has a size that is not from 1 to what fits.
Computation parse_computation(const std::string& text);

/// The flags as they were given.
struct OptimalOptions {
  std::string computation, registers, operands = "any", costs, most_bytes = "8GiB", witness;
  double most_seconds = 60;  // for each machine
  bool spills = false, times = false, no_plot = false, json = false;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
};

/// The same, understood.
struct OptimalRequest {
  Computation computation;
  std::vector<int> registers;  // ascending
  std::vector<toy::OperandRule> rules;
  toy::CostTable costs;
  std::size_t most_bytes = 0;

  bool is_one_machine() const { return registers.size() == 1 && rules.size() == 1; }
};
/// Throws Failure for a value that is none, and for flags that do not go together.
OptimalRequest understand(const OptimalOptions& options);

/// "any", "pinned".
std::string rule_name(toy::OperandRule rule);

}  // namespace flashlab::cli
