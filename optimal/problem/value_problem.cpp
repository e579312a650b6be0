#include "optimal/problem/value_problem.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {
namespace {

std::int64_t checked_cost(const toy::CostTable& costs, std::string_view mnemonic) {
  const std::int64_t cycles = scalar_cycles(costs, mnemonic);
  if (cycles > kMaxMoveCost) throw std::invalid_argument("an instruction costs too much to add up");
  return cycles;
}

}  // namespace

ValueProblem::ValueProblem(const ValueAlgebra& algebra, const ValueMachine& machine)
    : algebra_(algebra),
      machine_(machine),
      load_(checked_cost(machine.costs, "LOAD")),
      store_(checked_cost(machine.costs, "STORE")) {
  check();
  const auto count = static_cast<std::size_t>(algebra.num_values);
  makers_.resize(count);
  by_last_operand_.resize(count);
  is_input_.assign(count, false);
  output_bits_.assign(count, 0);
  for (const int input : algebra.inputs) is_input_[index(input)] = true;
  for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
    output_bits_[index(algebra.outputs[i])] |= std::uint32_t{1} << i;
    all_outputs_ |= std::uint32_t{1} << i;
  }
  find_order();
  for (std::size_t output = 0; output < algebra.outputs.size(); ++output) find_ways(output);
  keep_useful();
}

void ValueProblem::check() const {
  if (machine_.registers < 1 || machine_.scratch_cells < 0) {
    throw std::invalid_argument("a machine has at least one register");
  }
  if (machine_.registers > kMostRegisters || machine_.scratch_cells > kMostScratch ||
      algebra_.num_values >= ValueSet::kMostValues || algebra_.outputs.size() > kMostOutputs) {
    throw std::invalid_argument("the solver has room for " + std::to_string(kMostRegisters) +
                                " registers, " + std::to_string(kMostScratch) + " scratch cells, " +
                                std::to_string(kMostOutputs) + " outputs and " +
                                std::to_string(ValueSet::kMostValues - 1) + " values");
  }
  const auto is_value = [&](int value) { return value >= 0 && value < algebra_.num_values; };
  bool are_values = std::all_of(algebra_.inputs.begin(), algebra_.inputs.end(), is_value) &&
                    std::all_of(algebra_.outputs.begin(), algebra_.outputs.end(), is_value);
  for (const ValueOperation& operation : algebra_.operations) {
    are_values = are_values && is_value(operation.result);
    for (const int operand : operation.operands) {
      are_values = are_values && (operand == kNoValue || is_value(operand));
    }
  }
  if (!are_values) throw std::invalid_argument("an algebra's value has a number that it lacks");
}

void ValueProblem::find_order() {
  order_ = algebra_.inputs;
  std::sort(order_.begin(), order_.end());
  order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
  std::vector<bool> made = is_input_;
  const auto is_made = [&](int value) { return value == kNoValue || made[index(value)]; };
  for (std::size_t before = ~std::size_t{0}; before != order_.size();) {
    before = order_.size();
    for (const ValueOperation& operation : algebra_.operations) {
      const auto& [a, b, c] = operation.operands;
      if (is_made(operation.result) || !is_made(a) || !is_made(b) || !is_made(c)) continue;
      made[index(operation.result)] = true;
      order_.push_back(operation.result);
    }
  }
  for (const int output : algebra_.outputs) is_possible_ = is_possible_ && is_made(output);
  for (std::size_t i = 0; i < algebra_.operations.size(); ++i) {
    const ValueOperation& operation = algebra_.operations[i];
    const auto& [a, b, c] = operation.operands;
    const std::int64_t cost = checked_cost(machine_.costs, operation.mnemonic);
    if (!is_made(a) || !is_made(b) || !is_made(c)) continue;
    operations_.push_back({static_cast<int>(i), operation.operands, operation.result, cost});
  }
}

void ValueProblem::find_ways(std::size_t output) {
  ValueSet leads, wanted;
  wanted.add(algebra_.outputs[output]);
  for (bool changes = true; changes;) {
    changes = false;
    for (const Operation& operation : operations_) {
      if (!wanted.has(operation.result)) continue;
      for (const int operand : operation.operands) {
        if (operand == kNoValue || leads.has(operand)) continue;
        leads.add(operand);
        wanted.add(operand);
        changes = true;
      }
    }
  }
  leads_to_.push_back(leads);
}

void ValueProblem::keep_useful() {
  const ValueSet all = useful(0);
  std::erase_if(operations_, [&](const Operation& o) { return !all.has(o.result); });
  std::erase_if(order_, [&](int value) { return !all.has(value); });
  cheapest_.assign(makers_.size(), 0);
  std::vector<bool> is_known(makers_.size(), false);
  const auto costs = [&](int value, std::int64_t cost) {
    std::int64_t& least = cheapest_[index(value)];
    least = is_known[index(value)] ? std::min(least, cost) : cost;
    is_known[index(value)] = true;
  };
  for (const int input : algebra_.inputs) costs(input, load_);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& operation = operations_[i];
    costs(operation.result, operation.cost);
    makers_[index(operation.result)].push_back(static_cast<int>(i));
    const int last = *std::max_element(operation.operands.begin(), operation.operands.end());
    (last == kNoValue ? from_nothing_ : by_last_operand_[index(last)])
        .push_back(static_cast<int>(i));
  }
}

ValueSet ValueProblem::useful(std::uint32_t stored) const {
  ValueSet result;
  for (std::size_t output = 0; output < leads_to_.size(); ++output) {
    if ((stored >> output & 1) != 0) continue;
    result |= leads_to_[output];
    result.add(algebra_.outputs[output]);
  }
  return result;
}

}  // namespace flashlab::optimal::detail
