// The searches of `flashlab optimal`.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cli/optimal/options.hpp"
#include "cli/optimal/text.hpp"

namespace flashlab::cli {

struct SearchWatch {
  const std::atomic<bool>* cancel = nullptr;  // true soon ends the search; null: never
  /// Called occasionally with the machine ("4 registers, operands any") and the search's state.
  std::function<void(const std::string& machine, const optimal::Progress&)> progress;
};

/// Solves by registers, then by rule. Returns fewer results after a cancellation. Throws Failure.
std::vector<Solved> solve_all(const OptimalRequest& request, const OptimalOptions& options,
                              const SearchWatch& watch);

}  // namespace flashlab::cli
