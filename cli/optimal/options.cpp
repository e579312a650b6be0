#include "cli/optimal/options.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

constexpr int kMostValueRegisters = 16;

std::vector<int> parse_registers(const std::string& text, bool is_product) {
  const int most = is_product ? kMostProductRegisters : kMostValueRegisters;
  const std::string all = is_product ? "2..8" : "2..6";
  std::vector<int> result;
  for (const std::int64_t value : parse_values("registers", text.empty() ? all : text)) {
    if (value < 1 || value > most) {
      throw request_failure(
          std::to_string(value) + " registers are outside the range of the solver",
          "1 to " + std::to_string(most) + " for this computation");
    }
    result.push_back(static_cast<int>(value));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// --along judges a program on one machine and excludes other tasks.
void check_along(const OptimalOptions& options, const OptimalRequest& request) {
  if (options.along.empty()) return;
  const std::pair<bool, const char*> others[] = {{!options.witness.empty(), "--witness"},
                                                 {!options.svg.empty(), "--svg"},
                                                 {options.count, "--count"},
                                                 {options.scratch.value_or(0) > 0, "--scratch"},
                                                 {options.times, "--times"}};
  for (const auto& [is_given, flag] : others) {
    if (!is_given) continue;
    throw request_failure(std::string(flag) + " does not go with --along", "one of the two");
  }
  if (request.rules.size() > 1 || (!options.registers.empty() && request.registers.size() > 1)) {
    throw request_failure("--along judges a program on one machine, but several are requested",
                          "one number of registers and one rule, or those of the program");
  }
}

/// Only the search supports cells for intermediate values.
void check_scratch(const OptimalOptions& options, const OptimalRequest& request) {
  if (options.scratch && request.computation.product() != nullptr) {
    throw request_failure("--scratch does not apply to " + in_quotes(request.computation.name),
                          "--scratch with a computation that is not a product; --spills for a "
                          "product's partial sums");
  }
  if (options.count && request.scratch_cells > 0) {
    throw request_failure("--count counts programs that store nothing but results",
                          "--scratch 0, or no --count");
  }
}

/// Sets the requested number, or that of the exercise.
void set_scratch(const OptimalOptions& options, std::int64_t of_exercise, OptimalRequest& request) {
  if (options.scratch) {
    request.scratch_cells = *options.scratch;
  } else if (of_exercise > 0 && options.along.empty()) {
    if (of_exercise > kMostScratchCells) {
      throw request_failure(
          request.computation.name + ": " + std::to_string(of_exercise) +
              " cells of results may hold other values first, too many for the solver",
          std::to_string(kMostScratchCells) +
              " at most; --scratch 0 for programs that store nothing but results");
    }
    request.scratch_cells = static_cast<int>(of_exercise);
    request.scratch_in_outputs = true;
  }
}

/// Checks that the flags fit the computation and each other.
void check_flags(const OptimalOptions& options, const OptimalRequest& request) {
  if (const auto* product = request.computation.product()) {
    if (options.spills && optimal::product_bits(*product, true) > optimal::kMostProductBits) {
      throw request_failure(
          in_quotes(request.computation.name) + " is too large for the solver",
          "rows x inner x columns, plus the elements of A and B, and with --spills those of C: at "
          "most " +
              std::to_string(optimal::kMostProductBits) + " together");
    }
  } else if (options.spills || (!options.operands.empty() && options.operands != "any")) {
    throw request_failure((options.spills ? "--spills" : "--operands " + options.operands) +
                              std::string(" does not apply to ") +
                              in_quotes(request.computation.name),
                          "it with a product: 2x2x2, dot:8");
  }
  if (!options.checkpoint.empty() && !request.is_one_machine()) {
    throw request_failure("--checkpoint keeps one search, but several are requested",
                          "one number of registers and one rule: --registers 4 --operands any");
  }
  check_along(options, request);
  check_scratch(options, request);
  if (options.svg == "-") {
    throw request_failure("--svg - would mix with the table on standard output", "a file");
  }
  if (options.witness.empty()) return;
  if (!request.is_one_machine()) {
    throw request_failure("--witness writes one program, but several are requested",
                          "one number of registers and one rule: --registers 4 --operands any");
  }
  if (options.json && options.witness == "-") {
    throw request_failure("--json and --witness - both write to standard output",
                          "one of them, or a file");
  }
}

}  // namespace

OptimalRequest understand(const OptimalOptions& options) {
  OptimalRequest request;
  ComputationOptions wanted = options.computation;
  if (wanted.name.empty() && wanted.exercise.empty()) wanted.name = options.along;  // its own task
  AskedComputation asked = asked_computation(wanted);
  request.computation = std::move(asked.computation);
  request.says_allowed = !asked.is_named;
  request.most_loads = asked.most_loads;
  request.params = asked.params;
  set_scratch(options, asked.scratch_cells, request);
  std::string registers = options.registers;
  if (registers.empty() && asked.registers) registers = std::to_string(*asked.registers);
  request.registers = parse_registers(registers, request.computation.product() != nullptr);
  const std::string operands = !options.operands.empty() ? options.operands
                               : asked.operands          ? rule_name(*asked.operands)
                                                         : "any";
  if (operands != "pinned") request.rules.push_back(toy::OperandRule::kAny);
  if (operands != "any") request.rules.push_back(toy::OperandRule::kPinned);
  value_or_fail(request.costs.parse(options.costs));
  if (asked.program) {
    const auto executions = value_or_fail(toy::count_executions(*asked.program));
    request.program_cycles = toy::count(*asked.program, executions, request.costs).cycles;
  }
  request.most_bytes = parse_memory(options.most_bytes);
  check_flags(options, request);
  return request;
}

std::string rule_name(toy::OperandRule rule) {
  return rule == toy::OperandRule::kPinned ? "pinned" : "any";
}

}  // namespace flashlab::cli
